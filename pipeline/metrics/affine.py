"""The least cross-entropy over order-preserving affine maps of the scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pipeline.metrics import newton
from pipeline.metrics.fixed_point import Floats, Ints
from pipeline.metrics.multiclass_sums import local
from pipeline.metrics.newton import Objective, Vector
from pipeline.partials.exact import ExactSum

BINS = 4096


@dataclass(frozen=True)
class AffineMinimum:
    """inf over gamma >= 0 and delta of the cross-entropy of gamma * llr + delta, in nats.

    ``status``: ``ok`` (attained at gamma > 0), ``gamma_zero`` (at gamma = 0), ``separable`` and ``quasi_separable``
    (approached as gamma grows; gamma and delta are NaN), ``infinite_loss`` (a target at -inf or a non-target at +inf:
    finite only for gamma = 0).
    """

    value: float
    gamma: float
    delta: float
    status: str


class Prior(NamedTuple):
    """Prior of both classes, targets first, and the weight that it gives one trial of each."""

    classes: tuple[float, float]
    weights: tuple[float, float]


def minimise(score: Floats, n_target: Floats, n_nontarget: Floats, prior: float, logit_prior: float) -> AffineMinimum:
    """The minimum over ``gamma >= 0`` (seed 000 eq 44-45) for strictly ascending scores with class weights beside.

    "Reversible" in the document excludes gamma = 0, but the infimum needs it. Separability is decided before any
    iteration, so that no optimiser runs to infinity. Both classes need a positive total weight.
    """
    weights = prior / math.fsum(n_target.tolist()), (1.0 - prior) / math.fsum(n_nontarget.tolist())
    if (np.isneginf(score) & (n_target > 0)).any() or (np.isposinf(score) & (n_nontarget > 0)).any():
        return AffineMinimum(_constant_loss(prior, 1.0 - prior), 0.0, 0.0, "infinite_loss")
    finite = np.isfinite(score)
    score, n_target, n_nontarget = (column[finite] for column in (score, n_target, n_nontarget))
    targets, nontargets = score[n_target > 0], score[n_nontarget > 0]
    if not targets.size or not nontargets.size or targets[0] > nontargets[-1]:
        return AffineMinimum(0.0, math.nan, math.nan, "separable")
    left_a, left_b = (w * math.fsum(n.tolist()) for w, n in zip(weights, (n_target, n_nontarget), strict=True))
    # Nothing dropped means delta = 0 exactly, which left_a and left_b alone would blur.
    delta = 0.0 if finite.all() else math.log(left_a / left_b) - logit_prior
    if _mean(score, n_target) <= _mean(score, n_nontarget):
        return AffineMinimum(_constant_loss(left_a, left_b), 0.0, delta, "gamma_zero")
    if targets[0] == nontargets[-1]:
        tie = int(np.searchsorted(score, targets[0]))
        loss = _constant_loss(weights[0] * float(n_target[tie]), weights[1] * float(n_nontarget[tie]))
        return AffineMinimum(loss, math.nan, math.nan, "quasi_separable")
    return _newton(score, n_target, n_nontarget, Prior((prior, 1.0 - prior), weights), delta)


def _constant_loss(a: float, b: float) -> float:
    """Least loss of one common score for a target weight and a non-target weight, in nats."""
    return float(a * math.log1p(b / a) + b * math.log1p(a / b))


def _mean(score: Floats, weight: Floats) -> Fraction:
    """The weighted mean score, exactly, in units that are the same for every call."""
    whole = np.floor(weight)
    total = Fraction(ExactSum.of_products(score, whole.astype(np.int64)).units)
    part = weight - whole
    for row in np.flatnonzero(part).tolist():
        total += Fraction(float(part[row])) * ExactSum.of(score[row : row + 1]).units
    return total / (int(whole.sum()) + sum(map(Fraction, part[part > 0].tolist()), Fraction(0)))


class Rows(NamedTuple):
    """Distinct scores once for each class that has them: the K = 2 problem of ``multiclass_sums``, targets first."""

    llh: Floats
    labels: Ints
    repeats: Floats

    @classmethod
    def of(cls, targets: tuple[Floats, Floats], nontargets: tuple[Floats, Floats]) -> Rows:
        """Scores and counts of both classes."""
        score = np.concatenate([targets[0], nontargets[0]])
        labels = np.repeat(np.arange(2), [targets[0].size, nontargets[0].size])
        llh = np.stack([score, np.zeros(score.size)], axis=1)
        return cls(llh, labels, np.concatenate([targets[1], nontargets[1]]))


def _newton(score: Floats, n_target: Floats, n_nontarget: Floats, prior: Prior, start: float) -> AffineMinimum:
    """The finite unique minimum, sought on scores standardised to [-1, 1] from a constant map with offset ``start``."""
    exponent = math.frexp(max(abs(float(score[0])), abs(float(score[-1]))))[1]
    x = np.ldexp(score, -exponent)  # no over- or underflow in the middle and the half width
    middle, half = (float(x[-1]) + float(x[0])) / 2, (float(x[-1]) - float(x[0])) / 2
    x = (x - middle) / half
    exact = Rows.of(*((x[n > 0], n[n > 0]) for n in (n_target, n_nontarget)))
    place: Vector = (0.0, start)
    if x.size > 4 * BINS:
        # Lower than the first start means inside its level set, where the curvature does not vanish.
        rough = newton.minimise(_over(_binned(x, n_target, n_nontarget), prior), place)
        place = min(place, rough.at, key=lambda at: _over(exact, prior)(at).value)
    evaluate = _over(exact, prior)
    found = newton.minimise(evaluate, place)
    gamma, offset = found.at[0] / half, found.at[1]
    with np.errstate(over="ignore"):  # scores next to the smallest float have a slope beyond the largest
        slope_of_scores = float(np.ldexp(gamma, -exponent))
    value = min(found.value, evaluate(found.at).value)
    return AffineMinimum(value, slope_of_scores, offset - gamma * middle, "ok")


def _over(rows: Rows, prior: Prior) -> Callable[[Vector], Objective]:
    return local(rows.llh, rows.labels, prior.classes, prior.weights, rows.repeats)


def _binned(x: Floats, n_target: Floats, n_nontarget: Floats) -> Rows:
    """Many rows as one mean per class and bin: its minimum is a start from which two or three passes suffice."""
    row = np.minimum(((x + 1.0) * (BINS / 2)).astype(np.int64), BINS - 1)
    return Rows.of(_bin_means(row, x, n_target), _bin_means(row, x, n_nontarget))


def _bin_means(row: Ints, x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    mass = np.bincount(row, weight, BINS).astype(np.float64)
    moment = np.bincount(row, weight * x, BINS).astype(np.float64)
    used = mass > 0
    return moment[used] / mass[used], mass[used]
