"""The tally of trials whose scores have few decimals, compiled by Numba: the same rows in half the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, float64, int32, int64, njit, uint8, uint32, uint64
from numpy.typing import NDArray

from pipeline.compiled import by_sources
from pipeline.partials.packed import WORD_BITS, Decimals
from pipeline.partials.scores import HIGHEST

_FLAG_BITS = uint64(2)
_WORDS = uint32, uint64
_MOST = 255
"""What a narrow count holds."""


def tallied(
    group: NDArray[Any], score: NDArray[np.float64], flags: NDArray[np.uint8], n_groups: int
) -> tuple[Any, Any, int, Any] | None:
    """``first``, scores as whole numbers, their decimals, and narrow counts of ``rows.tally``.

    None where the trials do not fit its short cuts.
    """
    places = Decimals.places_of(score)
    if places is None or not score.size:
        return None
    scale = 10.0**places
    low, high = np.rint(float(score.min()) * scale), np.rint(float(score.max()) * scale)
    if max(abs(low), abs(high)) > HIGHEST:
        return None
    bits = int(high - low).bit_length()
    n_bits = n_groups.bit_length() + bits + 2
    if n_bits > WORD_BITS:
        return None
    words = np.empty(score.size, np.uint32 if n_bits <= 32 else np.uint64)
    codes, flags = np.ascontiguousarray(group, np.int32), np.ascontiguousarray(flags)
    if not _pack(codes, np.ascontiguousarray(score), scale, int(low), uint64(bits), flags, words):
        return None
    words.sort()
    n_rows = _distinct(words)
    first, whole, counts = np.zeros(n_groups + 1, np.int64), np.empty(n_rows, np.int32), np.zeros((4, n_rows), np.uint8)
    if not _collapse(words, int(low), uint64(bits), first, whole, counts):
        return None
    return first, whole, places, counts


@njit([boolean(int32[::1], float64[::1], float64, int64, uint64, uint8[::1], kind[::1]) for kind in _WORDS], cache=True)
@by_sources
def _pack(group, score, scale, low, bits, flags, words):
    """Rows as words that sort by (group, score); False where a score has more decimals."""
    exact = True
    for row in range(score.size):
        scaled = np.rint(score[row] * scale)
        exact &= scaled / scale == score[row]
        word = (uint64(group[row]) << bits) | uint64(int64(scaled) - low)
        words[row] = (word << _FLAG_BITS) | uint64(flags[row])
    return exact


@njit([int64(kind[::1]) for kind in _WORDS], cache=True)
@by_sources
def _distinct(words):
    """How many (group, score) there are among words that ascend."""
    found = 1
    for row in range(1, words.size):
        found += (uint64(words[row]) >> _FLAG_BITS) != (uint64(words[row - 1]) >> _FLAG_BITS)
    return found


@njit([boolean(kind[::1], int64, uint64, int64[::1], int32[::1], uint8[:, ::1]) for kind in _WORDS], cache=True)
@by_sources
def _collapse(words, low, bits, first, whole, counts):
    """One row per distinct (group, score); False where a count is too large."""
    mask, n_rows, highest = (uint64(1) << bits) - uint64(1), 0, 0
    one_count = np.zeros(4, np.int64)
    last = ~uint64(0)
    for at in range(words.size):
        word = uint64(words[at])
        row = word >> _FLAG_BITS
        if row != last:
            n_rows += 1
            last = row
            whole[n_rows - 1] = int64(row & mask) + low
            first[(row >> bits) + uint64(1)] += 1
            one_count[:] = 0
        target, yes = (word >> uint64(1)) & uint64(1), word & uint64(1)
        which = uint64(1) - target
        one_count[which] += 1
        highest = max(highest, one_count[which])
        counts[which, n_rows - 1] += uint8(1)
        counts[which + uint64(2), n_rows - 1] += uint8(yes)
    for group in range(1, first.size):
        first[group] += first[group - 1]
    return highest <= _MOST
