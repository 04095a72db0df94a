"""Which tokens match: equal text, or a fragment and a word that goes on where it breaks off (sclite -F)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

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

    def __init__(self, vocabulary: list[Token]) -> None:
        texts = {token.text: code for code, token in reversed(list(enumerate(vocabulary)))}
        self._text = np.array([texts[token.text] for token in vocabulary] or [0], np.int32)
        self._fragment = np.array([token.fragment for token in vocabulary] or [False], np.bool_)
        broken = [code for code, token in enumerate(vocabulary) if _breaks_off(token.text)]
        self._broken = np.full(max(len(vocabulary), 1), -1, np.int32)
        self._broken[broken] = np.arange(len(broken), dtype=np.int32)
        self._table = _table(vocabulary, broken) if self._fragment.any() else None

    def __call__(self, reference: NDArray[np.int32], output: NDArray[np.int32]) -> Bools:
        """Whether reference tokens match output tokens, elementwise with broadcasting."""
        equal: Bools = self._text[reference] == self._text[output]
        if self._table is None:
            return equal
        fragment = self._fragment[reference] | self._fragment[output]
        ref, out = np.broadcast_arrays(self._broken[reference], self._broken[output])
        reference, output = np.broadcast_arrays(reference, output)
        by_reference = np.nonzero(fragment & (ref >= 0))
        by_output = np.nonzero(fragment & (ref < 0) & (out >= 0))
        equal[by_reference] = self._table[ref[by_reference], output[by_reference]]
        equal[by_output] = self._table[out[by_output], reference[by_output]]
        return equal


def _table(vocabulary: list[Token], broken: list[int]) -> Bools:
    """Whether each text that breaks off goes on as each token, on whichever side it stands: (n_broken, n_tokens)."""
    texts = [token.text for token in vocabulary]
    forward, backward = _Sorted(texts), _Sorted([text[::-1] for text in texts])
    table = np.zeros((len(broken), len(vocabulary)), np.bool_)
    for row, code in enumerate(broken):
        text = texts[code]
        side = backward.with_prefix(text[:0:-1]) if _from_end(text) else forward.with_prefix(text[:-1])
        table[row, side] = True
    return table


class _Sorted:
    def __init__(self, texts: list[str]) -> None:
        self._order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        self._texts = [texts[code] for code in self._order]

    def with_prefix(self, prefix: str) -> Ints:
        """The codes of the texts that begin with ``prefix``."""

        def begin(text: str) -> str:
            return text[: len(prefix)]

        first, last = (bisect(self._texts, prefix, key=begin) for bisect in (bisect_left, bisect_right))
        return self._order[first:last]
