"""Whether systems differ on the same units: exchanging outcomes (Fisher's randomisation) and paired bootstrap.

Contributions of units (see ``resampling``) are put on one grid of integers, so that ties between exchanged and observed
differences are found exactly and no partition of the exchanges shows. Wilcoxon's test, MAPSSWE and Holm's correction
are in ``significance``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.metrics.statistics.draws import signs
from pipeline.metrics.statistics.resampling import to_grid

N_EXCHANGES = 10_000
_AT_ONCE = 2048
_MOST_EXACT_UNITS = 16


def randomisation(contributions: Floats, *, seed: int, n_exchanges: int = N_EXCHANGES) -> Floats:
    """Two-sided p of every pair of systems, shape (systems, systems), from contributions (systems, units).

    Each unit's outcomes are exchanged between the two systems or not. All 2**units exchanges where there are no more
    than ``n_exchanges``, then p is exact; otherwise (1 + those at least as extreme) / (1 + ``n_exchanges``).
    """
    n_systems, n_units = contributions.shape
    scaled, _ = to_grid(contributions, 2 * n_units)
    # Equal differences may come out apart by the rounding of each contribution to the grid, at most this much.
    observed = _differences(scaled.sum(axis=1)[None, :])[0] - n_units
    exact = n_units <= _MOST_EXACT_UNITS and 2**n_units <= n_exchanges
    extreme = np.zeros((n_systems, n_systems), np.int64)
    for block in _every_sign(n_units) if exact else _drawn_signs(seed, n_exchanges, n_units):
        extreme += (_differences(block @ scaled.T) >= observed).sum(axis=0)
    total, seen = (2**n_units, extreme) if exact else (1 + n_exchanges, 1 + extreme)
    return np.asarray(seen / total, np.float64)


def exchanges_for(n_systems: int, level: float) -> int:
    """How many exchanges let Holm's correction over all pairs reach 1 - ``level`` with room to spare."""
    n_pairs = n_systems * (n_systems - 1) // 2
    return max(N_EXCHANGES, math.ceil(4 * n_pairs / (1.0 - level)))


def _differences(sums: Floats) -> Floats:
    """|difference| of every pair, shape (exchanges, systems, systems); exact, since the sums are integers."""
    return np.asarray(np.abs(sums[:, :, None] - sums[:, None, :]))


def _every_sign(n_units: int) -> Iterator[Floats]:
    patterns = np.arange(2**n_units)
    for start in range(0, patterns.size, _AT_ONCE):
        bits = (patterns[start : start + _AT_ONCE, None] >> np.arange(n_units)) & 1
        yield np.asarray(1.0 - 2.0 * bits, np.float64)


def _drawn_signs(seed: int, n_exchanges: int, n_units: int) -> Iterator[Floats]:
    for start in range(0, n_exchanges, _AT_ONCE):
        yield signs(seed, range(start, min(start + _AT_ONCE, n_exchanges)), n_units)


def bootstrap_p(first: Floats, second: Floats) -> float:
    """Two-sided p that two figures are equal, from their values in the same replicates: twice the smaller share of
    differences on either side of 0, the observed one counted in. NaN without replicates."""
    differences = first - second
    known = differences[~np.isnan(differences)]
    if not known.size:
        return math.nan
    below, above = int((known <= 0).sum()), int((known >= 0).sum())
    return min(1.0, 2.0 * (1 + min(below, above)) / (1 + known.size))


def groups(n_systems: int, differs: NDArray[np.bool_]) -> tuple[range, ...]:
    """Of systems in the order of their ranks: the longest runs in which no pair differs, single ones included.

    Runs may overlap, since not to be told apart is not transitive. ``differs``: shape (systems, systems).
    """
    runs, reached = list[range](), 0
    for first in range(n_systems):
        last = first + 1
        while last < n_systems and not differs[first : last + 1, last].any():
            last += 1
        if last > reached:
            runs.append(range(first, last))
            reached = last
    return tuple(runs)
