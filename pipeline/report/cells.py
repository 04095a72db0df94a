"""The scored cells of a board as their documents tell them: blocks and tables, with each system's line style."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.engine.result import Result, unplain
from pipeline.report.board import ALL, RunBoards

ROWS_AT_MOST = 200
TEXT_AT_MOST = 300
DRAWN = frozenset({"confusions", "reliability", "calibration", "ape", "pav", "confusion", "soft_confusion"})
"""Tables that have a section of their own."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ScoredCell:
    """One system's result on one board; ``style`` is the system's place in the grid, the same in all plots."""

    system: str
    style: int
    result: Result

    def table(self, name: str) -> Sequence[Row]:
        """The rows of a table; none where the family has no such table."""
        return self.result.tables.get(name, ())


@dataclass(frozen=True, slots=True)
class BoardCells:
    """The scored cells of one (query set, dataset), in the order of its board."""

    query_set: str
    dataset: str
    cells: tuple[ScoredCell, ...]

    def having(self, table: str) -> tuple[ScoredCell, ...]:
        """The cells whose table of this name has rows."""
        return tuple(cell for cell in self.cells if cell.table(table))


@dataclass(frozen=True, slots=True)
class PlainTable:
    """A table as it is in the document: its first rows, and how many it has."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[float | str, ...], ...]
    n_rows: int


def board_cells(run: RunBoards, results: Iterable[Result]) -> tuple[BoardCells, ...]:
    """The scored cells of every board of the condition ``all``."""
    found = {(r.cell.query_set, r.cell.dataset, r.cell.system): r for r in results if r.cell and r.failed is None}
    boards = []
    for board in run.boards_of(ALL):
        places = [(entry, (board.query_set, board.dataset, entry.system)) for entry in board.entries]
        cells = [
            ScoredCell(entry.system, run.systems.index(entry.system), found[place])
            for entry, place in places
            if place in found
        ]
        boards.append(BoardCells(board.query_set, board.dataset, tuple(cells)))
    return tuple(boards)


def number(row: Row, name: str) -> float:
    """A number of a row; NaN where it is undefined or not there."""
    value = unplain(row.get(name))
    return float(value) if isinstance(value, int | float) else math.nan


def plain_tables(cell: ScoredCell) -> tuple[PlainTable, ...]:
    """Every table of a cell that no section draws; blocks too, but those of speakers, events and queries."""
    tables = dict(cell.result.tables)
    blocks = cell.result.blocks
    if blocks and {"wer", "ndc", "twv"}.isdisjoint(blocks[0]):
        tables = {"blocks": blocks, **tables}
    return tuple(plain_table(name, rows) for name, rows in tables.items() if name not in DRAWN and rows)


def condition_tables(cell: ScoredCell) -> tuple[tuple[str, tuple[PlainTable, ...]], ...]:
    """By condition, every table and the blocks that it has."""
    found = []
    for condition, part in cell.result.conditions.items():
        tables = {**({"blocks": part.blocks} if part.blocks else {}), **part.tables}
        made = tuple(plain_table(name, tuple(rows)) for name, rows in tables.items() if rows)
        if made:
            found.append((condition, made))
    return tuple(found)


def plain_table(name: str, rows: Sequence[Row]) -> PlainTable:
    """At most ``ROWS_AT_MOST`` rows under the columns of those, in the order in which they come up."""
    shown = rows[:ROWS_AT_MOST]
    columns = tuple(dict.fromkeys(column for row in shown for column in row))
    cells = tuple(tuple(_cell(row[column]) if column in row else "" for column in columns) for row in shown)
    return PlainTable(name, columns, cells, len(rows))


def _cell(value: Any) -> float | str:
    """A number as it is, anything else as text; lists as JSON, cut where they are long."""
    value = unplain(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= TEXT_AT_MOST else f"{text[:TEXT_AT_MOST]}…"
