"""The points of a sweep, compiled by Numba: the same numbers in one pass instead of twenty."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pipeline.metrics.fixed_point import HALF, FixedPoint

_MASK = (1 << HALF) - 1


class Side(NamedTuple):
    """What makes words into a mean rate."""

    high_bits: float
    """As factors that are powers of two, like ``low_bits``."""
    low_bits: float
    n_queries: int

    @classmethod
    def of(cls, weights: FixedPoint, n_queries: int) -> Side:
        """The scale of weights."""
        return cls(2.0**-weights.high_bits, 2.0**-weights.low_bits, n_queries)


@njit(cache=True, inline="always")
def _rate(high, low, side):
    upper = np.float64(high >> HALF) * np.float64(1 << HALF)
    lower = np.float64(high & _MASK) + np.float64(low) * side.low_bits
    return ((upper + lower) * side.high_bits) / side.n_queries


@njit(cache=True, error_model="numpy")
def fill(fa, hit, miss, always, sides, beta, found):
    """P_miss, P_fa and TWV of every point, into the rows of ``found``.

    ``fa``: words of the false alarms at each score. ``hit`` and ``miss``: places of targets among scores, ascending,
    with words of each; ``always``: words of the targets that every threshold misses. ``sides``: of misses and of false
    alarms.
    """
    n_ends, n_scores = found.shape[1], fa[0].size
    high, low, at = always[0], always[1], 0
    rate = _rate(high, low, sides[0])
    for end in range(n_ends):
        if at < hit.size and hit[at] < end:
            while at < hit.size and hit[at] < end:
                high += miss[0][at]
                low += miss[1][at]
                at += 1
            rate = _rate(high, low, sides[0])
        found[0, end] = rate
    high = low = np.int64(0)
    for end in range(n_ends - 1, -1, -1):
        if end < n_scores:
            high += fa[0][end]
            low += fa[1][end]
        rate = _rate(high, low, sides[1])
        found[1, end] = rate
        found[2, end] = 1.0 - (found[0, end] + beta * rate)
