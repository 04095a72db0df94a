"""The least value of a convex objective over affine maps of scores: Newton's method, made to end at the minimum.

Whoever minimises evaluates the objective, in this process or as a pass over tiles, and hands its sums back; a
minimisation is a sequence of such passes. Three things make it end at the minimum whatever the range of the scores.
Maps are centred where classes meet, so that scale and offsets hardly depend on each other. Steps end where the slope
along them has fallen, not where the value has. And a small decrement is only believed where the curvature it was
divided by holds as far as it speaks of: an outlier that still bends, by the square of its distance, a curve on which it
no longer matters makes it tiny far from any minimum. Where it is not believed, scales are gone through one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from pipeline.metrics.entropy.maps import AffineMap, ldexp
from pipeline.metrics.entropy.objective import Objective, Step, newton_step

NOT_SETTLED = "not_settled"
"""Status: the search ended where the conditions of a minimum do not hold."""

MAX_PASSES = 100
QUADRATIC = 1e-10
"""Newton decrement, relative to the objective, below which full steps converge and a line search only sees noise."""
CONVERGED = 1e-22
"""Decrement, relative to the objective, at which the last step moves nothing that float64 can tell."""
_SETTLED = 2.0**-20
"""Largest decrement, per curvature along the scale, at which the scale is known to 2**-10 of itself."""
_LOPSIDED = 2.0**-12
"""Share of the scale's curvature that offsets leave, below which rounding has spoilt it: the map is centred anew."""
_BALANCED = 1e-18
"""Decrement, relative to the objective, at which offsets say on which side the best scale lies."""
_NOISE = 2.0**-44
"""Slope, relative to the objective, below which its sign may be one of rounding."""
_FLAT = 0.5
"""Share of its slope that a step may leave."""
_NOTHING = 2.0**-40
"""Gain, relative to the objective, for which no scale is sought."""
_DIGITS, _MOST_DIGITS = 4, 16
"""Binary digits from one scale to the next."""
_SMALLEST = -1200
"""Exponent of scores below which no two floats differ."""


@dataclass(frozen=True)
class Minimum:
    """Where a minimisation ended: the map, the lowest value that was seen, the decrement at the last one, and passes.

    ``settled``: whether the conditions of a minimum hold; where not, the map is that of the lowest value.
    """

    at: AffineMap
    value: float
    decrement: float
    passes: int
    settled: bool


Evaluate = Callable[[AffineMap], Objective]


def minimise(evaluate: Evaluate, start: AffineMap, enough: float = CONVERGED, flat: AffineMap | None = None) -> Minimum:
    """The minimum of a convex objective, one step beyond a decrement of ``enough`` (relative to the value).

    ``flat`` is the best constant map (``start``, where there is no other), about a middle from which no score lies
    much further than 2**exponent.
    """
    flat = flat or start
    search = _Search(evaluate, flat.exponent)
    found = search.descend(start, enough)
    if found.settled:
        return found
    below, gain = search.along_scales(flat)
    return search.ended(below, gain, True) if gain <= _NOTHING * search.lowest else search.descend(below, enough)


def balance(evaluate: Evaluate, at: AffineMap) -> float:
    """The least value over offsets."""
    search = _Search(evaluate, at.exponent)
    search.balanced(at)
    return search.lowest


