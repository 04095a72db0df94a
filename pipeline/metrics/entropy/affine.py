"""The least cross-entropy over order-preserving affine maps of the scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from pipeline.arrays import Floats
from pipeline.metrics.entropy import newton
from pipeline.metrics.entropy.affine_passes import (
    BINS,
    COARSER,
    Moments,
    Rows,
    ScoreMoments,
    finite_part,
    score_moments,
)
from pipeline.metrics.entropy.binary_sums import binary_sums, rough_objective
from pipeline.metrics.entropy.maps import AffineMap
from pipeline.metrics.entropy.newton_sums import NewtonSums
from pipeline.metrics.entropy.objective import Objective
from pipeline.metrics.fixed_point import in_blocks
from pipeline.metrics.measure import Over

_CONFIRMED = 2.0**-50
"""Decrement, relative to the objective, at which a minimum foretold by moments is confirmed: half of it is missing."""
_COARSE, _FINE = 1e-4, 1e-12
"""Decrements, relative to the objective, at which means of coarse and of fine bins have told what they can."""


@dataclass(frozen=True)
class AffineMinimum:
    """inf over gamma >= 0 and delta of the cross-entropy of gamma * llr + delta, in nats.

    ``status``: ``ok`` (attained at gamma > 0), ``gamma_zero`` (at gamma = 0), ``separable`` and ``quasi_separable``
    (approached as gamma grows; gamma and delta are NaN), ``infinite_loss`` (a target at -inf or a non-target at +inf:
    finite only for gamma = 0), ``not_settled`` (the conditions of a minimum do not hold where the search ended: the
    value is attained, and a lower one may be).
    """

    value: float
    gamma: float
    delta: float
    status: str


class Prior(NamedTuple):
    """Prior of both classes, targets first, and the weight that it gives one trial of each."""

    classes: tuple[float, float]
    weights: tuple[float, float]


class Scale(NamedTuple):
    """How scores are standardised to [-1, 1]: (score / 2**exponent - middle) / half."""

    exponent: int
    middle: float
    half: float

    @classmethod
    def of(cls, lowest: float, highest: float) -> Scale:
        """The scale of finite scores from ``lowest`` to ``highest``."""
        exponent = math.frexp(max(abs(lowest), abs(highest)))[1]
        low, high = math.ldexp(lowest, -exponent), math.ldexp(highest, -exponent)  # the sum would over- or underflow
        return cls(exponent, (high + low) / 2, (high - low) / 2)

    def of_scores(self, score: Floats) -> Floats:
        """The scores on the scale."""
        return np.asarray((np.ldexp(score, -self.exponent) - self.middle) / self.half)

    def flat(self, offset: float) -> AffineMap:
        """The constant map of scores to an offset, about the middle of the scale."""
        exponent = self.exponent + math.frexp(self.half)[1]
        return AffineMap(exponent, 0.0, (math.ldexp(self.middle, self.exponent), 0.0), (offset, 0.0))

    def back(self, found: AffineMap, most: int) -> AffineMap:
        """A map of scores on the scale as a map of scores."""
        pivot = math.ldexp(self.middle + self.half * found.pivots[0], self.exponent)
        exponent, alpha = found.exponent + self.exponent, found.alpha / self.half
        return AffineMap(exponent, alpha, (pivot, 0.0), found.offsets).scaled(most)


def minimise(score: Floats, n_target: Floats, n_nontarget: Floats, prior: float, logit_prior: float) -> AffineMinimum:
    """``minimise_over`` of rows that are all here."""
    rows = score, n_target, n_nontarget
    return minimise_over(lambda task, *state: task(rows, *state), prior, logit_prior)


def minimise_over(over: Over, prior: float, logit_prior: float) -> AffineMinimum:
    """The minimum over ``gamma >= 0`` (seed 000 eq 44-45) for trials that tasks see as ``Rows``, part by part.

    "Reversible" in the document excludes gamma = 0, but the infimum needs it. Separability is decided before any
    iteration, so that no optimiser runs to infinity. Both classes need a positive total weight. The result has the
    same bits however the trials are divided, also where equal scores of whole weights are apart.
    """
    seen: ScoreMoments = over(score_moments)
    weights = prior / seen.mass[0].value(), (1.0 - prior) / seen.mass[1].value()
    if seen.infinite_loss:
        return AffineMinimum(_constant_loss(prior, 1.0 - prior), 0.0, 0.0, "infinite_loss")
    low, high = seen.lowest_target, seen.highest_nontarget
    if low.score > high.score:
        return AffineMinimum(0.0, math.nan, math.nan, "separable")
    left_a, left_b = (w * mass.value() for w, mass in zip(weights, seen.finite_mass, strict=True))
    # Nothing dropped means delta = 0 exactly, which left_a and left_b alone would blur.
    delta = 0.0 if seen.all_finite else math.log(left_a / left_b) - logit_prior
    if seen.moment[0] * seen.finite_mass[1].units <= seen.moment[1] * seen.finite_mass[0].units:
        return AffineMinimum(_constant_loss(left_a, left_b), 0.0, delta, "gamma_zero")
    if low.score == high.score:
        loss = _constant_loss(weights[0] * low.n_target, weights[1] * high.n_nontarget)
        return AffineMinimum(loss, math.nan, math.nan, "quasi_separable")
    return _newton(over, seen, Prior((prior, 1.0 - prior), weights), delta)


def _constant_loss(a: float, b: float) -> float:
    """Least loss of one common score for a target weight and a non-target weight, in nats."""
    return float(a * math.log1p(b / a) + b * math.log1p(a / b))


def _newton(over: Over, seen: ScoreMoments, prior: Prior, start: float) -> AffineMinimum:
    """The finite unique minimum, sought from a constant map with offset ``start``."""
    scale = Scale.of(seen.lowest, seen.highest)

    @cache
    def evaluate(at: AffineMap) -> Objective:
        sums: NewtonSums = over(newton_sums, prior.classes, at)
        return sums.objective(prior.weights)

    flat = scale.flat(start)
    constant = _constant_loss(*(w * mass.value() for w, mass in zip(prior.weights, seen.finite_mass, strict=True)))
    found = None
    if seen.many:
        made: Moments = over(moments, scale, seen.unit_bits)
        rough = scale.back(_rough(made, seen.unit_bits, prior, start), flat.exponent)
        if evaluate(rough).value < constant:
            found = newton.minimise(evaluate, rough, _CONFIRMED, flat)
    if found is None:
        found = newton.minimise(evaluate, flat, newton.CONVERGED, flat)
    status = "ok" if found.settled else newton.NOT_SETTLED
    return AffineMinimum(min(found.value, constant), found.at.gamma, found.at.deltas[0], status)


def _rough(made: Moments, unit_bits: int, prior: Prior, start: float) -> AffineMap:
    """The minimum for the means of bins, the coarse ones first: few bins are quickly done, and leave little to do."""
    flat = at = AffineMap(0, 0.0, (0.0, 0.0), (start, 0.0))
    for one, enough in ((made.coarser(COARSER), _COARSE), (made, _FINE)):
        evaluate = rough_objective(*one.means(unit_bits), prior.classes, prior.weights)
        at = newton.minimise(evaluate, at, enough, flat).at
    return at


def newton_sums(rows: Rows, prior: tuple[float, float], at: AffineMap) -> NewtonSums:
    """Cost, gradient and Hessian of one block at a map."""
    score, n_target, n_nontarget = _finite(rows)
    total = NewtonSums.zero(2)
    for some in in_blocks(score.size):
        total += binary_sums(score[some], (n_target[some], n_nontarget[some]), prior, at)
    return total


def moments(rows: Rows, scale: Scale, unit_bits: int) -> Moments:
    """Whole weights and first moments of one block by class and bin, in units that make every sum exact."""
    score, *weights = _finite(rows)
    sums = np.zeros((4, BINS))
    for some in in_blocks(score.size):
        x = scale.of_scores(score[some])
        row = np.minimum(((x + 1.0) * (BINS / 2)).astype(np.int64), BINS - 1)
        units = np.rint(np.ldexp(x, unit_bits))
        for label, weight in enumerate(weights):
            mass = np.floor(weight[some])
            sums[2 * label] += np.bincount(row, mass, BINS)
            sums[2 * label + 1] += np.bincount(row, mass * units, BINS)
    return Moments(sums.astype(np.int64))


def _finite(rows: Rows) -> Rows:
    finite = finite_part(rows[0])
    return rows[0][finite], rows[1][finite], rows[2][finite]
