"""Texts with alternatives → trees: ``{ a / b c / @ }`` in transcripts, rows ``<ALT_BEGIN> … <ALT_END>`` in outputs."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.align.tokens.graph import Spoken, Tree
from pipeline.align.tokens.rules import NULL, Lexer, Token
from pipeline.formats.stt.ctm import ALT, ALT_BEGIN, ALT_END
from pipeline.formats.stt.transcripts import Words


def tree_of_words(words: Words, lexer: Lexer) -> Tree:
    """A reference's words as tokens, the first pronunciation of each. An alternative without any is a null word."""
    tree: Tree = []
    for word in words:
        if isinstance(word, list):
            tree.append([tree_of_words(branch, lexer) or _null() for branch in word])
        else:
            tree += _spoken(word, -1, lexer, of_reference=True)
    return tree


def tree_of_rows(words: Sequence[str], places: Sequence[int], lexer: Lexer) -> Tree:
    """An output's rows as tokens, each with its place. An alternative without words is a null word.

    A mark without its counterpart is left out.
    """
    open_trees: list[tuple[Tree, list[Tree]]] = []
    tree: Tree = []
    for word, place in zip(words, places, strict=True):
        if word == ALT_BEGIN:
            open_trees.append((tree, []))
            tree = []
        elif word == ALT and open_trees:
            open_trees[-1][1].append(tree or _null())
            tree = []
        elif word == ALT_END and open_trees:
            outer, branches = open_trees.pop()
            branches.append(tree or _null())
            outer.append(branches)
            tree = outer
        elif word not in (ALT, ALT_END):
            tree += _spoken(word, place, lexer, of_reference=False)
    while open_trees:
        outer, branches = open_trees.pop()
        outer.append([*branches, tree or _null()])
        tree = outer
    return tree


def _spoken(word: str, place: int, lexer: Lexer, *, of_reference: bool) -> Tree:
    strings, cut = lexer.alternatives(word, of_reference=of_reference), lexer.is_cut(word)
    branches: list[Tree] = [[Spoken(string, place, cut)] if string else [] for string in strings]
    if len(branches) == 1:
        return branches[0]
    return [[branch or _null() for branch in branches]]


def _null() -> Tree:
    return [Spoken((Token(NULL, NULL, null=True),))]
