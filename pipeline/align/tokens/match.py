"""Which tokens match: equal text, or a fragment and a word that goes on where it breaks off (sclite -F)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.align.tokens.rules import Token
from pipeline.arrays import Bools, Ints


def matches(reference: Token, output: Token) -> bool:
    """Whether two tokens count as the same. Where either is a fragment, the first side that breaks off decides."""
    if reference.fragment or output.fragment:
        for one, other in ((reference.text, output.text), (output.text, reference.text)):
            if _from_end(one):
                return other.endswith(one[1:])
            if _breaks_off(one):
                return other.startswith(one[:-1])
    return reference.text == output.text


def _breaks_off(text: str) -> bool:
    """Whether a text longer than ``-`` begins or ends with it; in brackets (-x) it does without being a fragment."""
    return len(text) > 1 and (text.startswith("-") or text.endswith("-"))


def _from_end(text: str) -> bool:
    return len(text) > 1 and text.startswith("-")


class Matcher:
    """Matches between the tokens of a vocabulary, for whole arrays of their codes."""

    def __init__(self, vocabulary: Sequence[Token]) -> None:
        texts: dict[str, int] = {}
        self._text = np.array([texts.setdefault(token.text, len(texts)) for token in vocabulary] or [0], np.int32)
        self._fragment = np.array([token.fragment for token in vocabulary] or [False], np.bool_)
        self._goes_on = _GoesOn([token.text for token in vocabulary]) if self._fragment.any() else None

    def __call__(self, reference: NDArray[np.int32], output: NDArray[np.int32]) -> Bools:
        """Whether reference tokens match output tokens, elementwise with broadcasting."""
        equal: Bools = self._text[reference] == self._text[output]
        if self._goes_on is None:
            return equal
        at = np.nonzero(self._fragment[reference] | self._fragment[output])
        ref, out = (side[at] for side in np.broadcast_arrays(reference, output))
        broken = self._goes_on.broken
        equal[at] = np.where(
            broken[ref], self._goes_on(ref, out), np.where(broken[out], self._goes_on(out, ref), equal[at])
        )
        return equal


class _GoesOn:
    """Whether texts that break off go on as others: each stands for a range of all texts in order of their letters."""

    def __init__(self, texts: list[str]) -> None:
        self.broken = np.array([_breaks_off(text) for text in texts], np.bool_)
        self._from_end = np.array([_from_end(text) for text in texts], np.int8)
        sides = _Sorted(texts), _Sorted([text[::-1] for text in texts])
        self._rank = np.stack([side.rank for side in sides])
        self._range = np.zeros((len(texts), 2), np.int64)
        for code in np.flatnonzero(self.broken).tolist():
            text = texts[code]
            self._range[code] = (
                sides[1].with_prefix(text[:0:-1]) if _from_end(text) else sides[0].with_prefix(text[:-1])
            )

    def __call__(self, broken: NDArray[np.int32], other: NDArray[np.int32]) -> Bools:
        """Elementwise, for texts of which the first one breaks off."""
        rank = self._rank[self._from_end[broken], other]
        first, last = self._range[broken].T
        return np.asarray((first <= rank) & (rank < last))


class _Sorted:
    def __init__(self, texts: list[str]) -> None:
        order = sorted(range(len(texts)), key=texts.__getitem__)
        self._texts = [texts[code] for code in order]
        self.rank: Ints = np.empty(len(texts), np.int64)
        self.rank[order] = np.arange(len(texts))

    def with_prefix(self, prefix: str) -> tuple[int, int]:
        """The ranks from and up to which texts begin with ``prefix``."""

        def begin(text: str) -> str:
            return text[: len(prefix)]

        first, last = (bisect(self._texts, prefix, key=begin) for bisect in (bisect_left, bisect_right))
        return first, last
