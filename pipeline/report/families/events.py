"""Multimedia events: cost and average precision of every event, by system. Nothing is computed here."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.cells import ROWS_AT_MOST, BoardCells, Row, number

COLUMNS = ("ndc", "ap")


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event: its targets in the key, and for each system its figures in the order of ``COLUMNS``."""

    id: str
    text: str
    n_target: float
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class EventTable:
    """The events of one (query set, dataset)."""

    query_set: str
    dataset: str
    systems: tuple[str, ...]
    rows: tuple[EventRow, ...]
    n_rows: int


def event_tables(boards: tuple[BoardCells, ...]) -> tuple[EventTable, ...]:
    """One table per board whose blocks are events with costs."""
    tables = []
    for board in boards:
        cells = [cell for cell in board.cells if cell.result.blocks and "ndc" in cell.result.blocks[0]]
        if not cells:
            continue
        by_cell = [{str(block["id"]): block for block in cell.result.blocks} for cell in cells]
        names = sorted({name for blocks in by_cell for name in blocks})
        rows = tuple(_row(name, by_cell) for name in names[:ROWS_AT_MOST])
        systems = tuple(cell.system for cell in cells)
        tables.append(EventTable(board.query_set, board.dataset, systems, rows, len(names)))
    return tuple(tables)


def _row(name: str, by_cell: list[dict[str, Row]]) -> EventRow:
    known = [blocks[name] for blocks in by_cell if name in blocks]
    n_target = max((number(block, "n_target") for block in known), default=math.nan)
    values = tuple(tuple(number(blocks.get(name, {}), column) for column in COLUMNS) for blocks in by_cell)
    return EventRow(name, str(known[0].get("text", "")), n_target, values)
