"""Cost, gradient and Hessian of an affine recalibration of K classes: exact sums that add up over tiles.

Scores become ``alpha * l_i + beta_i``. ``beta`` is only defined up to a constant; here the last one is 0, so that the
parameters are (alpha, beta_1, …, beta_{K-1}): K of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from pipeline.metrics.multiclass import BLOCK, Floats, Ints, Labels, class_sums, cost_of_odds, log_prior
from pipeline.metrics.newton import Objective, Vector
from pipeline.metrics.portable import exp
from pipeline.partials.exact import ROW, values_of_limbs


@dataclass(frozen=True)
class NewtonSums:
    """Sums (K, 1 + K + K (K + 1) / 2, ROW) by true class, unweighted: cost, gradient, upper half of the Hessian."""

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
        place: Vector,
        multiplicity: Floats | None = None,
    ) -> NewtonSums:
        """Sums of one chunk at ``place`` = (alpha, beta_1, …, beta_{K-1}).

        ``llh`` (T, K) and ``labels`` (T,) as in ``multiclass``. A finite ``multiplicity`` weighs each row.
        """
        total = cls.zero(len(prior))
        for start in range(0, labels.size, BLOCK):
            rows = slice(start, start + BLOCK)
            columns = _columns(llh[rows], labels[rows], prior, place)
            repeated = None if multiplicity is None else multiplicity[rows]
            total += cls(class_sums(columns, labels[rows], len(prior), repeated))
        return total

    def __add__(self, other: NewtonSums) -> NewtonSums:
        return NewtonSums(self.limbs + other.limbs)

    def objective(self, weights: Sequence[float]) -> Objective:
        """Value, gradient and Hessian with ``weights`` pi_c / N_c of a trial of each class."""
        k, width = self.limbs.shape[0], self.limbs.shape[1]
        by_class = values_of_limbs(self.limbs.reshape(k * width, ROW)).reshape(k, width)
        terms = np.asarray(weights)[:, None] * by_class
        value, *derivatives = [math.fsum(column) for column in terms.T.tolist()]
        gradient, upper = tuple(derivatives[:k]), derivatives[k:]
        hessian = [[0.0] * k for _ in range(k)]
        for (row, column), entry in zip(_upper(k), upper, strict=True):
            hessian[row][column] = hessian[column][row] = entry
        return Objective(value, gradient, tuple(map(tuple, hessian)))


def n_columns(n_classes: int) -> int:
    """Columns of ``NewtonSums`` for K classes."""
    return 1 + n_classes + n_classes * (n_classes + 1) // 2


def _upper(n_parameters: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(n_parameters), 2))


def _columns(llh: Floats, labels: Labels, prior: Sequence[float], place: Vector) -> Floats:
    """The terms of every row, (T, C), with d_i = l_i - l_y in the place of l_i: the constant of a row cancels."""
    k, rows = len(prior), np.arange(labels.size)
    d = np.ascontiguousarray(llh - llh[rows, labels][:, None])
    shift = np.array([*place[1:], 0.0]) + log_prior(prior)
    odds = place[0] * d + (shift - shift[labels][:, None])
    odds[rows, labels] = 0.0
    cost = cost_of_odds(odds, labels)
    p = exp(np.ascontiguousarray(odds - cost[:, None]))
    # 1 - p as the sum of the others keeps its relative accuracy where p is near 1.
    others = np.stack([_sum([p[:, j] for j in range(k) if j != i]) for i in range(k)], axis=1)
    mean = _sum([p[:, i] * d[:, i] for i in range(k)])
    centred = d - mean[:, None]
    residual = p.copy()
    residual[rows, labels] = -others[rows, labels]
    mixed = p * centred
    columns = [cost, mean, *(residual[:, i] for i in range(k - 1))]
    for row, column in _upper(k):
        if row == column == 0:
            columns.append(_sum([mixed[:, i] * centred[:, i] for i in range(k)]))
        elif row == 0:
            columns.append(mixed[:, column - 1])
        elif row == column:
            columns.append(p[:, row - 1] * others[:, row - 1])
        else:
            columns.append(-p[:, row - 1] * p[:, column - 1])
    return np.stack(columns, axis=1)


def _sum(columns: list[Floats]) -> Floats:
    """A sum in class order, whatever the memory layout."""
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total
