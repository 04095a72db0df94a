"""Speech-to-text by speaker: how far error rates range, and the most frequent errors. Nothing is computed here."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.cells import ROWS_AT_MOST, BoardCells, Row, ScoredCell, number
from pipeline.report.plots.linear import Linear, round_up
from pipeline.report.plots.marks import Mark
from pipeline.report.words import printable, short

WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM = 480.0, 14.0, 14.0, 8.0, 34.0, 44.0
KINDS = (("sub", "Substitutions"), ("del", "Deletions"), ("ins", "Insertions"))
CONFUSIONS_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Range:
    """One system's speakers at height ``y``; ``sum_mark`` is its rate over all words."""

    system: str
    style: int
    y: float
    dots: tuple[Mark, ...]
    sum_mark: Mark | None
    lowest: tuple[str, float] | None
    highest: tuple[str, float] | None
    n_speakers: int
    statistics: tuple[float, ...]
    """Mean, standard deviation and median over speakers, as the table ``sys`` has them, in percent."""


@dataclass(frozen=True, slots=True)
class SpeakerPlot:
    """The plot of one (query set, dataset), with the rates of its speakers by system for the table under it."""

    query_set: str
    dataset: str
    x: Linear
    height: float
    ranges: tuple[Range, ...]
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    n_rows: int


def speaker_plots(boards: tuple[BoardCells, ...]) -> tuple[SpeakerPlot, ...]:
    """One plot per board whose blocks are speakers with error rates, all on one scale so that they can be compared."""
    shown = [(board, tuple(cell for cell in board.cells if _speakers(cell))) for board in boards]
    rates = [number(row, "wer") for _, cells in shown for cell in cells for row in _speakers(cell)]
    highest = max((100.0 * rate for rate in rates if math.isfinite(rate)), default=0.0)
    x = Linear(0.0, round_up(highest), LEFT, WIDTH - RIGHT)
    return tuple(_plot(board, cells, x) for board, cells in shown if cells)


def describe(plot: SpeakerPlot) -> str:
    """The plot in words, for those who do not see it."""
    parts = [
        f"{printable(r.system)}: from {short(r.lowest[1], 1)} to {short(r.highest[1], 1)}"
        for r in plot.ranges
        if r.lowest and r.highest
    ]
    return f"Error rate of every speaker in percent, one row a system. {'; '.join(parts)}."


def confusions(cell: ScoredCell) -> tuple[tuple[str, str, tuple[Row, ...]], ...]:
    """Kind, heading and the most frequent errors of that kind, in the order of the table."""
    rows = cell.table("confusions")
    return tuple(
        (kind, heading, tuple(row for row in rows if row["kind"] == kind)[:CONFUSIONS_AT_MOST])
        for kind, heading in KINDS
    )


def _speakers(cell: ScoredCell) -> tuple[Row, ...]:
    blocks = cell.result.blocks
    return tuple(blocks) if blocks and "wer" in blocks[0] else ()


def _plot(board: BoardCells, cells: tuple[ScoredCell, ...], x: Linear) -> SpeakerPlot:
    names = sorted({str(row["id"]) for cell in cells for row in _speakers(cell)})
    by_cell = [{str(row["id"]): 100.0 * number(row, "wer") for row in _speakers(cell)} for cell in cells]
    rows = [(name, tuple(rates.get(name, math.nan) for rates in by_cell)) for name in names[:ROWS_AT_MOST]]
    ranges = tuple(_range(cell, x, TOP + ROW * (at + 0.5)) for at, cell in enumerate(cells))
    height = TOP + ROW * len(cells) + BOTTOM
    return SpeakerPlot(board.query_set, board.dataset, x, height, ranges, tuple(rows), len(names))


def _range(cell: ScoredCell, x: Linear, y: float) -> Range:
    rates = [(str(row["id"]), 100.0 * number(row, "wer")) for row in _speakers(cell)]
    known = sorted((pair for pair in rates if math.isfinite(pair[1])), key=lambda pair: pair[1])
    summary = {str(row["id"]): number(row, "err") for row in cell.table("sys")[-4:]}
    overall = cell.result.figures.get("wer")
    total = math.nan if overall is None else 100.0 * overall.value
    mark = Mark(x.on(total), y, f"all words {short(total, 1)} %") if math.isfinite(total) else None
    return Range(
        system=cell.system,
        style=cell.style,
        y=y,
        dots=tuple(Mark(x.on(rate), y, f"{printable(name)} {short(rate, 1)} %") for name, rate in known),
        sum_mark=mark,
        lowest=known[0] if known else None,
        highest=known[-1] if known else None,
        n_speakers=len(known),
        statistics=tuple(summary.get(name, math.nan) for name in ("Mean", "S.D.", "Median")),
    )
