"""Which tokens match: equal text, or a fragment and a word that goes on where it breaks off (sclite -F)."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from pipeline.align.token_rules import Token
from pipeline.trials.schema import Bools, Ints

_HIGHEST = "\U0010ffff"


def matches(reference: Token, output: Token) -> bool:
    """Whether two tokens count as the same. The first rule that applies to a fragment decides."""
    ref, out = reference.text, output.text
    if reference.fragment or output.fragment:
        if reference.fragment and ref.startswith("-") and len(ref) > 1:
            return out.endswith(ref[1:])
        if reference.fragment and ref.endswith("-"):
            return out.startswith(ref[:-1])
        if output.fragment and out.startswith("-") and len(out) > 1:
            return ref.endswith(out[1:])
        if output.fragment and out.endswith("-"):
            return ref.startswith(out[:-1])
    return ref == out


class Matcher:
    """Matches between the tokens of a vocabulary, for whole arrays of their codes."""

    def __init__(self, vocabulary: list[Token]) -> None:
        texts = {token.text: code for code, token in reversed(list(enumerate(vocabulary)))}
        self._text = np.array([texts[token.text] for token in vocabulary] or [0], np.int32)
        fragments = [code for code, token in enumerate(vocabulary) if token.fragment]
        self._fragment = np.full(max(len(vocabulary), 1), -1, np.int32)
        self._fragment[fragments] = np.arange(len(fragments), dtype=np.int32)
        self._table = _table(vocabulary, fragments) if fragments else None

    def __call__(self, reference: NDArray[np.int32], output: NDArray[np.int32]) -> Bools:
        """Whether reference tokens match output tokens, elementwise with broadcasting."""
        equal: Bools = self._text[reference] == self._text[output]
        if self._table is None:
            return equal
        ref, out = np.broadcast_arrays(self._fragment[reference], self._fragment[output])
        reference, output = np.broadcast_arrays(reference, output)
        by_reference = np.nonzero(ref >= 0)
        by_output = np.nonzero((ref < 0) & (out >= 0))
        equal[by_reference] = self._table[ref[by_reference], output[by_reference]]
        equal[by_output] = self._table[out[by_output], reference[by_output]]
        return equal


def _table(vocabulary: list[Token], fragments: list[int]) -> Bools:
    """Whether each fragment matches each token, on whichever side the fragment stands: (n_fragments, n_tokens)."""
    texts = [token.text for token in vocabulary]
    forward, backward = _Sorted(texts), _Sorted([text[::-1] for text in texts])
    table = np.zeros((len(fragments), len(vocabulary)), np.bool_)
    for row, code in enumerate(fragments):
        text = vocabulary[code].text
        from_end = text.startswith("-") and len(text) > 1
        side = backward.with_prefix(text[:0:-1]) if from_end else forward.with_prefix(text[:-1])
        table[row, side] = True
    return table


class _Sorted:
    def __init__(self, texts: list[str]) -> None:
        self._order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
        self._texts = [texts[code] for code in self._order]

    def with_prefix(self, prefix: str) -> Ints:
        """The codes of the texts that begin with ``prefix``."""
        return self._order[bisect_left(self._texts, prefix) : bisect_left(self._texts, prefix + _HIGHEST)]
