"""Reliability diagrams: the share of correct words against their confidence, from the table ``reliability``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.report.cells import BoardCells, Row, ScoredCell, number
from pipeline.report.plots.linear import Linear, joined
from pipeline.report.plots.marks import Mark
from pipeline.report.words import printable, short

SIDE, LEFT, RIGHT, TOP, BOTTOM = 360.0, 52.0, 14.0, 12.0, 46.0
X = Linear(0.0, 1.0, LEFT, SIDE - RIGHT)
Y = Linear(0.0, 1.0, SIDE - BOTTOM, TOP)


@dataclass(frozen=True, slots=True)
class ReliabilityTrace:
    """One system's line, broken at tenths without words, with a point a tenth."""

    system: str
    style: int
    path: str
    marks: tuple[Mark, ...]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class ReliabilityPlot:
    """The diagram of one (query set, dataset)."""

    query_set: str
    dataset: str
    traces: tuple[ReliabilityTrace, ...]


def reliability_plots(boards: tuple[BoardCells, ...]) -> tuple[ReliabilityPlot, ...]:
    """One diagram per board with a system whose words have confidences."""
    plots = []
    for board in boards:
        cells = [cell for cell in board.having("reliability") if any(row["n"] for row in cell.table("reliability"))]
        if cells:
            plots.append(ReliabilityPlot(board.query_set, board.dataset, tuple(_trace(cell) for cell in cells)))
    return tuple(plots)


def describe(plot: ReliabilityPlot) -> str:
    """The diagram in words."""
    names = ", ".join(printable(trace.system) for trace in plot.traces)
    return f"Share of correct words in every tenth of confidence, for {names}. The figures are in the table below."


def _trace(cell: ScoredCell) -> ReliabilityTrace:
    rows = cell.table("reliability")
    points = [_point(row) for row in rows]
    marks = [
        Mark(*point, f"{row['from']:.1f} to {row['to']:.1f}: {short(number(row, 'p_correct'))} of {row['n']} words")
        for row, point in zip(rows, points, strict=True)
        if point
    ]
    return ReliabilityTrace(cell.system, cell.style, joined(points), tuple(marks), rows)


def _point(row: Row) -> tuple[float, float] | None:
    share = number(row, "p_correct")
    if math.isnan(share):
        return None
    return X.on((number(row, "from") + number(row, "to")) / 2), Y.on(share)
