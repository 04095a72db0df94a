"""Term-weighted value against the decision threshold, from the curves of the grid."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pipeline.protocols import decided_and_best
from pipeline.report.board import ALL, Board, BoardEntry, RunBoards
from pipeline.report.plots.det import DetCurve
from pipeline.report.plots.linear import Linear, joined, over
from pipeline.report.plots.marks import Mark, Trace
from pipeline.report.plots.xy import X_PIXELS, Y_PIXELS, Plot, Section
from pipeline.report.words import label, printable, short

LOWEST = -1.0
"""Values below are put on the edge: a threshold that accepts everything may cost thousands."""
TITLE = "Value against threshold"
HINT = (
    "Term-weighted value at every threshold. The diamond is the best threshold, the circle at the left edge the value "
    "of the submitted decisions: how much lower it lies is what these lost. Values below −1 lie on the edge."
)


def threshold_section(run: RunBoards, curves: Mapping[tuple[str, str, str], DetCurve]) -> Section | None:
    """One plot per board that has curves with thresholds and values; None where there are none."""
    places = {place: at for at, place in enumerate(curves)}
    plots = [plot for board in run.boards_of(ALL) if (plot := _plot(run, board, curves, places)) is not None]
    return Section("thresholds", TITLE, HINT, tuple(plots)) if plots else None


def _plot(
    run: RunBoards,
    board: Board,
    curves: Mapping[tuple[str, str, str], DetCurve],
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
    lines = tuple(_line(run, entry, curve, at, x, y) for entry, curve, at in found)
    told = "; ".join(f"{line.system}: {line.best.text}" for line in lines if line.best)
    words = printable(f"Term-weighted value over the threshold, {len(lines)} systems. {told}.")
    return Plot(board.query_set, board.dataset, x, y, "Threshold", "Term-weighted value", lines, words)


def _rows(curve: DetCurve) -> np.ndarray:
    if curve.twv is None or curve.threshold is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.isfinite(curve.threshold) & np.isfinite(curve.twv))


def _axes(curves: list[DetCurve]) -> tuple[Linear, Linear]:
    """Axes that show where values are worth looking at: above the lowest one shown, for any system."""
    shown, highest = [], 0.0
    for curve in curves:
        rows = _rows(curve)
        if curve.twv is None or curve.threshold is None:
            continue
        worth = rows[curve.twv[rows] > LOWEST]
        shown += curve.threshold[worth if worth.size > 1 else rows].tolist()
        highest = max(highest, float(curve.twv[rows].max()))
    return over(shown, *X_PIXELS), Linear(LOWEST, 1.0 if highest > 0.5 else max(highest * 1.25, 0.1), *Y_PIXELS)


def _line(run: RunBoards, entry: BoardEntry, curve: DetCurve, at: int, x: Linear, y: Linear) -> Trace:
    rows, best, mark, path = _rows(curve), curve.best, None, ""
    if curve.twv is not None and curve.threshold is not None:
        path = joined(zip(x.at(curve.threshold[rows]).tolist(), y.at(curve.twv[rows]).tolist(), strict=True))
        if best is not None and best in rows:
            threshold, value = float(curve.threshold[best]), float(curve.twv[best])
            mark = Mark(x.on(threshold), y.on(value), f"maximum {short(value)} at threshold {short(threshold)}")
    whole = rows.size == rows[-1] - rows[0] + 1
    return Trace(
        system=entry.system,
        style=run.systems.index(entry.system),
        path=path,
        actual=_actual(entry, x, y),
        best=mark,
        curve=at if whole else -1,
        first=int(rows[0]),
    )


def _actual(entry: BoardEntry, x: Linear, y: Linear) -> Mark | None:
    """The value of the submitted decisions, which have no threshold, on the left edge."""
    found = decided_and_best(entry.figures)
    name = None if found is None else found[0]
    value = math.nan if name is None else entry.figures[name].value
    if name is None or not math.isfinite(value):
        return None
    return Mark(x.start, y.on(value), f"{label(name)} {short(value)}")
