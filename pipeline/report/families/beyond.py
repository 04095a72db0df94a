"""Sections of the page beyond boards: those of single families, each there only where results carry it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr

from pipeline.engine.result import Result
from pipeline.report.board import RunBoards
from pipeline.report.cells import board_cells, condition_tables, number, plain_tables
from pipeline.report.families import speakers
from pipeline.report.families.events import event_tables
from pipeline.report.families.matrices import matrix_boards
from pipeline.report.page_data import page_data
from pipeline.report.plots import reliability
from pipeline.report.plots.ape import calibrations
from pipeline.report.plots.det import det_plots, read_curves
from pipeline.report.plots.iso_cost import iso_lines
from pipeline.report.plots.pareto import pareto_section
from pipeline.report.plots.pav import pav_section
from pipeline.report.plots.query_map import COLOURS, NAMED, query_maps
from pipeline.report.plots.rows import event_plots
from pipeline.report.plots.threshold import threshold_section
from pipeline.report.words import measured

FILTERS: dict[str, Any] = {
    "measured": measured,
    "number": number,
    "plain_tables": plain_tables,
    "condition_tables": condition_tables,
    "confusions": speakers.confusions,
    "describe_speakers": speakers.describe,
    "describe_reliability": reliability.describe,
}


def beyond(
    run: RunBoards, grid: Mapping[str, xr.Dataset], results: Iterable[Result], *, drawn: bool = True
) -> dict[str, Any]:
    """The names that the sections' templates read; empty where no result has anything to show there.

    With ``drawn`` false there are no pictures of figures either.
    """
    boards = board_cells(run, results)
    curves = read_curves(grid)
    maps = query_maps(run, grid)
    blocks = run.protocol.family.can.blocks if run.protocol else None
    plots, events = det_plots(run, curves, iso_lines), event_plots(boards)
    return {
        "plots": plots,
        "det_places": {trace.style for plot in plots for trace in plot.traces},
        "thresholds": threshold_section(run, curves),
        "query_maps": maps,
        "level_colours": COLOURS,
        "few": NAMED,
        "unit_name": (blocks.one, blocks.several) if blocks else ("query", "queries"),
        "page_data": page_data(run, maps, curves),
        "pareto": pareto_section(run) if drawn else None,
        "speaker_plots": speakers.speaker_plots(boards),
        "confused": tuple(board for board in boards if board.having("confusions")),
        "reliability_plots": reliability.reliability_plots(boards),
        "unit_x": reliability.X,
        "unit_y": reliability.Y,
        "calibrations": calibrations(boards),
        "pav": pav_section(boards),
        "event_tables": event_tables(boards),
        "event_plots": events,
        "event_places": {point.style for plot in events for row in plot.rows for point in row.points},
        "matrix_boards": matrix_boards(boards),
        "tabled": tuple(
            board for board in boards if any(plain_tables(cell) or condition_tables(cell) for cell in board.cells)
        ),
    }
