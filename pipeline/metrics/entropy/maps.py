"""Affine maps of scores, written so that rounding spares the scores at which classes meet.

A map ``gamma * score + delta`` loses all digits where both terms are large and nearly cancel. Here it is
``alpha * (score - pivot) / 2**exponent + offset``, with a pivot among the scores that are hard to tell apart and an
exponent that keeps alpha near 1, whatever the range of the scores.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats

Vector = tuple[float, ...]

_FARTHEST = 2.0**900
"""Distances beyond are kept here: such a score costs nothing, or no map near the minimum has it there."""
_HIGHEST = sys.float_info.max
_LARGE = 900
"""Powers of two above are next to the largest float: differences of such scores would overflow."""


@dataclass(frozen=True)
class AffineMap:
    """Log-likelihoods of K classes become ``alpha * (l_i - pivots[i]) / 2**exponent + offsets[i]``.

    Only differences between classes count: pivot and offset of the last class are 0. A log-likelihood ratio is K = 2
    with the target class first.
    """

    exponent: int
    alpha: float
    pivots: Vector
    offsets: Vector

    def moved(self, alpha: float, offsets: Vector, most: int) -> AffineMap:
        """The map with these changes of alpha and of all offsets but the last, at an exponent of ``most`` or less."""
        moved = tuple(old + more for old, more in zip(self.offsets, (*offsets, 0.0), strict=True))
        return replace(self, alpha=self.alpha + alpha, offsets=moved).scaled(most)

    def centred(self, shift: Vector) -> tuple[AffineMap, Vector]:
        """This map with pivots moved by ``shift`` (all but the last), in units of 2**exponent, as far as floats go.

        The second is what of the shift was left.
        """
        pivots, offsets, left = [], [], []
        for pivot, offset, more in zip(self.pivots, self.offsets, shift, strict=False):
            pivots.append(min(max(pivot + ldexp(more, self.exponent), -_HIGHEST), _HIGHEST))
            moved = ldexp(pivots[-1] - pivot, -self.exponent)
            if math.isinf(moved):  # from one end of the floats to the other
                moved = ldexp(pivots[-1] / 2.0 - pivot / 2.0, 1 - self.exponent)
            offsets.append(offset + self.alpha * moved)
            left.append(more - moved)
        return replace(self, pivots=(*pivots, 0.0), offsets=(*offsets, 0.0)), tuple(left)

    def scaled(self, most: int) -> AffineMap:
        """This map with alpha in [1/2, 1) or, where that takes an exponent above ``most``, below."""
        exponent = min(self.exponent - math.frexp(self.alpha)[1], most) if self.alpha else most
        return replace(self, alpha=ldexp(self.alpha, exponent - self.exponent), exponent=exponent)

    @property
    def gamma(self) -> float:
        """The factor of scores; infinite where that is beyond float64."""
        return ldexp(self.alpha, -self.exponent)

    @property
    def deltas(self) -> Vector:
        """The offset of the multiplied scores of each class."""
        pairs = zip(self.offsets, self.pivots, strict=True)
        return tuple(offset - self.alpha * ldexp(pivot, -self.exponent) for offset, pivot in pairs)

    def of_ratios(self, score: Floats) -> Floats:
        """(score - pivot) / 2**exponent of log-likelihood ratios."""
        unit = self._unit
        with np.errstate(over="ignore"):
            return self._scaled(score * unit - self.pivots[0] * unit)

    def of_rows(self, llh: Floats, labels: NDArray[np.integer[Any]]) -> Floats:
        """(score - pivot) / 2**exponent of log-likelihoods (T, K), each less that of the true class, whose own column
        is 0."""
        scores, pivots = llh * self._unit, np.array(self.pivots) * self._unit
        with np.errstate(over="ignore", invalid="ignore"):
            apart, left = _difference(scores, scores[np.arange(labels.size), labels][:, None])
            between, rest = _difference(pivots, pivots[:, None])
            # Digits that the differences have lost count where pivots take most of them away.
            return self._scaled((apart - between[labels]) + (left - rest[labels]))

    @property
    def _unit(self) -> float:
        """Less than 1 where differences of scores, or of pivots, would overflow."""
        return 0.25 if self.exponent > _LARGE or max(map(abs, self.pivots)) > 2.0**_LARGE else 1.0

    def _scaled(self, distance: Floats) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            scaled = np.ldexp(distance, 2 * int(self._unit < 1.0) - self.exponent)
        return np.clip(scaled, -_FARTHEST, _FARTHEST)


def _difference(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """The difference and what rounding left of it."""
    difference = one - other
    back = difference - one
    left = (one - (difference - back)) - (other + back)
    return difference, np.where(np.isfinite(left), left, 0.0)


def ldexp(value: float, exponent: int) -> float:
    """``value * 2**exponent``, infinite where that is beyond float64."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)
