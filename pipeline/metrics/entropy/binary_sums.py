"""Cost, gradient and Hessian of an affine recalibration of two classes: the sums of ``newton_sums`` for K = 2.

Rows of one class stand side by side, so that a pass costs a fraction of what it costs for K classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.metrics.entropy.class_costs import class_sums
from pipeline.metrics.entropy.maps import AffineMap
from pipeline.metrics.entropy.newton_sums import NewtonSums, n_columns, objective_of
from pipeline.metrics.entropy.objective import Objective
from pipeline.metrics.entropy.portable import exp
from pipeline.metrics.statistics.resampling import to_grid
from pipeline.partials.digits import N_LIMBS, carried, digits
from pipeline.partials.exact import ROW

BLOCK = 1 << 12
"""Rows taken together: all of their columns stay in the cache."""
_COLUMNS = n_columns(2)
_LIGHT = 32.0
"""Weights below are multiplied into digits: 2**12 rows of them then add up to less than 2**48 units,
and 2**15 times as many are carried at once."""


def binary_sums(score: Floats, weights: tuple[Floats, Floats], prior: tuple[float, float], at: AffineMap) -> NewtonSums:
    """Exact sums at a map, unweighted by class: rows are distinct scores with the weights of targets and non-targets.

    ``prior`` is of both classes, targets first, as in ``NewtonSums``.
    """
    limbs = NewtonSums.zero(2).limbs
    for label, weight in enumerate(weights):
        used = np.flatnonzero(weight > 0.0)  # most scores are of one class
        for start in range(0, used.size, BLOCK):
            rows = used[start : start + BLOCK]
            limbs[label] += _weighted(_terms(score[rows], prior, at), label, weight[rows])
    limbs[..., :N_LIMBS] = carried(limbs[..., :N_LIMBS])
    return NewtonSums(limbs)


def rough_objective(
    scores: tuple[Floats, Floats], masses: tuple[Floats, Floats], prior: tuple[float, float], weights: Sequence[float]
) -> Callable[[AffineMap], Objective]:
    """An evaluation of the objective over few rows, for ``newton.minimise``: in float64, the same bits everywhere.

    Rows are those of targets and those of non-targets.
    """
    score, n_targets = np.concatenate(scores), scores[0].size
    parts = slice(n_targets), slice(n_targets, None)
    scaled = [weight * mass for weight, mass in zip(weights, masses, strict=True)]

    def evaluate(at: AffineMap) -> Objective:
        terms, sums = _terms(score, prior, at), []
        for label, (rows, mass) in enumerate(zip(parts, scaled, strict=True)):
            columns, bits = to_grid(_columns(_chosen(terms, rows), label) * mass, score.size, 1)
            sums.append(np.ldexp(columns.sum(axis=1), -bits[:, 0]))
        return objective_of(np.array(sums))

    return evaluate


Terms = tuple[Floats, Floats, Floats, Floats]
"""Of each row: x, the log odds of a target, and the posteriors of a non-target and of a target."""


def _terms(score: Floats, prior: tuple[float, float], at: AffineMap) -> Terms:
    x = at.of_ratios(score)
    odds = at.alpha * x + (at.offsets[0] + (math.log(prior[0]) - math.log(prior[1])))
    # Both posteriors from the exponential that does not overflow: each keeps its relative accuracy near 0.
    small = exp(-np.abs(odds))
    large = 1.0 / (1.0 + small)
    small *= large
    positive = odds > 0.0
    return x, odds, np.where(positive, small, large), np.where(positive, large, small)


def _columns(terms: Terms, label: int) -> Floats:
    """The columns of ``objective_of`` of every row as a trial of a class, (6, rows)."""
    x, odds, nontarget, target = terms
    columns = np.empty((_COLUMNS, x.size))
    cost, slope, square, other, product, apart = columns
    if label:
        np.logaddexp(0.0, odds, out=cost)
        other[:] = target
        np.multiply(other, x, out=slope)
    else:
        np.logaddexp(0.0, -odds, out=cost)
        other[:] = nontarget
        np.multiply(-other, x, out=slope)
    np.multiply(target, nontarget, out=product)
    np.multiply(product, x, out=apart)
    np.multiply(apart, x, out=square)
    return columns


def _weighted(terms: Terms, label: int, weight: Floats) -> Ints:
    """Exact sums (6, ROW) of the columns of a block, each row taken ``weight`` times, never 0; not carried."""
    light = (weight < _LIGHT) & (weight == np.floor(weight))
    limbs = np.zeros((_COLUMNS, ROW), np.int64)
    heavy = np.flatnonzero(~light)
    chosen, repeats = (_chosen(terms, light), weight[light]) if heavy.size else (terms, weight)
    for limb, digit in digits(_columns(chosen, label)):
        limbs[:, limb] += np.einsum("cr,r->c", digit, repeats).astype(np.int64)  # whole, so in any order
    if heavy.size:
        columns = np.ascontiguousarray(_columns(_chosen(terms, heavy), label).T)
        limbs += class_sums(columns, np.zeros(heavy.size, np.int64), 1, weight[heavy])[0]
    return limbs


def _chosen(terms: Terms, rows: Ints | NDArray[np.bool_] | slice) -> Terms:
    x, odds, nontarget, target = terms
    return x[rows], odds[rows], nontarget[rows], target[rows]
