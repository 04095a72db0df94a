"""Whether an affine recalibration has a minimum at all, decided before any is searched.

A direction (s, b), s = +1 or -1, loses nothing as the scale grows iff ``b_i - b_y <= min over T_y of s (l_y - l_i)``
for all ordered pairs of classes: difference constraints, feasible iff their graph has no negative cycle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.multiclass import Floats

OVERLAP, COMPLETE, QUASI, DEGENERATE = "overlap", "complete", "quasi", "degenerate"
_ROUNDING = 8 * 2.0**-52


@dataclass(frozen=True)
class Separability:
    """``status``; the ``sign`` of the scale that separates (0: none or both); the ``margin`` and which pairs are tied.

    ``margin`` (K, K): least ``sign * (l_y - l_i)`` over the trials of y. ``tied`` (K, K): pairs (y, i) whose margin no
    direction can make positive; only set for ``quasi``.
    """

    status: str
    sign: int
    margin: Floats
    tied: NDArray[np.bool_]
    tolerance: float


def separability(margin_min: Floats, margin_max: Floats) -> Separability:
    """The verdict from the margins of all classes, (K, K) each, as ``LogCostSums`` has them.

    ``overlap``: the minimum is attained, once. ``complete``: 0 is approached as the scale grows. ``quasi``: something
    above 0 is. ``degenerate``: every score is the same up to constants of row and class, the scale is undetermined.
    """
    k = margin_min.shape[0]
    off = ~np.eye(k, dtype=bool)
    largest = float(np.abs(np.concatenate([margin_min[off], margin_max[off]])).max(initial=0.0))
    tolerance = _ROUNDING * k * largest
    none = np.zeros((k, k), bool)
    slacks = {sign: _slack(margin, tolerance) for sign, margin in ((1, margin_min), (-1, -margin_max))}
    feasible = [sign for sign, slack in slacks.items() if slack is not None]
    if not feasible:
        return Separability(OVERLAP, 0, margin_min, none, tolerance)
    if len(feasible) == 2:
        return Separability(DEGENERATE, 0, margin_min, none, tolerance)
    sign = feasible[0]
    slack = slacks[sign]
    tied = none if slack is None else off & (slack <= tolerance)
    margin = margin_min if sign > 0 else -margin_max
    return Separability(QUASI if tied.any() else COMPLETE, sign, margin, tied, tolerance)


def _slack(margin: Floats, tolerance: float) -> Floats | None:
    """How far each constraint can be from tight in some feasible direction; None where there is no direction."""
    k = margin.shape[0]
    distance = margin.copy()
    np.fill_diagonal(distance, 0.0)
    for via in range(k):
        distance = np.minimum(distance, distance[:, via][:, None] + distance[via][None, :])
    if float(distance.diagonal().min()) < -tolerance:
        return None
    slack: Floats = margin + distance.T
    np.fill_diagonal(slack, math.inf)
    return slack
