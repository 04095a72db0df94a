"""The least cross-entropy over order-preserving affine maps of the scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pipeline.metrics.fixed_point import Floats, Ints
from pipeline.partials.exact import ExactSum

BLOCK = 1 << 14
BINS = 4096
MAX_STEPS = 200
SMALLEST_STEP = 2.0**-40
GRADIENT_GOAL = 1e-14
QUADRATIC = 1e-9
"""Newton decrement, relative to the objective, below which full steps converge and the line search only sees noise."""


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


def minimise(score: Floats, n_target: Floats, n_nontarget: Floats, prior: float, logit_prior: float) -> AffineMinimum:
    """The minimum over ``gamma >= 0`` (seed 000 eq 44-45) for strictly ascending scores with class weights beside.

    "Reversible" in the document excludes gamma = 0, but the infimum needs it. Separability is decided before any
    iteration, so that no optimiser runs to infinity. Both classes need a positive total weight.
    """
    a = prior * (n_target / math.fsum(n_target.tolist()))
    b = (1.0 - prior) * (n_nontarget / math.fsum(n_nontarget.tolist()))
    if (np.isneginf(score) & (a > 0)).any() or (np.isposinf(score) & (b > 0)).any():
        return AffineMinimum(_constant_loss(prior, 1.0 - prior), 0.0, 0.0, "infinite_loss")
    finite = np.isfinite(score)
    score, a, b, n_target, n_nontarget = (column[finite] for column in (score, a, b, n_target, n_nontarget))
    targets, nontargets = score[a > 0], score[b > 0]
    if not targets.size or not nontargets.size or targets[0] > nontargets[-1]:
        return AffineMinimum(0.0, math.nan, math.nan, "separable")
    if _mean(score, n_target) <= _mean(score, n_nontarget):
        left_a, left_b = math.fsum(a.tolist()), math.fsum(b.tolist())
        # Nothing dropped means delta = 0 exactly, which left_a and left_b alone would blur.
        delta = 0.0 if finite.all() else math.log(left_a / left_b) - logit_prior
        return AffineMinimum(_constant_loss(left_a, left_b), 0.0, delta, "gamma_zero")
    if targets[0] == nontargets[-1]:
        tie = int(np.searchsorted(score, targets[0]))
        return AffineMinimum(_constant_loss(a[tie], b[tie]), math.nan, math.nan, "quasi_separable")
    return _newton(score, a, b, logit_prior)


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


def _newton(score: Floats, a: Floats, b: Floats, logit_prior: float) -> AffineMinimum:
    """The finite unique minimum, sought in (slope, offset) on scores standardised to [-1, 1]."""
    exponent = math.frexp(max(abs(float(score[0])), abs(float(score[-1]))))[1]
    x = np.ldexp(score, -exponent)  # no over- or underflow in the middle and the half width
    middle, half = (float(x[-1]) + float(x[0])) / 2, (float(x[-1]) - float(x[0])) / 2
    x = (x - middle) / half
    start = Place(0.0, math.log(math.fsum(a.tolist()) / math.fsum(b.tolist())))
    if x.size > 4 * BINS:
        # Lower than the first start means inside its level set, where the curvature does not vanish.
        rough = _descend(*_binned(x, a, b), start)
        start = min(start, rough, key=lambda place: _objective(x, a, b, place))
    place = _descend(x, a, b, start)
    gamma = place.slope / half
    with np.errstate(over="ignore"):  # scores next to the smallest float have a slope beyond the largest
        slope_of_scores = float(np.ldexp(gamma, -exponent))
    return AffineMinimum(_objective(x, a, b, place), slope_of_scores, place.offset - logit_prior - gamma * middle, "ok")


class Place(NamedTuple):
    """Log odds are slope * x + offset."""

    slope: float
    offset: float

    def moved(self, step: Place, scale: float) -> Place:
        """The place ``scale`` times ``step`` away."""
        return Place(self.slope + scale * step.slope, self.offset + scale * step.offset)


def _binned(x: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Many rows as one mean per class and bin: its minimum is a start from which two or three passes suffice."""
    row = np.minimum(((x + 1.0) * (BINS / 2)).astype(np.int64), BINS - 1)
    (mass_a, mean_a), (mass_b, mean_b) = (_bin_means(row, x, weight) for weight in (a, b))
    none_a, none_b = np.zeros_like(mass_a), np.zeros_like(mass_b)
    return np.append(mean_a, mean_b), np.append(mass_a, none_b), np.append(none_a, mass_b)


def _bin_means(row: Ints, x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    mass = np.bincount(row, weight, BINS).astype(np.float64)
    moment = np.bincount(row, weight * x, BINS).astype(np.float64)
    used = mass > 0
    return mass[used], moment[used] / mass[used]


def _descend(x: Floats, a: Floats, b: Floats, place: Place) -> Place:
    """Damped Newton on a convex objective, until the gradient is nothing but rounding."""
    value = _objective(x, a, b, place)
    for _ in range(MAX_STEPS):
        gradient, step = _gradient_and_step(x, a, b, place)
        if step is None or max(abs(gradient.slope), abs(gradient.offset)) < GRADIENT_GOAL:
            break
        decrement = -(gradient.slope * step.slope + gradient.offset * step.offset)
        scale, new = 1.0, _objective(x, a, b, place.moved(step, 1.0))
        while decrement > QUADRATIC * value and new > value - 1e-4 * scale * decrement and scale > SMALLEST_STEP:
            scale /= 2
            new = _objective(x, a, b, place.moved(step, scale))
        place, value = place.moved(step, scale), new
    return place


def _objective(x: Floats, a: Floats, b: Floats, place: Place) -> float:
    """Cross-entropy in nats."""

    def columns(rows: slice) -> tuple[Floats, ...]:
        z = place.slope * x[rows] + place.offset
        return (a[rows] * np.logaddexp(0.0, -z) + b[rows] * np.logaddexp(0.0, z),)

    return _sums(columns, x.size)[0]


def _gradient_and_step(x: Floats, a: Floats, b: Floats, place: Place) -> tuple[Place, Place | None]:
    """Gradient and Newton step; no step where the curvature has vanished."""

    def columns(rows: slice) -> tuple[Floats, ...]:
        z = place.slope * x[rows] + place.offset
        small = np.exp(-np.abs(z))
        p, q = np.where(z < 0.0, small, 1.0) / (1.0 + small), np.where(z < 0.0, 1.0, small) / (1.0 + small)
        residual = b[rows] * p - a[rows] * q
        curvature = (a[rows] + b[rows]) * p * q
        first = curvature * x[rows]
        return residual * x[rows], residual, first * x[rows], first, curvature

    g0, g1, h00, h01, h11 = _sums(columns, x.size)
    determinant = h00 * h11 - h01 * h01
    if not determinant > 0.0:
        return Place(g0, g1), None
    return Place(g0, g1), Place((h01 * g1 - h11 * g0) / determinant, (h01 * g0 - h00 * g1) / determinant)


def _sums(columns: Callable[[slice], tuple[Floats, ...]], size: int) -> list[float]:
    """Exact sums of columns that are computed block by block, as they fit a cache."""
    totals: list[ExactSum] = []
    for start in range(0, size, BLOCK):
        parts = [ExactSum.of(column) for column in columns(slice(start, start + BLOCK))]
        totals = [total + part for total, part in zip(totals, parts, strict=True)] if totals else parts
    return [total.value() for total in totals]
