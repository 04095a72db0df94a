"""Lines of equal cost on a DET plot: P_miss + β P_fa is the same everywhere on one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from pipeline.report.board import Entry
from pipeline.report.det import Axis, Curve, IsoLine

VALUES = (0.8, 0.6, 0.4, 0.2, 0.0)
"""Term-weighted values, and one minus detection costs, at which lines are drawn."""
N_POINTS = 60
_AGREE = 1e-6


def iso_lines(shown: Sequence[tuple[Entry, Curve]], x: Axis, y: Axis) -> tuple[IsoLine, ...]:
    """Lines at round costs, where all systems of a board have one cost function of both rates; none where not."""
    found = [one for entry, curve in shown if (one := _weight(entry, curve)) is not None]
    if not found or max(w for w, _ in found) - min(w for w, _ in found) > _AGREE * found[0][0]:
        return ()
    (weight, name), rates = found[0], _between(x)
    lines = []
    for value in VALUES:
        misses = (1.0 - value) - weight * rates
        seen: NDArray[np.bool_] = (misses > y.low) & (misses < min(y.high, 1.0 - 1e-9))
        if seen.sum() < 2:
            continue
        points = np.stack([x.at(rates[seen]), y.at(misses[seen])], axis=1).tolist()
        path = "M" + "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        if points[0][1] < min(y.start, y.end) + 14:
            points = [point for point in points if point[1] >= min(y.start, y.end) + 14] or points
        told = value if name == "TWV" else 1.0 - value
        lines.append(IsoLine(path, round(points[0][0] + 4, 1), round(points[0][1] - 3, 1), f"{name} {told:.1f}"))
    return tuple(lines)


def _between(x: Axis) -> NDArray[np.float64]:
    """False-alarm rates over the axis, evenly spread on it."""
    return np.asarray(ndtr(np.linspace(ndtri(x.low), ndtri(x.high), N_POINTS)), np.float64)


def _weight(entry: Entry, curve: Curve) -> tuple[float, str] | None:
    """β and the name of the cost, from the sweep where it has values, from the figures of a mean cost where not."""
    if curve.twv is not None:
        known = np.flatnonzero(np.isfinite(curve.twv) & (curve.p_fa > 0))
        if known.size:
            at = known[int(np.argmax(curve.p_fa[known]))]
            return float((1.0 - curve.twv[at] - curve.p_miss[at]) / curve.p_fa[at]), "TWV"
    values = [entry.figures[name].value if name in entry.figures else math.nan for name in ("ndc", "p_md", "p_fa")]
    if all(math.isfinite(value) for value in values) and values[2] > 0:
        return (values[0] - values[1]) / values[2], "NDC"
    return None
