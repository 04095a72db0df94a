"""The tally of trials whose scores have few decimals, compiled by Numba: the same rows in half the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import boolean, float64, int32, int64, njit, uint8, uint64
from numpy.typing import NDArray

from pipeline.partials.packed import WORD_BITS, Decimals

_FLAG_BITS = uint64(2)
_MOST = 255
"""What a narrow count holds."""


def tallied(
    group: NDArray[Any], score: NDArray[np.float64], flags: NDArray[np.uint8], n_groups: int
) -> tuple[Any, Any, Any] | None:
    """``first``, scores and narrow counts of ``rows.tally``; None where the trials do not fit its short cuts."""
    places = Decimals.places_of(score)
    if places is None or not score.size:
        return None
    scale = 10.0**places
    low, high = np.rint(score.min() * scale), np.rint(score.max() * scale)
    if not abs(low) + abs(high) < 2.0**53:
        return None
    bits = int(high - low).bit_length()
    if n_groups.bit_length() + bits + 2 > WORD_BITS:
        return None
    words = np.empty(score.size, np.uint64)
    codes, flags = np.ascontiguousarray(group, np.int32), np.ascontiguousarray(flags)
    if not _pack(codes, np.ascontiguousarray(score), scale, int(low), uint64(bits), flags, words):
        return None
    words.sort()
    n_rows = _distinct(words)
    first, found, counts = np.zeros(n_groups + 1, np.int64), np.empty(n_rows), np.zeros((4, n_rows), np.uint8)
    return (first, found, counts) if _collapse(words, scale, int(low), uint64(bits), first, found, counts) else None


@njit(boolean(int32[::1], float64[::1], float64, int64, uint64, uint8[::1], uint64[::1]), cache=True)
def _pack(group, score, scale, low, bits, flags, words):
    """Rows as words that sort by (group, score); False where a score has more decimals."""
    exact = True
    for row in range(score.size):
        scaled = np.rint(score[row] * scale)
        exact &= scaled / scale == score[row]
        word = (uint64(group[row]) << bits) | uint64(int64(scaled) - low)
        words[row] = (word << _FLAG_BITS) | uint64(flags[row])
    return exact


@njit(int64(uint64[::1]), cache=True)
def _distinct(words):
    """How many (group, score) there are among words that ascend."""
    found = 1
    for row in range(1, words.size):
        found += (words[row] >> _FLAG_BITS) != (words[row - 1] >> _FLAG_BITS)
    return found


@njit(boolean(uint64[::1], float64, int64, uint64, int64[::1], float64[::1], uint8[:, ::1]), cache=True)
def _collapse(words, scale, low, bits, first, score, counts):
    """One row per distinct (group, score); False where a count is too large."""
    mask, n_rows, highest = (uint64(1) << bits) - uint64(1), 0, 0
    one_count = np.zeros(4, np.int64)
    last = ~uint64(0)
    for word in words:
        row = word >> _FLAG_BITS
        if row != last:
            n_rows += 1
            last = row
            score[n_rows - 1] = (int64(row & mask) + low) / scale
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
