"""Lines of equal cost on a DET plot: P_miss + β P_fa is the same everywhere on one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from pipeline.report.board import BoardEntry
from pipeline.report.plots.det import Axis, DetCurve, IsoLine, cost_weight
from pipeline.report.plots.linear import joined

VALUES = (0.8, 0.6, 0.4, 0.2, 0.0)
"""Term-weighted values, and one minus detection costs, at which lines are drawn."""
N_POINTS = 60
_AGREE = 1e-6


def iso_lines(shown: Sequence[tuple[BoardEntry, DetCurve]], x: Axis, y: Axis) -> tuple[IsoLine, ...]:
    """Lines at round costs, where all systems of a board have one cost function of both rates; none where not."""
    found = [one for entry, curve in shown if (one := cost_weight(entry, curve)) is not None]
    if not found or max(w for w, _ in found) - min(w for w, _ in found) > _AGREE * found[0][0]:
        return ()
    (weight, name), spread = found[0], _between(x)
    lowest, highest = y.low * (1.0 + 1e-9), min(y.high, 1.0 - 1e-9)
    lines = []
    for value in VALUES:
        ends = (1.0 - value - np.array([lowest, highest * (1.0 - 1e-9)])) / weight  # where it leaves the miss axis
        rates = np.sort(np.append(spread, ends[(ends > x.low) & (ends < x.high)]))
        misses = (1.0 - value) - weight * rates
        seen: NDArray[np.bool_] = (misses > y.low) & (misses < highest)
        if seen.sum() < 2:
            continue
        points = np.stack([x.at(rates[seen]), y.at(misses[seen])], axis=1).tolist()
        path = joined(points)
        if points[0][1] < min(y.start, y.end) + 14:
            points = [point for point in points if point[1] >= min(y.start, y.end) + 14] or points
        told = value if name == "TWV" else 1.0 - value
        lines.append(IsoLine(path, round(points[0][0] + 4, 1), round(points[0][1] - 3, 1), f"{name} {told:.1f}"))
    return tuple(lines)


def _between(x: Axis) -> NDArray[np.float64]:
    """False-alarm rates over the axis, evenly spread on it."""
    return np.asarray(ndtr(np.linspace(ndtri(x.low), ndtri(x.high), N_POINTS)), np.float64)
