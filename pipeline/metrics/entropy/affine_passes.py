"""Sums over all trials that the affine minimum starts from: exact, mergeable, the same for any cut."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.fixed_point import in_blocks
from pipeline.partials.exact import ExactSum

BINS = 4096
COARSER = 16
"""Bins that a coarser look takes together."""
_EXACT_BITS = 52
_EXACT = 2.0**53

MANY = 4 * BINS
"""Distinct scores beyond which bins are worth a pass."""

Rows = tuple[Floats, Floats, Floats]
"""Strictly ascending scores with the weights of targets and of non-targets."""


class Extreme(NamedTuple):
    """A score with its weights."""

    score: float
    n_target: float
    n_nontarget: float

    def outermost(self, other: Extreme, *, lower: bool) -> Extreme:
        """The lower or the higher of two, with the weights of both where they are equal."""
        if self.score == other.score:
            return Extreme(self.score, self.n_target + other.n_target, self.n_nontarget + other.n_nontarget)
        return self if (self.score < other.score) == lower else other


@dataclass(frozen=True)
class ScoreMoments:
    """Masses, moments and extremes of weighted scores, by class (targets first) where there are two."""

    mass: tuple[ExactSum, ExactSum]
    finite_mass: tuple[ExactSum, ExactSum]
    moment: tuple[Fraction, Fraction]
    """Sums of weight times score over finite scores, in units of ``ExactSum``."""
    lowest: float
    highest: float
    """Of the finite scores; inf and -inf without any."""
    lowest_target: Extreme
    highest_nontarget: Extreme
    """Of the finite scores; at inf and -inf without any."""
    distinct: Floats
    """Finite scores, all of them unless they are ``MANY``."""
    all_finite: bool
    infinite_loss: bool
    """Whether a target scores -inf or a non-target +inf."""

    def __add__(self, other: ScoreMoments) -> ScoreMoments:
        return ScoreMoments(
            (self.mass[0] + other.mass[0], self.mass[1] + other.mass[1]),
            (self.finite_mass[0] + other.finite_mass[0], self.finite_mass[1] + other.finite_mass[1]),
            (self.moment[0] + other.moment[0], self.moment[1] + other.moment[1]),
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            self.lowest_target.outermost(other.lowest_target, lower=True),
            self.highest_nontarget.outermost(other.highest_nontarget, lower=False),
            self.distinct if self.many else np.union1d(self.distinct, other.distinct)[: MANY + 1],
            self.all_finite and other.all_finite,
            self.infinite_loss or other.infinite_loss,
        )

    @property
    def many(self) -> bool:
        """Whether the scores are many different ones."""
        return self.distinct.size > MANY

    @property
    def unit_bits(self) -> int:
        """Binary digits of a standardised score, such that sums over all trials stay exact in float64."""
        mass = sum(math.ceil(part.value()) for part in self.finite_mass)
        return max(_EXACT_BITS - mass.bit_length(), 1)


def score_moments(rows: Rows) -> ScoreMoments:
    """The first pass over one block."""
    score, *weights = rows
    finite = finite_part(score)
    all_finite, kept = finite == slice(0, score.size), score[finite]
    of_kept = [weight[finite] for weight in weights]

    def extreme(weight: Floats, step: int, none: float) -> Extreme:
        used = weight[::step] > 0
        row = int(np.argmax(used)) if used.size else 0
        if not used.size or not used[row]:
            return Extreme(none, 0.0, 0.0)
        return Extreme(*(float(column[::step][row]) for column in (kept, *of_kept)))

    mass = exact_mass(weights[0]), exact_mass(weights[1])
    return ScoreMoments(
        mass,
        mass if all_finite else (exact_mass(of_kept[0]), exact_mass(of_kept[1])),
        (_moment(kept, of_kept[0]), _moment(kept, of_kept[1])),
        float(kept[0]) if kept.size else math.inf,
        float(kept[-1]) if kept.size else -math.inf,
        extreme(of_kept[0], 1, math.inf),
        extreme(of_kept[1], -1, -math.inf),
        kept[: MANY + 1],
        all_finite,
        bool((weights[0][: finite.start] > 0).any() or (weights[1][finite.stop :] > 0).any()),
    )


def finite_part(score: Floats) -> slice:
    """Which of ascending scores are finite."""
    return slice(int(np.searchsorted(score, -math.inf, side="right")), int(np.searchsorted(score, math.inf)))


def exact_mass(weight: Floats) -> ExactSum:
    """The exact sum of weights; at once where they are counts."""
    total = float(weight.sum())
    if total < _EXACT and np.array_equal(weight, np.floor(weight)):
        return ExactSum.of(np.array([total]))
    return ExactSum.of(weight)


def _moment(score: Floats, weight: Floats) -> Fraction:
    """The exact sum of weight times score, in units of ``ExactSum``."""
    used = np.flatnonzero(weight > 0.0)
    if 2 * used.size < weight.size:  # most scores are of one class
        score, weight = score[used], weight[used]
    sums, total = ExactSum.zero(), Fraction(0)
    for rows in in_blocks(score.size):
        whole = np.floor(weight[rows])
        sums += ExactSum.of_products(score[rows], whole.astype(np.int64))
        for row in (rows.start + np.flatnonzero(weight[rows] != whole)).tolist():
            total += Fraction(float(weight[row]) % 1.0) * ExactSum.of(score[row : row + 1]).units
    return total + sums.units


@dataclass(frozen=True)
class Moments:
    """Whole weights and first moments by bin, (4, BINS): targets and their moments, then non-targets.

    One mean per class and bin stands for many rows: its minimum is a start from which two or three passes suffice.
    """

    sums: Ints

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.sums + other.sums)

    def coarser(self, factor: int) -> Moments:
        """``factor`` neighbouring bins in one."""
        return Moments(self.sums.reshape(len(self.sums), -1, factor).sum(axis=2))

    def means(self, unit_bits: int) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Means of the bins that have some, of targets and of non-targets, and of how many trials each is one."""
        means, masses = [], []
        for mass, moment in (self.sums[:2], self.sums[2:]):
            used = mass > 0
            means.append(np.ldexp(moment[used] / mass[used], -unit_bits))
            masses.append(mass[used].astype(np.float64))
        return (means[0], means[1]), (masses[0], masses[1])
