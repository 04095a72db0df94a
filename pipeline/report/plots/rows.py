"""Figures with a row a system or event and points along one axis; one template draws them all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.report.board import ALL, Board, BoardEntry, RunBoards
from pipeline.report.cells import BoardCells, number
from pipeline.report.headline import best_measure
from pipeline.report.plots.linear import NEAREST, Linear, bounds, round_up, step_of
from pipeline.report.uncertainty import Uncertainty
from pipeline.report.words import label, printable, short

WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM = 480.0, 14.0, 14.0, 8.0, 30.0, 44.0
ENDS = (LEFT, WIDTH - RIGHT)
NDC_AT_MOST = 2.0
"""Costs beyond lie on the edge: doing nothing costs 1."""


@dataclass(frozen=True, slots=True)
class RowPoint:
    """One point of a row: ``kind`` is ``actual``, ``best`` or ``dot``."""

    kind: str
    x: float
    system: str
    style: int
    text: str


@dataclass(frozen=True, slots=True)
class PlotRow:
    """One row: a thin line over ``whisker`` with what it means, a thick one over ``span``, and points."""

    label: str
    style: int
    y: float
    points: tuple[RowPoint, ...]
    span: tuple[float, float] | None = None
    whisker: tuple[float, float, str] | None = None


@dataclass(frozen=True, slots=True)
class RowsPlot:
    """The figure of one (query set, dataset)."""

    query_set: str
    dataset: str
    x: Linear
    x_name: str
    rows: tuple[PlotRow, ...]
    words: str
    guide: float | None = None
    """Where a dotted line crosses all rows."""

    @property
    def height(self) -> float:
        """Of the whole figure, in its pixels."""
        return TOP + ROW * len(self.rows) + BOTTOM


@dataclass(frozen=True, slots=True)
class Margins:
    """One measure and what bounds it, on every board: small multiples on one scale."""

    measure: str
    bound: str | None
    plots: tuple[RowsPlot, ...]


def margins(run: RunBoards, known: Mapping[tuple[str, str, str], Uncertainty]) -> tuple[Margins, ...]:
    """The primary measure, with intervals where they are known, then every other measure that has a bound."""
    bounds_of = {measure.name: best_measure(measure.name, run) for measure in run.measures}
    others = [(name, bound) for name, bound in bounds_of.items() if bound and name != run.primary]
    wanted = [(run.primary, best_measure(run.primary, run)), *others]
    made = [_margins(run, name, best, known if name == run.primary else {}) for name, best in wanted]
    return tuple(one for one in made if one.plots)


def _margins(
    run: RunBoards, measure: str, bound: str | None, known: Mapping[tuple[str, str, str], Uncertainty]
) -> Margins:
    boards = run.boards_of(ALL)
    shown = [(board, [e for e in board.entries if math.isfinite(_value(e, measure))]) for board in boards]
    columns = [name for name in (measure, bound) if name]
    values = [v for _, entries in shown for e in entries for n in columns if math.isfinite(v := _value(e, n))]
    values += [end for one in known.values() for end in (one.low, one.high) if math.isfinite(end)]
    if not values:
        return Margins(measure, bound, ())
    x = axis_of(values)
    plots = []
    for board, entries in shown:
        rows = [_margin(run, board, entry, (measure, bound), x, at, known) for at, entry in enumerate(entries)]
        told = "; ".join(f"{row.label}: {', '.join(point.text for point in row.points)}" for row in rows)
        words = printable(f"{label(measure)} of {len(rows)} systems. {told}.")
        plots.append(RowsPlot(board.query_set, board.dataset, x, str(label(measure)), tuple(rows), words))
    return Margins(measure, bound, tuple(plots))


def axis_of(values: Sequence[float]) -> Linear:
    """A round axis over all values, from zero where they are near it."""
    low, high = bounds(values)
    low = min(low, 0.0) if low < 0.5 * high or low < 0 else low
    step = step_of(high - low) if high - low > NEAREST else max(0.1, abs(low) * 2.0**-40)
    first = math.floor(low / step + 1e-9) * step
    return Linear(first, max(math.ceil(high / step - 1e-9) * step, first + step), *ENDS)


def _value(entry: BoardEntry, name: str) -> float:
    return entry.figures[name].value if name in entry.figures else math.nan


def _margin(
    run: RunBoards,
    board: Board,
    entry: BoardEntry,
    measures: tuple[str, str | None],
    x: Linear,
    at: int,
    known: Mapping[tuple[str, str, str], Uncertainty],
) -> PlotRow:
    style, measure, bound = run.systems.index(entry.system), measures[0], measures[1]
    actual = _value(entry, measure)
    best = _value(entry, bound) if bound else math.nan
    points = [RowPoint("actual", x.on(actual), entry.system, style, f"{label(measure)} {short(actual)}")]
    if math.isfinite(best):
        points.insert(0, RowPoint("best", x.on(best), entry.system, style, f"{label(str(bound))} {short(best)}"))
    one = known.get((board.query_set, board.dataset, entry.system))
    whisker = None
    if one is not None and math.isfinite(one.low) and math.isfinite(one.high):
        whisker = (x.on(one.low), x.on(one.high), one.text)
    span = (x.on(actual), x.on(best)) if math.isfinite(best) else None
    return PlotRow(entry.system, style, TOP + ROW * (at + 0.65), tuple(points), span, whisker)


def event_plots(boards: tuple[BoardCells, ...]) -> tuple[RowsPlot, ...]:
    """NDC of every event, a point a system; one plot per board whose blocks are events with costs."""
    plots = []
    for board in boards:
        cells = [cell for cell in board.cells if cell.result.blocks and "ndc" in cell.result.blocks[0]]
        known = [(cell, {str(block["id"]): number(block, "ndc") for block in cell.result.blocks}) for cell in cells]
        events = sorted({event for _, costs in known for event in costs})
        finite = [cost for _, costs in known for cost in costs.values() if math.isfinite(cost)]
        if not finite:
            continue
        x = Linear(0.0, min(round_up(max(*finite, 1.0, 1.0)), NDC_AT_MOST), *ENDS)
        texts = {str(block["id"]): str(block.get("text", "")) for cell in cells for block in cell.result.blocks}
        rows = []
        for at, event in enumerate(events):
            points = tuple(
                RowPoint("dot", x.on(costs[event]), cell.system, cell.style, f"NDC {short(costs[event])} on {event}")
                for cell, costs in known
                if math.isfinite(costs.get(event, math.nan))
            )
            rows.append(PlotRow(f"{event} {texts[event]}".strip(), -1, TOP + ROW * (at + 0.65), points))
        words = f"Normalized detection cost of {len(events)} events, a point a system; the table below has the figures."
        plots.append(RowsPlot(board.query_set, board.dataset, x, "NDC", tuple(rows), words, guide=x.on(1.0)))
    return tuple(plots)
