"""The meaning of scores: the log-likelihood ratio that pool-adjacent-violators gives every score (table ``pav``)."""

from __future__ import annotations

import math

from pipeline.report.cells import BoardCells, Row, ScoredCell, number
from pipeline.report.plots.linear import Linear, joined, over
from pipeline.report.plots.marks import Trace
from pipeline.report.plots.xy import X_PIXELS, Y_PIXELS, Plot, Section
from pipeline.report.words import printable

TITLE = "Calibration map"
HINT = (
    "The log-likelihood ratio that the trials give each score (pool adjacent violators). Scores that are "
    "log-likelihood ratios lie on the dotted line. Infinite ratios lie on the edge."
)


def pav_section(boards: tuple[BoardCells, ...]) -> Section | None:
    """One plot per board whose results have the table ``pav``; None where none has."""
    plots = tuple(plot for board in boards if (plot := _plot(board)) is not None)
    return Section("pav", TITLE, HINT, plots) if plots else None


def _plot(board: BoardCells) -> Plot | None:
    cells = board.having("pav")
    rows = [row for cell in cells for row in cell.table("pav")]
    scores = [s for row in rows for s in (number(row, "score_min"), number(row, "score_max")) if math.isfinite(s)]
    ratios = [ratio for row in rows if math.isfinite(ratio := number(row, "llr"))]
    if not scores or not ratios:
        return None
    top = max(*(abs(ratio) for ratio in ratios), 1.0) * 1.1
    x, y = over(scores, *X_PIXELS), Linear(-top, top, *Y_PIXELS)
    first, last = max(min(scores), -top), min(max(scores), top)
    guide = (joined([(x.on(first), y.on(first)), (x.on(last), y.on(last))]),) if first < last else ()
    lines = tuple(_line(cell, x, y) for cell in cells)
    words = f"Log-likelihood ratio over score, {', '.join(printable(cell.system) for cell in cells)}."
    return Plot(
        board.query_set,
        board.dataset,
        x,
        y,
        "Score",
        "Log-likelihood ratio (nat)",
        lines,
        words,
        guide,
    )


def _line(cell: ScoredCell, x: Linear, y: Linear) -> Trace:
    steps = [point for row in cell.table("pav") for point in _step(row, x, y)]
    return Trace(cell.system, cell.style, joined(steps))


def _step(row: Row, x: Linear, y: Linear) -> list[tuple[float, float] | None]:
    """The two ends of one pooled block; an end at infinity lies on the edge."""
    ratio, ends = number(row, "llr"), (number(row, "score_min"), number(row, "score_max"))
    if math.isnan(ratio) or any(math.isnan(end) for end in ends):
        return [None]
    return [(x.on(end), y.on(ratio)) for end in ends]
