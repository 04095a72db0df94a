"""A convex objective at one affine map of scores, and Newton's step from there.

What K offsets do to each other is a graph of classes: its weights are sums of products of posteriors. Everything is
computed from those weights and from flows along them, never from differences of sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from pipeline.metrics.entropy.maps import AffineMap, Vector

Matrix = tuple[Vector, ...]

_LONGEST = 16.0
"""How far offsets move at first."""
_LOOSE = 2.0**-900
"""Couplings below are none: what is divided by them is beyond float64."""


@dataclass(frozen=True)
class Objective:
    """Value, slope and curvature at one map; parameters are alpha and all offsets but the last.

    ``slope`` and ``square``: first and second derivative by alpha. What offsets do is told by pairs of classes, (K, K):
    ``pulls`` and ``mixed``, antisymmetric, add up along rows to the derivatives by offsets, and to those of the slope;
    ``coupling``, symmetric and never negative, makes the Hessian by offsets as the Laplacian of a graph whose last
    class is held. So nothing cancels where classes hang together in groups, and groups hardly at all.
    """

    value: float
    slope: float
    square: float
    pulls: Matrix
    coupling: Matrix
    mixed: Matrix

    @cached_property
    def shift(self) -> Vector:
        """How far offsets follow alpha: where pivots are moved so far, they do not."""
        return solve(self.coupling, self.mixed)

    @property
    def remaining(self) -> float:
        """The curvature by alpha that is left where offsets follow."""
        return self.square - paired(self.mixed, self.shift)

    @property
    def profile(self) -> float:
        """The slope by alpha where offsets follow."""
        return self.slope - paired(self.pulls, self.shift)

    def along(self, alpha: float, offsets: Vector) -> float:
        """The slope along a direction."""
        return self.slope * alpha + paired(self.pulls, offsets)


@dataclass(frozen=True)
class Step:
    """Newton's step from the map centred by ``shift``; ``curvature`` by alpha is what offsets cannot make good."""

    shift: Vector
    alpha: float
    offsets: Vector
    curvature: float
    decrement: float

    def centred(self, at: AffineMap) -> tuple[AffineMap, Vector]:
        """The map from which the step goes, and its offsets there."""
        base, left = at.centred(self.shift)
        return base, tuple(offset - more * self.alpha for offset, more in zip(self.offsets, left, strict=True))


def newton_step(seen: Objective, offsets_only: bool = False) -> Step | None:
    """Newton's step, of alpha and offsets or of offsets alone; None where float64 has none."""
    offsets = tuple(-more for more in solve(seen.coupling, seen.pulls, loose=float(offsets_only)))
    # Nobody knows what offsets do that far from where they are.
    shorter = _LONGEST / max(_LONGEST, *map(abs, offsets))
    offsets = tuple(shorter * offset for offset in offsets)
    alpha, curvature = 0.0, seen.remaining
    if not offsets_only:
        if not 0.0 < curvature < math.inf:
            return None
        alpha = -seen.profile / curvature
    decrement = -paired(seen.pulls, offsets) - seen.profile * alpha
    if not all(map(math.isfinite, (alpha, *offsets, decrement, *seen.shift))):
        return None
    return Step(seen.shift, alpha, offsets, curvature, decrement)


def paired(flows: Matrix, offsets: Vector) -> float:
    """The sum of offsets times the rows of an antisymmetric matrix, the offset of the last class being 0."""
    places = (*offsets, 0.0)
    return sum(flows[i][j] * (places[i] - places[j]) for i, j in combinations(range(len(places)), 2))


def solve(coupling: Matrix, flows: Matrix, loose: float = 0.0) -> Vector:
    """The solution for the Laplacian of a graph whose last class is held at 0, from couplings and right sides, (K, K).

    A right side is the row of an antisymmetric matrix, added up. Plain elimination in a fixed order, in which no digit
    cancels, however weakly classes hang together; no library decides the last bits. A class that hangs on none of
    those after it moves by ``loose`` in the direction of its right side.
    """
    rows, pulls, size = [list(row) for row in coupling], [list(row) for row in flows], len(coupling)
    apart = [0.0] * size
    for one in range(size - 1):
        total, later = sum(rows[one][one + 1 :]), range(one + 1, size)
        for i in later:
            if total > _LOOSE:
                share = rows[one][i] / total
                for j in later:
                    rows[i][j] += share * rows[one][j]
                    pulls[i][j] += share * pulls[one][j] - rows[one][j] / total * pulls[one][i]
            else:
                apart[i] += pulls[i][one]
    solution = [0.0] * size
    for one in range(size - 2, -1, -1):
        later = range(one + 1, size)
        total, known = sum(rows[one][one + 1 :]), sum(pulls[one][one + 1 :]) + apart[one]
        if total > _LOOSE:
            solution[one] = (known + sum(rows[one][i] * solution[i] for i in later)) / total
        elif known:
            solution[one] = math.copysign(loose, known)
    return tuple(solution[:-1])
