"""The least cross-entropy over affine recalibrations of K classes (plan 001 eq 9; seed 000 eq 44-45, any sign)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.metrics import newton
from pipeline.metrics.multiclass import Floats, Labels, LogCostSums, prior_entropy
from pipeline.metrics.multiclass_sums import NewtonSums
from pipeline.metrics.newton import Objective, Vector
from pipeline.metrics.separability import COMPLETE, DEGENERATE, OVERLAP, Separability, separability

Ties = Mapping[tuple[int, frozenset[int]], float]
"""How many trials of a class (first) have exactly these classes tied with the true one."""


@dataclass(frozen=True)
class AffineCalibration:
    """inf over scale and offsets of the cross-entropy of ``scale * l + offsets``, in nats.

    ``status``: ``overlap`` (attained), ``complete`` and ``quasi`` (approached as the scale, inf or -inf, grows; no
    offsets), ``degenerate`` (scores say nothing: scale NaN, no offsets). A scale may be negative. Offsets sum to 0.
    """

    status: str
    scale: float
    offsets: tuple[float, ...] | None
    cross_entropy: float
    decrement: float = 0.0
    passes: int = 1


def fit_affine_calibration(
    evaluate: Callable[[float, Vector], NewtonSums],
    first: LogCostSums,
    prior: Sequence[float],
    ties: Callable[[Separability], Ties] | None = None,
) -> AffineCalibration:
    """The minimum from sums over all trials: ``first`` once, ``evaluate(scale, offsets)`` once a pass.

    ``evaluate`` may run anywhere: here, or as a map over tiles. ``ties`` counts tied trials of a quasi-separable set,
    for its exact infimum; without it the last value of the search stands for it. Every class needs a trial.
    """
    mass = first.mass.tolist()
    if not all(n > 0.0 for n in mass):
        raise ValueError(f"a class has no trial (trials by class: {mass})")
    verdict = separability(first.margin_min, first.margin_max)
    # Scale 1 and scale 0 are among the maps: rounding must not say otherwise.
    ceiling = min(first.cross_entropy(prior), prior_entropy(prior))
    if verdict.status == DEGENERATE:
        return AffineCalibration(DEGENERATE, math.nan, None, ceiling)
    if verdict.status == COMPLETE:
        return AffineCalibration(COMPLETE, verdict.sign * math.inf, None, 0.0)
    weights = [p / n for p, n in zip(prior, mass, strict=True)]
    if verdict.status != OVERLAP and ties is not None:
        value = min(infimum_of_ties(ties(verdict), prior, weights), ceiling)
        return AffineCalibration(verdict.status, verdict.sign * math.inf, None, value, passes=2)
    found = newton.minimise(lambda place: evaluate(place[0], (*place[1:], 0.0)).objective(weights), (0.0,) * len(prior))
    last = evaluate(found.at[0], (*found.at[1:], 0.0)).objective(weights)
    value = min(last.value, found.value, ceiling)
    passes = found.passes + 2
    if verdict.status != OVERLAP:
        scale = verdict.sign * math.inf
        return AffineCalibration(verdict.status, scale, None, value, found.decrement, passes)
    middle = math.fsum(found.at[1:]) / len(prior)
    offsets = tuple(beta - middle for beta in (*found.at[1:], 0.0))
    return AffineCalibration(OVERLAP, found.at[0], offsets, value, found.decrement, passes)


def calibrate(
    llh: Floats, labels: Labels, prior: Sequence[float], multiplicity: Floats | None = None
) -> tuple[AffineCalibration, LogCostSums]:
    """The minimum over trials that are all here, and the sums of the first pass.

    ``llh`` (T, K) finite, ``labels`` (T,) in [0, K), ``prior`` (K,) positive; ``multiplicity`` counts equal rows.
    """
    first = LogCostSums.from_trials(llh, labels, prior, multiplicity)
    found = fit_affine_calibration(
        lambda scale, offsets: NewtonSums.from_trials(llh, labels, prior, (scale, *_gauged(offsets)), multiplicity),
        first,
        prior,
        lambda verdict: ties_of(llh, labels, verdict, multiplicity),
    )
    return found, first


def _gauged(offsets: Vector) -> Vector:
    return tuple(beta - offsets[-1] for beta in offsets[:-1])


def ties_of(llh: Floats, labels: Labels, verdict: Separability, multiplicity: Floats | None = None) -> Ties:
    """Trials of one chunk that stay tied whatever the scale, by true class and tied classes; chunks add up."""
    margins = verdict.sign * (llh[np.arange(labels.size), labels][:, None] - llh)
    tied = verdict.tied[labels] & (margins <= verdict.margin[labels] + verdict.tolerance)
    counts: dict[tuple[int, frozenset[int]], float] = {}
    for row in np.flatnonzero(tied.any(axis=1)).tolist():
        others = frozenset(np.flatnonzero(tied[row]).tolist())
        pattern = (int(labels[row]), others)
        counts[pattern] = counts.get(pattern, 0.0) + (1.0 if multiplicity is None else float(multiplicity[row]))
    return counts


def infimum_of_ties(ties: Ties, prior: Sequence[float], weights: Sequence[float]) -> float:
    """What is left of the cost of a quasi-separable set as the scale grows: only tied classes still compete, nats."""
    rows = sorted((y, tuple(sorted(others)), n) for (y, others), n in ties.items() if n)
    found = newton.minimise(lambda place: _tied_objective(rows, prior, weights, place), (0.0,) * len(prior))
    return min(found.value, _tied_objective(rows, prior, weights, found.at).value)


def _tied_objective(
    rows: list[tuple[int, tuple[int, ...], float]], prior: Sequence[float], weights: Sequence[float], place: Vector
) -> Objective:
    k = len(prior)
    value, gradient = [], [0.0] * k
    # A direction in which nothing changes (a constant over tied classes) gets a curvature, so that it gets no step.
    group = _components(rows, k)
    hessian = [[1.0 if group[i] == group[j] else 0.0 for j in range(k)] for i in range(k)]
    for y, others, n in rows:
        odds = {i: math.exp(place[i] - place[y]) * prior[i] / prior[y] for i in others}
        total = 1.0 + math.fsum(odds.values())
        p = {y: 1.0 / total, **{i: odd / total for i, odd in odds.items()}}
        weight = weights[y] * n
        value.append(weight * math.log1p(math.fsum(odds.values())))
        for i, p_i in p.items():
            gradient[i] += weight * (p_i - (1.0 if i == y else 0.0))
            for j, p_j in p.items():
                hessian[i][j] += weight * ((p_i if i == j else 0.0) - p_i * p_j)
    return Objective(math.fsum(value), tuple(gradient), tuple(map(tuple, hessian)))


def _components(rows: list[tuple[int, tuple[int, ...], float]], k: int) -> list[int]:
    """Which classes hang together by ties, as the least class of each group."""
    group = list(range(k))
    for _ in range(k):
        for y, others, _n in rows:
            least = min(group[i] for i in (y, *others))
            for i in (y, *others):
                group[i] = least
    return group
