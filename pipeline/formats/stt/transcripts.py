"""Words of a transcript as they stand: alternatives in braces, tags, escapes and stars (SCTK net_adt.c, word.c)."""

from __future__ import annotations

import re

Words = list["str | list[Words]"]
"""Words in order; a list stands for alternatives, each words of its own."""

_TAG = re.compile(r"(?<!\\);")


class AlternationError(ValueError):
    """A transcript whose braces cannot be read."""


def spelled(word: str) -> str:
    """A word up to its tags, without backslashes and without one ``*`` at the end.

    The first ``;`` that no backslash stands before begins the tags. What is left may be empty: it is a word all the
    same. A word that begins with ``{``, as outputs may have one, keeps its tags and backslashes.
    """
    if (";" in word or "\\" in word) and not word.startswith("{"):
        word = _TAG.split(word, maxsplit=1)[0].replace("\\", "")
    return starless(word)


def starless(word: str) -> str:
    """A word longer than ``*`` without one ``*`` at the end."""
    return word[:-1] if len(word) > 1 and word.endswith("*") else word


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
            if "{" in spelled(word):
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
