"""Bootstrap intervals from replicates of a figure (Efron & Tibshirani 1993): percentile and BCa, by SciPy."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.statistics.agreement import constant
from pipeline.metrics.statistics.draws import weights
from pipeline.metrics.statistics.resampling import INFINITE, Sample

Method = Literal["percentile", "bca"]
TOO_FEW = "too_few_units"
"""Reason: there is no spread to see in fewer than two units."""
CONSTANT = "constant"
"""Reason: all replicates are equal, so no interval can be told from a point."""
_AT_ONCE = 2_000_000
"""Weights held at a time."""


@dataclass(frozen=True)
class Interval:
    """An interval of a figure; ``low`` and ``high`` are NaN exactly where ``reason`` says why there is none."""

    value: float
    """The figure of the units as they are."""
    low: float = math.nan
    high: float = math.nan
    n_units: int = 0
    method: str = "percentile"
    reason: str | None = None


def replicates(sample: Sample, seed: int, which: range, strata: Ints | None = None) -> Floats:
    """The figure in replicates numbered ``which``: the same numbers whatever else is computed beside them."""
    own = sample.strata if strata is None else strata
    step = max(1, _AT_ONCE // max(1, own.size))
    blocks = (range(start, min(start + step, which.stop)) for start in range(which.start, which.stop, step))
    parts = [sample.values(_drawn(seed, block, own.tobytes())) for block in blocks]
    return np.concatenate([np.zeros(0), *parts])


@lru_cache(maxsize=2)
def _drawn(seed: int, which: range, strata: bytes) -> Ints:
    """``weights``, kept: the systems of a board, and often all boards, have the same units."""
    drawn = weights(seed, which, np.frombuffer(strata, np.int64))
    drawn.setflags(write=False)
    return drawn


def interval(sample: Sample, values: Floats, *, level: float = 0.95, method: Method = "percentile") -> Interval:
    """The interval from a sample's replicates. Replicates without the figure are left out; BCa that does not exist
    (all jackknife values are equal) becomes the percentile interval, and says so in ``method``."""
    n_units = len(sample.units)
    point = float(sample.values(np.ones((1, n_units), np.int64))[0])
    known = values[~np.isnan(values)]
    reason = TOO_FEW if n_units < 2 or known.size < 2 else CONSTANT if constant(known) else None
    if np.isinf(known).any():
        reason = INFINITE
    if reason is not None:
        return Interval(point, n_units=n_units, method=method, reason=reason)
    if method == "bca":
        low, high = _scipy(sample, known, level, "BCa")
        if math.isfinite(low) and math.isfinite(high):
            return Interval(point, low, high, n_units, method)
    low, high = np.quantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]).tolist()
    return Interval(point, low, high, n_units)


def _scipy(sample: Sample, values: Floats, level: float, method: Any) -> tuple[float, float]:
    """SciPy's interval from replicates that were drawn elsewhere; it draws none itself."""
    from scipy.stats import bootstrap

    n_units = len(sample.units)

    def statistic(units: Ints, axis: int = -1) -> Floats:
        rows = np.moveaxis(np.asarray(units), axis, -1)
        flat = rows.reshape(-1, rows.shape[-1])
        counts = np.stack([np.bincount(row, minlength=n_units) for row in flat])
        return sample.values(counts).reshape(rows.shape[:-1])

    drawn: Any = SimpleNamespace(bootstrap_distribution=values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # degenerate ones are found by what comes back
        found = bootstrap(
            (np.arange(n_units),),
            statistic,
            n_resamples=0,
            bootstrap_result=drawn,
            confidence_level=level,
            method=method,
            batch=max(1, _AT_ONCE // n_units),
        )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
