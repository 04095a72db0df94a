"""The least cross-entropy over affine recalibrations of K classes (plan 001 eq 9; seed 000 eq 44-45, any sign)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pipeline.arrays import Floats
from pipeline.metrics.entropy import newton
from pipeline.metrics.entropy.class_costs import Labels, LogCostSums, margins_of, prior_entropy
from pipeline.metrics.entropy.maps import AffineMap, Vector, ldexp
from pipeline.metrics.entropy.newton import NOT_SETTLED
from pipeline.metrics.entropy.newton_sums import NewtonSums
from pipeline.metrics.entropy.objective import Objective
from pipeline.metrics.entropy.separability import COMPLETE, DEGENERATE, OVERLAP, QUASI, Separability, separability

Ties = Mapping[tuple[int, frozenset[int]], float]
"""How many trials of a class (first) have exactly these classes tied with the true one."""


@dataclass(frozen=True)
class AffineCalibration:
    """inf over scale and offsets of the cross-entropy of ``scale * l + offsets``, in nats.

    ``status``: ``overlap`` (attained), ``complete`` and ``quasi`` (approached as the scale, inf or -inf, grows; no
    offsets), ``degenerate`` (scores say nothing: scale NaN, no offsets), ``not_settled`` (attained, but the conditions
    of a minimum do not hold there: a lower one may be). A scale may be negative. Offsets sum to 0.
    """

    status: str
    scale: float
    offsets: tuple[float, ...] | None
    cross_entropy: float
    decrement: float = 0.0
    passes: int = 1


def fit_affine_calibration(
    evaluate: Callable[[AffineMap], NewtonSums],
    first: LogCostSums,
    prior: Sequence[float],
    ties: Callable[[Separability, int], Ties],
) -> AffineCalibration:
    """The minimum from sums over all trials: ``first`` once, ``evaluate`` once a pass.

    ``evaluate`` may run anywhere: here, or as a map over tiles. ``ties`` counts tied trials of a quasi-separable set,
    for its exact infimum. Every class needs a trial.
    """
    mass = first.mass.tolist()
    if not all(n > 0.0 for n in mass):
        raise ValueError(f"a class has no trial (trials by class: {mass})")
    least, largest = first.least[first.unit], first.largest[first.unit]
    verdict = separability(least, largest)
    # Scale 1 and scale 0 are among the maps: rounding must not say otherwise.
    ceiling = min(first.cross_entropy(prior), prior_entropy(prior))
    if verdict.status == DEGENERATE:
        return AffineCalibration(DEGENERATE, math.nan, None, ceiling)
    if verdict.status == COMPLETE:
        return AffineCalibration(COMPLETE, verdict.sign * math.inf, None, 0.0)
    weights = [p / n for p, n in zip(prior, mass, strict=True)]
    if verdict.status == QUASI:
        value = min(infimum_of_ties(ties(verdict, first.unit), prior, weights), ceiling)
        return AffineCalibration(QUASI, verdict.sign * math.inf, None, value, passes=2)
    found = newton.minimise(lambda at: evaluate(at).objective(weights), _flat(least, largest, first.unit))
    last = evaluate(found.at).objective(weights)
    deltas = found.at.deltas
    middle = math.fsum(deltas) / len(prior)
    return AffineCalibration(
        OVERLAP if found.settled else NOT_SETTLED,
        found.at.gamma,
        tuple(delta - middle for delta in deltas),
        min(last.value, found.value, ceiling),
        found.decrement,
        found.passes + 2,
    )


def _flat(least: Floats, largest: Floats, unit: int) -> AffineMap:
    """The constant map about the middles of what each class scores less the last one."""
    low, high = np.minimum(least, -largest.T) / 2.0, np.maximum(largest, -least.T) / 2.0
    highest = ldexp(sys.float_info.max, -unit)
    pivots = np.clip(low[:, -1] + high[:, -1], -highest, highest)
    pivots[-1] = 0.0
    apart = pivots / 2.0 - pivots[:, None] / 2.0
    furthest = float(np.maximum(np.abs(low + apart), np.abs(high + apart)).max())
    exponent = math.frexp(furthest)[1] + 1 + unit
    return AffineMap(exponent, 0.0, tuple(ldexp(pivot, unit) for pivot in pivots.tolist()), (0.0,) * pivots.size)


def ties_of(llh: Floats, labels: Labels, verdict: Separability, unit: int, multiplicity: Floats | None = None) -> Ties:
    """Trials of one chunk that stay tied whatever the scale, by true class and tied classes; chunks add up.

    ``unit`` is that of the margins of the verdict (``LogCostSums.unit``).
    """
    margins = verdict.sign * margins_of(llh, labels, unit)
    with np.errstate(over="ignore"):
        highest = verdict.margin + verdict.tolerance
    tied = verdict.tied[labels] & (margins <= highest[labels])
    counts: dict[tuple[int, frozenset[int]], float] = {}
    for row in np.flatnonzero(tied.any(axis=1)).tolist():
        others = frozenset(np.flatnonzero(tied[row]).tolist())
        pattern = (int(labels[row]), others)
        counts[pattern] = counts.get(pattern, 0.0) + (1.0 if multiplicity is None else float(multiplicity[row]))
    return counts


def infimum_of_ties(ties: Ties, prior: Sequence[float], weights: Sequence[float]) -> float:
    """The limit of the cost of a quasi-separable set as the scale grows: only tied classes still compete, nats."""
    rows = sorted((y, tuple(sorted(others)), n) for (y, others), n in ties.items() if n)
    nowhere = (0.0,) * len(prior)
    return newton.balance(
        lambda at: _tied_objective(rows, prior, weights, at.offsets), AffineMap(0, 0.0, nowhere, nowhere)
    )


def _tied_objective(
    rows: list[tuple[int, tuple[int, ...], float]], prior: Sequence[float], weights: Sequence[float], offsets: Vector
) -> Objective:
    """The cost of tied trials at offsets; alpha changes nothing."""
    k, value = len(prior), []
    pulls, coupling, nothing = ([[0.0] * k for _ in range(k)] for _ in range(3))
    for y, others, n in rows:
        odds = {i: math.exp(offsets[i] - offsets[y]) * prior[i] / prior[y] for i in others}
        total = 1.0 + math.fsum(odds.values())
        p = {y: 1.0 / total, **{i: odd / total for i, odd in odds.items()}}
        weight = weights[y] * n
        value.append(weight * math.log1p(math.fsum(odds.values())))
        for i in others:
            pulls[i][y] += weight * p[i]
            pulls[y][i] -= weight * p[i]
        for i, j in combinations(p, 2):
            coupling[i][j] += weight * p[i] * p[j]
            coupling[j][i] = coupling[i][j]
    return Objective(math.fsum(value), 0.0, 0.0, *(tuple(map(tuple, matrix)) for matrix in (pulls, coupling, nothing)))
