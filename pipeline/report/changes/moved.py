"""Changes since the run before, figure by figure, and a picture of the primary measure. Nothing is computed here."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.metrics.best import change
from pipeline.report.board import ALL, RunBoards
from pipeline.report.changes.diff import CellDiff, Diff, Moved
from pipeline.report.headline import headline
from pipeline.report.plots.rows import ROW, TOP, PlotRow, RowPoint, RowsPlot, axis_of
from pipeline.report.words import label, printable, short

ROWS_AT_MOST = 500


@dataclass(frozen=True, slots=True)
class MovedFigure:
    """One figure of one cell, and whether it is better now (+1), worse (-1) or neither (0)."""

    cell: CellDiff
    moved: Moved
    unit: str
    way: int


@dataclass(frozen=True, slots=True)
class Movement:
    """The figures that boards lead with, as far as they moved: ``n_rows`` of them, and one picture a board."""

    rows: tuple[MovedFigure, ...]
    n_rows: int
    plots: tuple[RowsPlot, ...]


NOTHING = Movement((), 0, ())


def movement(changes: Diff | None, run: RunBoards) -> Movement:
    """Changes in the order of the comparison's cells and of the boards' columns."""
    if changes is None:
        return NOTHING
    measures = {measure.name: measure for measure in headline(run)}
    rows = [
        MovedFigure(
            cell, moved, measures[moved.name].unit, change(moved.before, moved.after, measures[moved.name].better)
        )
        for cell in changes.cells
        for moved in sorted(cell.figures, key=lambda one: list(measures).index(one.name) if one.name in measures else 0)
        if moved.name in measures
    ]
    return Movement(tuple(rows[:ROWS_AT_MOST]), len(rows), _plots(changes, run))


def _plots(changes: Diff, run: RunBoards) -> tuple[RowsPlot, ...]:
    """The primary measure of the cells where it moved and is defined on both sides, all boards on one scale."""
    found = {
        (cell.cell.query_set, cell.cell.dataset, cell.cell.system): moved
        for cell in changes.cells
        for moved in cell.figures
        if moved.name == run.primary and math.isfinite(moved.by)
    }
    if not found:
        return ()
    x = axis_of([value for moved in found.values() for value in (moved.before, moved.after)])
    plots = []
    for board in run.boards_of(ALL):
        places = [(entry.system, (board.query_set, board.dataset, entry.system)) for entry in board.entries]
        own = [(system, found[place]) for system, place in places if place in found]
        rows = tuple(
            PlotRow(
                system,
                (style := run.systems.index(system)),
                TOP + ROW * (at + 0.65),
                (
                    RowPoint("best", x.on(moved.before), system, style, f"before {short(moved.before)}"),
                    RowPoint("actual", x.on(moved.after), system, style, f"now {short(moved.after)}"),
                ),
                span=(x.on(moved.before), x.on(moved.after)),
            )
            for at, (system, moved) in enumerate(own)
        )
        told = "; ".join(f"{system}: {short(moved.before)}, now {short(moved.after)}" for system, moved in own)
        words = printable(f"{label(run.primary)} of {len(rows)} systems before and now. {told}.")
        if rows:
            plots.append(RowsPlot(board.query_set, board.dataset, x, str(label(run.primary)), rows, words))
    return tuple(plots)
