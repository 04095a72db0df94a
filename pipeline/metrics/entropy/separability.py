"""Whether an affine recalibration has a minimum at all, decided before any is searched.

A direction (s, b), s = +1 or -1, loses nothing as the scale grows iff ``b_i - b_y <= min over T_y of s (l_y - l_i)``
for all ordered pairs of classes: difference constraints, feasible iff their graph has no negative cycle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats

OVERLAP, COMPLETE, QUASI, DEGENERATE = "overlap", "complete", "quasi", "degenerate"
_ROUNDING = 8 * 2.0**-52
_SHRUNK = 2.0**-512


@dataclass(frozen=True)
class Separability:
    """``status``; the ``sign`` of the scale that separates (0: none or both); the ``margin`` and which pairs are tied.

    ``margin`` (K, K): least ``sign * (l_y - l_i)`` over the trials of y. ``tied`` (K, K): pairs (y, i) whose margin no
    direction can make positive; only set for ``quasi``. ``tolerance`` (K, K): how far from the margin rounding may have
    put a tied trial.
    """

    status: str
    sign: int
    margin: Floats
    tied: NDArray[np.bool_]
    tolerance: Floats


def separability(margin_min: Floats, margin_max: Floats) -> Separability:
    """The verdict from the margins of all classes, (K, K) each, as ``LogCostSums`` has them.

    ``overlap``: the minimum is attained, once. ``complete``: 0 is approached as the scale grows. ``quasi``: something
    above 0 is. ``degenerate``: every score is the same up to constants of row and class, the scale is undetermined.
    """
    k = margin_min.shape[0]
    none, nothing = np.zeros((k, k), bool), np.zeros((k, k))
    slacks = {sign: _slack(margin) for sign, margin in ((1, margin_min), (-1, -margin_max))}
    feasible = [sign for sign, slack in slacks.items() if slack is not None]
    if not feasible:
        return Separability(OVERLAP, 0, margin_min, none, nothing)
    if len(feasible) == 2:
        return Separability(DEGENERATE, 0, margin_min, none, nothing)
    [sign] = feasible
    slack, tolerance = slacks[sign] or (nothing, nothing)
    tied = ~np.eye(k, dtype=bool) & (slack <= tolerance)
    margin = margin_min if sign > 0 else -margin_max
    return Separability(QUASI if tied.any() else COMPLETE, sign, margin, tied, tolerance)


def _slack(margin: Floats) -> tuple[Floats, Floats] | None:
    """How far each constraint can be from tight in some feasible direction, and what of it may be rounding.

    None where there is no direction. Rounding is that of the margins that were added up, not of the largest one: what
    an outlier scores says nothing of ties elsewhere.
    """
    k = margin.shape[0]
    unit = _SHRUNK if float(np.abs(margin).max()) > 1.0 / _SHRUNK else 1.0  # sums of all of them do not overflow
    distance = margin * unit
    np.fill_diagonal(distance, 0.0)
    size = np.abs(distance)
    for via in range(k):
        around = distance[:, via][:, None] + distance[via][None, :]
        size = np.where(around < distance, size[:, via][:, None] + size[via][None, :], size)
        distance = np.minimum(distance, around)
    if bool((distance.diagonal() < -_ROUNDING * size.diagonal()).any()):
        return None
    slack: Floats = margin * unit + distance.T
    np.fill_diagonal(slack, math.inf)
    with np.errstate(over="ignore"):
        return slack / unit, _ROUNDING * (np.abs(margin * unit) + size.T) / unit
