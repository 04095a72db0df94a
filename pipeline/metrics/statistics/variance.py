"""The variance of figures of (query, system): a two-way table without repetition, split into its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.metrics.statistics.agreement import constant


@dataclass(frozen=True)
class VarianceSplit:
    """Shares of the summed squares, which add up to 1, and variance components (random effects, Searle et al. 1992).

    Components below 0 are 0, as is usual. NaN where the table has fewer than two rows or columns, or no spread.
    """

    n_units: int
    n_systems: int
    share_unit: float = math.nan
    share_system: float = math.nan
    share_rest: float = math.nan
    """Interaction and error, which one observation a cell does not tell apart."""
    variance_unit: float = math.nan
    variance_system: float = math.nan
    variance_rest: float = math.nan


def split_variance(table: Floats) -> VarianceSplit:
    """The split of a complete table, shape (units, systems)."""
    n, k = table.shape
    if n < 2 or k < 2 or constant(table):
        return VarianceSplit(n, k)
    mean = table.mean()
    by_unit, by_system = table.mean(axis=1) - mean, table.mean(axis=0) - mean
    rest = table - mean - by_unit[:, None] - by_system[None, :]
    squares = np.array([k * (by_unit**2).sum(), n * (by_system**2).sum(), (rest**2).sum()])
    shares = squares / squares.sum()
    mean_unit, mean_system, mean_rest = squares / np.array([n - 1, k - 1, (n - 1) * (k - 1)])
    components = (max(0.0, (mean_unit - mean_rest) / k), max(0.0, (mean_system - mean_rest) / n), float(mean_rest))
    return VarianceSplit(n, k, *shares.tolist(), *map(float, components))


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's rank correlation of pairs without NaN; NaN for fewer than three or where one side is constant."""
    from scipy.stats import spearmanr

    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    if first.size < 3 or constant(first) or constant(second):
        return math.nan
    return float(spearmanr(first, second).statistic)


def pareto(value: Floats, load: Floats) -> NDArray[np.bool_]:
    """Which systems no other one beats in both: at least as high a value for at most the load, one of them better.

    NaN is never on the front.
    """
    known = ~(np.isnan(value) | np.isnan(load))
    better = (value[None, :] >= value[:, None]) & (load[None, :] <= load[:, None])
    strictly = (value[None, :] > value[:, None]) | (load[None, :] < load[:, None])
    return np.asarray(known & ~(better & strictly & known[None, :]).any(axis=1))
