"""Term-weighted value against the decision threshold, from the curves of the grid."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pipeline.report.board import ALL, Board, Run
from pipeline.report.det import Curve
from pipeline.report.linear import Linear, joined
from pipeline.report.marks import Line, Mark
from pipeline.report.words import printable, short
from pipeline.report.xy import X_PIXELS, Y_PIXELS, Plot, Section

LOWEST = -1.0
"""Values below are put on the edge: a threshold that accepts everything may cost thousands."""
TITLE = "Value against threshold"
HINT = (
    "Term-weighted value at every threshold. The diamond is the best threshold, the tick at the left edge the value of "
    "the submitted decisions: their distance is what the choice of decisions lost. Values below −1 lie on the edge."
)


def threshold_section(run: Run, curves: Mapping[tuple[str, str, str], Curve]) -> Section | None:
    """One plot per board that has curves with thresholds and values; None where there are none."""
    places = {place: at for at, place in enumerate(curves)}
    plots = [plot for board in run.boards_of(ALL) if (plot := _plot(run, board, curves, places)) is not None]
    return Section("thresholds", TITLE, HINT, tuple(plots)) if plots else None


def _plot(
    run: Run,
    board: Board,
    curves: Mapping[tuple[str, str, str], Curve],
    places: Mapping[tuple[str, str, str], int],
) -> Plot | None:
    found = []
    for entry in board.entries:
        place = (entry.system, board.query_set, board.dataset)
        curve = curves.get(place)
        if curve is not None and curve.twv is not None and _rows(curve).size > 1:
            found.append((entry, curve, places[place]))
    if not found:
        return None
    x, y = _axes([curve for _, curve, _ in found])
    lines = tuple(_line(run, entry.system, curve, at, x, y) for entry, curve, at in found)
    actual = [(entry.system, entry.figures[run.primary].value) for entry, _, _ in found]
    ticks = tuple(f"M{x.start} {y.on(value)}h9" for _, value in actual if math.isfinite(value))
    told = "; ".join(f"{line.system}: {line.best.text}" for line in lines if line.best)
    words = printable(f"Term-weighted value over the threshold, {len(lines)} systems. {told}.")
    return Plot(board.query_set, board.dataset, x, y, "Threshold", "Term-weighted value", lines, words, ticks)


def _rows(curve: Curve) -> np.ndarray:
    if curve.twv is None or curve.threshold is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.isfinite(curve.threshold) & np.isfinite(curve.twv))


def _axes(curves: list[Curve]) -> tuple[Linear, Linear]:
    """Axes that show where values are worth looking at: above the lowest one shown, for any system."""
    shown, highest = [], 0.0
    for curve in curves:
        rows = _rows(curve)
        if curve.twv is None or curve.threshold is None:
            continue
        worth = rows[curve.twv[rows] > LOWEST]
        shown += curve.threshold[worth if worth.size > 1 else rows].tolist()
        highest = max(highest, float(curve.twv[rows].max()))
    low, high = min(shown), max(shown)
    x = Linear(low, high if high > low else low + 1.0, *X_PIXELS)
    return x, Linear(LOWEST, 1.0 if highest > 0.5 else max(highest * 1.25, 0.1), *Y_PIXELS)


def _line(run: Run, system: str, curve: Curve, at: int, x: Linear, y: Linear) -> Line:
    rows, best, mark = _rows(curve), curve.best, None
    places: dict[int, tuple[float, float]] = {}
    for row in rows.tolist():
        if curve.twv is not None and curve.threshold is not None:
            places[row] = float(curve.threshold[row]), float(curve.twv[row])
    if best in places:
        threshold, value = places[best]
        mark = Mark(x.on(threshold), y.on(value), f"maximum {short(value)} at threshold {short(threshold)}")
    path = joined([(x.on(threshold), y.on(value)) for threshold, value in places.values()])
    whole = rows.size == rows[-1] - rows[0] + 1
    return Line(system, run.systems.index(system), path, best=mark, curve=at if whole else -1, first=int(rows[0]))
