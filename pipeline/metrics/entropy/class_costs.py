"""The logarithmic cost of K classes: one proper scoring rule behind C_mce, Cnxe and NCE.

Rows of ``llh`` are log-likelihoods (T, K) in class order, up to a constant of each row; ``labels`` are true classes in
[0, K). All costs are in nats. Sources: Albayzin 2012 LRE plan section 4; SWS 2013 performance measures section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.partials.exact import ROW, ExactSum, exact_sums_by_group, means_of_limbs, values_of_limbs

Labels = NDArray[np.integer[Any]]

BLOCK = 1 << 14
_SPLIT = 2.0**27 + 1.0
_HUGE = 2.0**900
"""Costs above are not multiplied by counts in float64."""


def log_prior(prior: Sequence[float]) -> Floats:
    """log of a prior with K positive entries. ``ValueError`` where one is not."""
    if not all(p > 0.0 for p in prior):
        raise ValueError(f"every class needs a positive prior (seen: {tuple(prior)}); leave the others out")
    return np.array([math.log(p) for p in prior])


def prior_entropy(prior: Sequence[float]) -> float:
    """-sum pi log pi in nats: the cost of a system that says nothing (C_def, plan 001 eq 8)."""
    return -math.fsum(p * math.log(p) for p in prior)


def log_odds(llh: Floats, labels: Labels, prior: Sequence[float]) -> Floats:
    """Log posterior odds of every class against the true one, (T, K); 0 in the column of the true class.

    The constant of a row cancels before anything is rounded.
    """
    logs = log_prior(prior)
    rows = np.arange(labels.size)
    with np.errstate(over="ignore"):
        odds = np.ascontiguousarray(llh - llh[rows, labels][:, None])
    odds += logs - logs[labels][:, None]
    odds[rows, labels] = 0.0
    return odds


def cost_of_odds(odds: Floats, labels: Labels) -> Floats:
    """log sum_i exp(odds_i) of each row, folded in class order: the same bits on every processor."""
    cost = np.zeros(labels.size)
    for i in range(odds.shape[1]):
        column = np.ascontiguousarray(odds[:, i])
        with np.errstate(over="ignore"):
            cost = np.where(labels == i, cost, np.logaddexp(cost, column))
    return cost


def log_cost(llh: Floats, labels: Labels, prior: Sequence[float]) -> Floats:
    """-log P(true class) of each row, (T,), in nats (plan 001 eq 6; seed 000 eq 37)."""
    return cost_of_odds(log_odds(llh, labels, prior), labels)


def log_posterior(llh: Floats, prior: Sequence[float]) -> Floats:
    """log P(class) of each row, (T, K)."""
    columns = [-log_cost(llh, np.full(llh.shape[0], i), prior) for i in range(llh.shape[1])]
    return np.stack(columns, axis=1)


def confusion(cross_entropy: float) -> float:
    """exp(C) - 1, the average number of classes confused with the true one (plan 001 eq 10); inf on overflow."""
    try:
        return math.expm1(cross_entropy)
    except OverflowError:
        return math.inf


def exact_products(values: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Two arrays whose sum is ``values * counts`` without rounding; next to the largest float, with one rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _exact_products(values, counts)


def _exact_products(values: Floats, counts: Floats) -> tuple[Floats, Floats]:
    product = values * counts
    (v_high, v_low), (c_high, c_low) = _halves(values), _halves(counts)
    error = ((v_high * c_high - product) + v_high * c_low + v_low * c_high) + v_low * c_low
    return product, np.where(np.isfinite(error), error, 0.0)


def _halves(values: Floats) -> tuple[Floats, Floats]:
    large = values * _SPLIT
    high = large - (large - values)
    return high, values - high


def class_sums(columns: Floats, labels: Labels, n_classes: int, multiplicity: Floats | None) -> Ints:
    """Exact sums of every column (T, C) by true class, each row taken ``multiplicity`` times: limbs (K, C, ROW)."""
    n_columns = columns.shape[1]
    parts = [columns]
    if multiplicity is not None:
        repeated = np.broadcast_to(multiplicity[:, None], columns.shape)
        infinite = np.isinf(columns)
        finite = np.where(infinite, 0.0, columns) if infinite.any() else columns
        parts = list(exact_products(finite, np.ascontiguousarray(repeated)))
        if infinite.any():
            parts[0] = np.where(infinite & (repeated > 0.0), columns, parts[0])
        parts = parts if parts[1].any() else parts[:1]  # no rounding where rows count once, as most do
    group = (np.asarray(labels, np.int64)[:, None] * n_columns + np.arange(n_columns)).ravel()
    limbs = sum(exact_sums_by_group(part.ravel(), group, n_classes * n_columns) for part in parts)
    return np.asarray(limbs, np.int64).reshape(n_classes, n_columns, ROW)


def costs_apart(
    llh: Floats, labels: Labels, prior: Sequence[float], multiplicity: Floats | None
) -> tuple[Floats, Ints]:
    """``log_cost`` of each row but of huge ones, where it is 0, and the exact sums of these by class, (K, ROW).

    A huge cost is the largest score less the true one: the priors and other scores are far below its last digit. It is
    taken as two halves, for the difference of two finite scores need not be finite.
    """
    cost = log_cost(llh, labels, prior)
    rows = np.flatnonzero((cost > _HUGE) & np.isfinite(llh).all(axis=1))
    half = llh[rows].max(axis=1) / 2.0 - llh[rows, labels[rows]] / 2.0
    cost[rows] = 0.0
    repeated = np.ones(rows.size) if multiplicity is None else multiplicity[rows]
    whole, limbs = np.floor(repeated), np.zeros((len(prior), ROW), np.int64)
    for label in np.unique(labels[rows]).tolist():
        own = labels[rows] == label
        broken = ExactSum.of(half[own] * (repeated - whole)[own])
        limbs[label] = (ExactSum.of_products(half[own], 2 * whole[own].astype(np.int64)) + broken + broken).to_limbs()
    return cost, limbs


def margins_of(llh: Floats, labels: Labels, unit: int) -> Floats:
    """The score of the true class less that of every class, (T, K); ``unit`` 1: of halved scores."""
    scores = llh / 2.0 if unit else llh
    with np.errstate(over="ignore"):
        return np.asarray(scores[np.arange(labels.size), labels][:, None] - scores)


@dataclass(frozen=True)
class LogCostSums:
    """The sums of the first pass over trials: mergeable, exact, unweighted by class.

    ``limbs``: exact sums (K, 2, ROW) of multiplicities and of costs. ``least`` and ``largest`` (2, K, K): over the
    trials of class y, the least and the largest score of y minus score of i, and the same of halved scores, whose
    differences never overflow.
    """

    limbs: Ints
    least: Floats
    largest: Floats

    @classmethod
    def zero(cls, n_classes: int) -> LogCostSums:
        """No trial."""
        square = (2, n_classes, n_classes)
        return cls(np.zeros((n_classes, 2, ROW), np.int64), np.full(square, np.inf), np.full(square, -np.inf))

    @classmethod
    def from_trials(
        cls, llh: Floats, labels: Labels, prior: Sequence[float], multiplicity: Floats | None = None
    ) -> LogCostSums:
        """Sums of one chunk; every row counts once, or ``multiplicity`` times."""
        total = cls.zero(len(prior))
        for start in range(0, labels.size, BLOCK):
            rows = slice(start, start + BLOCK)
            repeated = None if multiplicity is None else multiplicity[rows]
            total += cls._block(llh[rows], labels[rows], prior, repeated)
        return total

    @classmethod
    def _block(cls, llh: Floats, labels: Labels, prior: Sequence[float], multiplicity: Floats | None) -> LogCostSums:
        zero, (cost, huge) = cls.zero(len(prior)), costs_apart(llh, labels, prior, multiplicity)
        limbs = class_sums(np.stack([np.ones(labels.size), cost], axis=1), labels, len(prior), multiplicity)
        limbs[:, 1] += huge
        for unit, (least, largest) in enumerate(zip(zero.least, zero.largest, strict=True)):
            margins = margins_of(llh, labels, unit)
            np.minimum.at(least, labels, margins)
            np.maximum.at(largest, labels, margins)
        return cls(limbs, zero.least, zero.largest)

    def __add__(self, other: LogCostSums) -> LogCostSums:
        return LogCostSums(
            self.limbs + other.limbs,
            np.minimum(self.least, other.least),
            np.maximum(self.largest, other.largest),
        )

    @property
    def unit(self) -> int:
        """Which margins do not overflow: 0, or 1 for those of halved scores."""
        return int(np.isinf(self.least[0]).any() or np.isinf(self.largest[0]).any())

    @property
    def mass(self) -> Floats:
        """Trials of each class, (K,)."""
        return values_of_limbs(self.limbs[:, 0])

    def mean_cost(self) -> Floats:
        """Mean cost of each class, (K,), nats; NaN where a class has no trial."""
        return means_of_limbs(self.limbs[:, 1], self.mass)

    def cross_entropy(self, prior: Sequence[float]) -> float:
        """sum_c pi_c times the mean cost of class c, nats (C_mce, plan 001 eq 6); NaN where a class has no trial."""
        means, unit = self.mean_cost(), 1.0
        if float(np.fmax.reduce(means)) > _HUGE:  # a mean may be beyond floats where half of it is not
            means, unit = means_of_limbs(self.limbs[:, 1], 2.0 * self.mass), 2.0
        return unit * math.fsum(p * mean for p, mean in zip(prior, means.tolist(), strict=True))