class _Search:
    """Evaluations of an objective, counted, and the lowest value."""

    def __init__(self, evaluate: Evaluate, most: int) -> None:
        self._evaluate = evaluate
        self._most = most
        self.lowest = math.inf
        self._best: AffineMap | None = None
        self._passes = 0

    def ended(self, at: AffineMap, decrement: float, settled: bool) -> Minimum:
        return Minimum(at if settled else self._best or at, self.lowest, decrement, self._passes, settled)

    def _see(self, at: AffineMap) -> Objective:
        seen = self._evaluate(at)
        self._passes += 1
        if seen.value < self.lowest:
            self.lowest, self._best = seen.value, at
        return seen

    def descend(self, at: AffineMap, enough: float) -> Minimum:
        """By Newton's method, as far as it goes."""
        at, seen = self._centred(at, self._see(at))
        last = math.inf
        for _ in range(MAX_PASSES):
            step = newton_step(seen)
            if step is None:
                break
            settled = step.decrement <= _SETTLED * step.curvature and seen.value <= self.lowest * (1.0 + QUADRATIC)
            polishing = last <= QUADRATIC * seen.value
            if polishing and step.decrement >= last:
                return self.ended(at, step.decrement, settled)
            last = step.decrement
            if step.decrement <= enough * self.lowest:
                base, offsets = step.centred(at)
                return self.ended(base.moved(step.alpha, offsets, self._most), step.decrement, settled)
            at, seen = self._along(at, step, polishing)
        return self.ended(at, last, False)

    def along_scales(self, flat: AffineMap) -> tuple[AffineMap, float]:
        """A map with the best offsets at a scale of at most twice the best one, going from wide scales to fine ones.

        With it comes a bound of what other scales gain: the slope at this one, times the way to one that is beyond.
        """
        flat, slope, _ = self.balanced(flat)
        sign = -math.copysign(1.0, slope)
        at = flat.moved(sign, (0.0,) * (len(flat.offsets) - 1), self._most)
        below, digits, bound = flat, 0, math.inf
        while at.exponent > _SMALLEST:
            passes = self._passes
            at, new, beyond = self.balanced(at, sign)
            if beyond:
                bound = 1.0
                break
            # Where offsets stay, nothing happens at this scale.
            digits = min(2 * digits, _MOST_DIGITS) if digits and self._passes - passes <= 2 else _DIGITS
            below, slope = at, new
            at = _sharper(at, digits)
        while digits > 1:
            digits //= 2
            at, new, beyond = self.balanced(_sharper(below, digits), sign)
            if not beyond:
                below, slope = at, new
        return below, abs(slope) * bound

    def balanced(self, at: AffineMap, sign: float = 1.0) -> tuple[AffineMap, float, bool]:
        """The map with the best offsets at its scale, the slope by alpha there, and whether the best one is passed."""
        seen, last = self._see(at), math.inf
        for _ in range(MAX_PASSES):
            step = newton_step(seen, offsets_only=True)
            if step is None or step.decrement <= _BALANCED * seen.value or step.decrement >= last:
                break
            last = step.decrement if step.decrement <= QUADRATIC * seen.value else math.inf
            at, seen = self._along(at, step, last < math.inf)
        return at.centred(seen.shift)[0], seen.profile, sign * seen.profile > _NOISE * seen.value

    def _centred(self, at: AffineMap, seen: Objective) -> tuple[AffineMap, Objective]:
        """The map with pivots that rounding does not spoil."""
        for _ in range(3):
            if seen.remaining > _LOPSIDED * seen.square:
                break
            at, _ = at.centred(seen.shift)
            seen = self._see(at)
        return at, seen

    def _along(self, at: AffineMap, step: Step, polishing: bool = False) -> tuple[AffineMap, Objective]:
        """Where the slope along a step has fallen, before or beyond its end."""
        (base, offsets), size, factor = step.centred(at), 1.0, 4.0
        short, long = 0.0, math.inf
        while True:
            at = base.moved(size * step.alpha, tuple(size * more for more in offsets), self._most)
            seen = self._see(at)
            slope = seen.along(ldexp(step.alpha, at.exponent - base.exponent), offsets)
            if polishing or abs(slope) <= _FLAT * step.decrement:
                return at, seen
            short, long = (size, long) if slope < 0.0 else (short, size)
            if math.isinf(long):
                size, factor = size * factor, min(factor * factor, 2.0**64)
            else:
                size = _between(short, long)
            if not 2.0**-60 < size < 2.0**900 or long - short < 2.0**-40 * long:
                return at, seen


def _between(short: float, long: float) -> float:
    if long > 4.0 * short:
        return math.sqrt(short * long) if short else long / 4.0
    return (short + long) / 2.0


def _sharper(at: AffineMap, digits: int) -> AffineMap:
    """The map with so many binary digits more of scale, with the same values at its pivots."""
    return replace(at, exponent=at.exponent - digits)
