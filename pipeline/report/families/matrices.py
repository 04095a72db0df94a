"""Language recognition: confusions of languages and the cost of every pair, as shaded tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.report.cells import BoardCells, Row, ScoredCell, number

TABLES = (
    ("confusion", "Segments by true language (rows) and by the language decided for (columns)"),
    ("soft_confusion", "Mean posterior by true language (rows) and language (columns)"),
)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of (label, values); ``shares`` are the shades, of each row's sum or of the largest value."""

    kind: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[float, ...], tuple[float, ...]], ...]


@dataclass(frozen=True, slots=True)
class SystemMatrices:
    """All matrices of one system."""

    system: str
    matrices: tuple[Matrix, ...]


@dataclass(frozen=True, slots=True)
class MatrixBoard:
    """The matrices of one (query set, dataset), in the order of its board."""

    query_set: str
    dataset: str
    systems: tuple[SystemMatrices, ...]


def matrix_boards(boards: tuple[BoardCells, ...]) -> tuple[MatrixBoard, ...]:
    """One entry per board with a system that has such tables."""
    found = []
    for board in boards:
        systems = [SystemMatrices(cell.system, made) for cell in board.cells if (made := _matrices(cell))]
        if systems:
            found.append(MatrixBoard(board.query_set, board.dataset, tuple(systems)))
    return tuple(found)


def _matrices(cell: ScoredCell) -> tuple[Matrix, ...]:
    made = [_square(name, caption, cell.table(name)) for name, caption in TABLES if cell.table(name)]
    pairs = cell.table("pairs")
    if pairs and {"id", "c_mce"} <= set(pairs[0]):
        made.append(_pairs(pairs))
    return tuple(made)


def _square(name: str, caption: str, rows: Sequence[Row]) -> Matrix:
    columns = tuple(column for column in rows[0] if column != "id")
    values = [(str(row["id"]), tuple(number(row, column) for column in columns)) for row in rows]
    return Matrix(name, caption, columns, tuple((label, row, _shares(row, sum(row))) for label, row in values))


def _pairs(rows: Sequence[Row]) -> Matrix:
    """Costs of pairs as a symmetric matrix; the diagonal is empty."""
    costs = {frozenset(str(row["id"]).split("|")): number(row, "c_mce") for row in rows}
    names = tuple(dict.fromkeys(name for row in rows for name in str(row["id"]).split("|")))
    table = [(one, tuple(costs.get(frozenset((one, other)), math.nan) for other in names)) for one in names]
    largest = max((value for _, row in table for value in row if math.isfinite(value)), default=0.0)
    made = tuple((label, row, _shares(row, largest)) for label, row in table)
    return Matrix("pairs", "Multiclass cross-entropy C_mce of every pair of languages, lower is better", names, made)


def _shares(row: tuple[float, ...], whole: float) -> tuple[float, ...]:
    known = math.isfinite(whole) and whole > 0
    return tuple(min(value / whole, 1.0) if known and math.isfinite(value) else 0.0 for value in row)
