"""The pages of a large run: an index of all systems and boards, and every board on a page of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pipeline.report.board import Board, read_run
from pipeline.report.shown import PageContents

ROWS_AT_MOST = 250
"""Up to so many rows of boards, systems times (query set, dataset) pairs, a run is one page: a row of keyword search,
with curve, table and inputs, takes 12 kB of it, and no first page should have more than 3 MB."""
LONGEST = 40
"""Characters of a name in the name of a file."""
BOARDS = "boards"
"""The folder of the pages of boards."""


@dataclass(frozen=True, slots=True)
class BoardPage:
    """A board on a page of its own, and how its cells fared."""

    query_set: str
    dataset: str
    file: str
    """Relative to the index."""
    n_scored: int
    n_cells: int


def parts_of(boards: Iterable[Board]) -> tuple[BoardPage, ...]:
    """The boards of a run as pages of their own; none where one page holds them all."""
    listed = tuple(boards)
    if sum(len(board.entries) for board in listed) <= ROWS_AT_MOST:
        return ()
    return tuple(
        BoardPage(
            board.query_set,
            board.dataset,
            f"{BOARDS}/{at:03d}-{_plain(board.query_set)}-{_plain(board.dataset)}.html",
            sum(not entry.failed for entry in board.entries),
            len(board.entries),
        )
        for at, board in enumerate(listed, 1)
    )


def files_of(parts: Iterable[BoardPage]) -> dict[tuple[str, str], str]:
    """The pages' files by (query set, dataset)."""
    return {(part.query_set, part.dataset): part.file for part in parts}


def of_board(whole: PageContents, part: BoardPage) -> PageContents:
    """The contents of the page of one board: its cells alone, with what moved of them."""
    pair = part.query_set, part.dataset
    grid = {}
    for name, group in whole.grid.items():
        at = {
            dim: [group[dim].values.tolist().index(one)]
            for dim, one in zip(("query_set", "dataset"), pair, strict=True)
        }
        grid[name] = group.isel(at)
    results = tuple(r for r in whole.results if r.cell is not None and (r.cell.query_set, r.cell.dataset) == pair)
    changes = whole.changes
    if changes is not None:
        cells = tuple(one for one in changes.cells if (one.cell.query_set, one.cell.dataset) == pair)
        changes = replace(changes, cells=cells)
    return replace(whole, grid=grid, results=results, run=read_run(grid), changes=changes, board=pair)


def _plain(name: str) -> str:
    """What of a name a path may hold."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name)[:LONGEST].strip("._-") or "board"
