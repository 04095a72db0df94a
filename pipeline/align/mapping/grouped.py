"""Binary search inside groups: one call for many sorted stretches of one array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints


def positions_within(values: Floats, first: Ints, last: Ints, at: Floats, *, after_equal: bool) -> Ints:
    """Where ``at[i]`` belongs in the ascending stretch ``values[first[i]:last[i]]``, as an index of ``values``.

    Like ``np.searchsorted`` with ``side="right"`` (``after_equal``) or ``side="left"``, but every search has a stretch
    of its own; comparisons are made on the values as they are. An empty stretch and a NaN in ``at`` give ``first[i]``.
    """
    low, high = first.copy(), last.copy()
    while (searching := low < high).any():
        middle = (low + high) >> 1
        probe = values[np.minimum(middle, values.size - 1)]
        below = probe <= at if after_equal else probe < at
        low = np.where(searching & below, middle + 1, low)
        high = np.where(searching & ~below, middle, high)
    return low


def run_starts(*keys: NDArray[np.generic]) -> Ints:
    """Where each run of equal keys begins, for columns that are sorted by ``keys``."""
    if keys[0].size == 0:
        return np.zeros(0, np.int64)
    change = np.zeros(keys[0].size - 1, np.bool_)
    for key in keys:
        change |= key[1:] != key[:-1]
    return np.concatenate((np.zeros(1, np.int64), np.flatnonzero(change) + 1))


def expand(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """All (i, position) with ``first[i] <= position < last[i]``, sorted by both."""
    lengths = last - first
    owner = np.repeat(np.arange(first.size), lengths)
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return owner, np.arange(before[-1]) + (first - before[:-1])[owner]


def overlapping(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Stretches in the order of ``first``, and where in it each set begins that shares no position with the others.

    At least one stretch, none of them empty.
    """
    order = np.argsort(first, kind="stable")
    ends = np.maximum.accumulate(last[order])
    apart = first[order][1:] >= ends[:-1]
    return order, np.concatenate((np.zeros(1, np.int64), np.flatnonzero(apart) + 1))
