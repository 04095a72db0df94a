"""Cost, gradient and Hessian of an affine recalibration of K classes: exact sums that add up over tiles.

Offsets are only defined up to a constant; here the last one is 0, so that the parameters are alpha and K - 1 offsets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.entropy.class_costs import BLOCK, Labels, class_sums, cost_of_odds, log_prior
from pipeline.metrics.entropy.maps import AffineMap
from pipeline.metrics.entropy.objective import Objective
from pipeline.metrics.entropy.portable import exp
from pipeline.partials.exact import ROW, values_of_limbs


@dataclass(frozen=True)
class NewtonSums:
    """Sums (K, 2 + K K, ROW) by true class, unweighted: the columns of ``objective_of``."""

    limbs: Ints

    @classmethod
    def zero(cls, n_classes: int) -> NewtonSums:
        """No trial."""
        return cls(np.zeros((n_classes, n_columns(n_classes), ROW), np.int64))

    @classmethod
    def from_trials(
        cls,
        llh: Floats,
        labels: Labels,
        prior: Sequence[float],
        at: AffineMap,
        multiplicity: Floats | None = None,
    ) -> NewtonSums:
        """Sums of one chunk at a map.

        ``llh`` (T, K) and ``labels`` (T,) as in ``multiclass``. A finite ``multiplicity`` weighs each row.
        """
        total = cls.zero(len(prior))
        for start in range(0, labels.size, BLOCK):
            rows = slice(start, start + BLOCK)
            columns = _columns(llh[rows], labels[rows], prior, at)
            repeated = None if multiplicity is None else multiplicity[rows]
            total += cls(class_sums(columns, labels[rows], len(prior), repeated))
        return total

    def __add__(self, other: NewtonSums) -> NewtonSums:
        return NewtonSums(self.limbs + other.limbs)

    def objective(self, weights: Sequence[float]) -> Objective:
        """Value, slopes and curvatures with ``weights`` pi_c / N_c of a trial of each class."""
        k, width = self.limbs.shape[0], self.limbs.shape[1]
        by_class = values_of_limbs(self.limbs.reshape(k * width, ROW)).reshape(k, width)
        return objective_of(np.asarray(weights)[:, None] * by_class)


def n_columns(n_classes: int) -> int:
    """Columns of ``NewtonSums`` for K classes."""
    return 2 + n_classes * n_classes


def objective_of(terms: Floats) -> Objective:
    """The objective of K classes from weighted sums by true class, (K, C).

    Columns: cost, its first and second derivative by alpha, the posteriors of the other classes in their order; of all
    pairs i < j the products of posteriors p_i p_j, and those times x_i - x_j.
    """
    k = len(terms)
    value, slope, square, *by_pair = [
        math.fsum(column) for column in terms[:, [0, 1, 2, *range(k + 2, terms.shape[1])]].T
    ]
    pairs = list(combinations(range(k), 2))
    pulls, coupling, mixed = ([[0.0] * k for _ in range(k)] for _ in range(3))
    for (i, j), product, apart in zip(pairs, by_pair[: len(pairs)], by_pair[len(pairs) :], strict=True):
        # Trials of j pull at i by its posterior; column 3 is that of the first class that is not their own.
        pulls[i][j] = float(terms[j, 3 + i]) - float(terms[i, 2 + j])
        pulls[j][i] = -pulls[i][j]
        coupling[i][j] = coupling[j][i] = product
        mixed[i][j], mixed[j][i] = apart, -apart
    return Objective(value, slope, square, *(tuple(map(tuple, matrix)) for matrix in (pulls, coupling, mixed)))


def _columns(llh: Floats, labels: Labels, prior: Sequence[float], at: AffineMap) -> Floats:
    """The terms of every row, (T, C), with scores less that of the true class: the constant of a row cancels."""
    k, rows = len(prior), np.arange(labels.size)
    x = np.ascontiguousarray(at.of_rows(llh, labels))
    shift = np.array(at.offsets) + log_prior(prior)
    odds = at.alpha * x + (shift - shift[labels][:, None])
    odds[rows, labels] = 0.0
    cost = cost_of_odds(odds, labels)
    p = exp(np.ascontiguousarray(odds - cost[:, None]))
    mean = _sum([p[:, i] * x[:, i] for i in range(k)])
    centred = x - mean[:, None]
    square = _sum([p[:, i] * centred[:, i] * centred[:, i] for i in range(k)])
    others = [np.where(labels <= i, p[:, i + 1], p[:, i]) for i in range(k - 1)]
    products = [p[:, i] * p[:, j] for i, j in combinations(range(k), 2)]
    apart = [product * (x[:, i] - x[:, j]) for product, (i, j) in zip(products, combinations(range(k), 2), strict=True)]
    return np.stack([cost, mean, square, *others, *products, *apart], axis=1)


def _sum(columns: list[Floats]) -> Floats:
    """A sum in class order, whatever the memory layout."""
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total
