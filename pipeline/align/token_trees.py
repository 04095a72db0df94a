"""Texts with alternatives → trees: ``{ a / b c / @ }`` in transcripts, rows ``<ALT_BEGIN> … <ALT_END>`` in outputs."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.align.token_graph import Tree
from pipeline.align.token_rules import NULL, Alternatives, Lexer, Token
from pipeline.formats.ctm import ALT, ALT_BEGIN, ALT_END

Words = list["str | list[Words]"]
"""Words in order; a list stands for alternatives, each words of its own."""


class AlternationError(ValueError):
    """A transcript whose braces cannot be read."""


def words_of_text(text: str) -> tuple[Words, bool]:
    """The words of a transcript, and whether all of its braces are balanced.

    A word that starts with ``{`` runs to its balancing ``}``; unbalanced, it and the rest of the text are left out,
    as sclite does. Raises ``AlternationError`` for a brace inside a word and for braces without any word.
    """
    words: Words = []
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
        elif text[at] == "{":
            end = _closing(text, at)
            if end < 0:
                return words, False
            branches = [words_of_text(part) for part in _branches(text[at + 1 : end])]
            filled = [branch for branch, _ in branches if branch]
            if not filled:
                raise AlternationError(f"{text[at : end + 1]!r} has no alternative")
            if not all(balanced for _, balanced in branches):
                return words, False
            words.append(filled)
            at = end + 1
        else:
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
            word = text[at:end]
            if "{" in word:
                raise AlternationError(f"the word {word!r} has a brace inside")
            words.append(word)
            at = end
    return words, True


def _closing(text: str, at: int) -> int:
    """Where the brace at ``at`` is closed, -1 if nowhere."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place
    return -1


def _branches(text: str) -> list[str]:
    """The text between braces cut at every ``/`` that is not inside further braces, even within words."""
    parts, depth, start = list[str](), 0, 0
    for place, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "/" and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def tree_of_words(words: Words, lexer: Lexer) -> Tree:
    """A reference's words as tokens, the first pronunciation of each."""
    tree: Tree = []
    for word in words:
        if isinstance(word, list):
            tree.append([tree_of_words(branch, lexer) for branch in word])
        else:
            tree += [(token, -1) for token in lexer.alternatives(word, first_only=True)[0]]
    return tree


def tree_of_rows(words: Sequence[str], places: Sequence[int], strings: Sequence[Alternatives]) -> Tree:
    """An output's rows as tokens, each with its place. An alternative without words is a null word.

    ``strings`` holds what each row may stand for. A mark without its counterpart is left out.
    """
    open_trees: list[tuple[Tree, list[Tree]]] = []
    tree: Tree = []
    for word, place, spoken in zip(words, places, strings, strict=True):
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
            tree += _spoken(place, spoken)
    while open_trees:
        outer, branches = open_trees.pop()
        outer.append([*branches, tree or _null()])
        tree = outer
    return tree


def _spoken(place: int, strings: Alternatives) -> Tree:
    branches: list[Tree] = [[(token, place) for token in string] for string in strings]
    if len(branches) == 1:
        return branches[0]
    return [[branch or _null() for branch in branches]]


def _null() -> Tree:
    return [(Token(NULL, NULL), -1)]
