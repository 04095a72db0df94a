"""What the page shows beyond boards: the sections of single families, each there only where results carry it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pipeline.engine.result import Result
from pipeline.report import reliability, speakers
from pipeline.report.ape_plot import calibrations
from pipeline.report.board import Run
from pipeline.report.cells import board_cells, number, plain_tables
from pipeline.report.events import event_tables
from pipeline.report.words import measured

FILTERS: dict[str, Any] = {
    "measured": measured,
    "number": number,
    "plain_tables": plain_tables,
    "confusions": speakers.confusions,
    "describe_speakers": speakers.describe,
    "describe_reliability": reliability.describe,
}


def beyond(run: Run, results: Iterable[Result]) -> dict[str, Any]:
    """The names that the sections' templates read; empty where no result has anything to show there."""
    boards = board_cells(run, results)
    return {
        "speaker_plots": speakers.speaker_plots(boards),
        "confused": tuple(board for board in boards if board.having("confusions")),
        "reliability_plots": reliability.reliability_plots(boards),
        "unit_x": reliability.X,
        "unit_y": reliability.Y,
        "calibrations": calibrations(boards),
        "event_tables": event_tables(boards),
        "tabled": tuple(board for board in boards if any(plain_tables(cell) for cell in board.cells)),
    }
