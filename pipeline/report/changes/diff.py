"""Differences between two runs and their causes: figures, ranks, queries and signatures of every cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.engine.cell import load_result
from pipeline.engine.plan import Plan, load_plan
from pipeline.engine.result import Result
from pipeline.engine.rows import columns_of
from pipeline.grid import Run, load_grid
from pipeline.report.board import ALL, read_run
from pipeline.store.blobs import Store
from pipeline.terms import Cell

if TYPE_CHECKING:
    import xarray as xr

_READERS_AT_ONCE = 8


@dataclass(frozen=True)
class Side:
    """One run as far as a comparison needs it."""

    run: str
    plan: Plan
    addresses: Mapping[Cell, str]
    load: Callable[[Cell], Result]
    """Results are read only where the addresses of both sides differ."""
    ranks: Mapping[Cell, int]
    ranked_by: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    """The measure that ranks, by query set, dataset and condition."""

    @classmethod
    def of(cls, run: str, plan: Plan, load: Callable[[Cell], Result], grid: Mapping[str, xr.Dataset]) -> Side:
        """A run by its plan, its results and its grid, which has the ranks."""
        boards = read_run(grid).boards
        ranks = {
            Cell(board.query_set, board.dataset, entry.system): entry.rank
            for board in boards
            if board.condition == ALL
            for entry in board.entries
        }
        by = {(board.query_set, board.dataset, board.condition): board.rank_by for board in boards}
        return cls(run, plan, {job.cell: job.address for job in plan.jobs}, load, ranks, by)


@dataclass(frozen=True)
class Cause:
    """One difference between two signatures: an input by digest, a setting by value, or the code."""

    kind: str
    """``input``, ``setting``, ``protocol`` or ``version``."""
    name: str
    before: str
    after: str
    file: str = ""
    """The input's file name."""


@dataclass(frozen=True)
class Moved:
    """A number that is another one now; NaN where it is not defined."""

    name: str
    before: float
    after: float

    @property
    def by(self) -> float:
        """After minus before; NaN where one of them does not exist."""
        return self.after - self.before


@dataclass(frozen=True)
class CellDiff:
    """One cell that is in only one run, or differs in cause, figure, rank or query."""

    cell: Cell
    state: str
    """``changed``, ``new``, ``withdrawn``; ``ranked`` where only its rank moved, for the sake of others."""
    failed: tuple[str, str] = ("", "")
    """Why it has no figures, before and after; "" where it has."""
    rank: tuple[int, int] = (0, 0)
    causes: tuple[Cause, ...] = ()
    figures: tuple[Moved, ...] = ()
    queries: tuple[tuple[str, tuple[Moved, ...]], ...] = ()
    """Per query the counts and rates that moved."""

    @property
    def has_moved(self) -> bool:
        """Whether anything that people look at is another."""
        same = self.rank[0] == self.rank[1] and self.failed[0] == self.failed[1]
        return self.state != "changed" or bool(self.figures or self.queries) or not same


@dataclass(frozen=True)
class Diff:
    """All cells that differ, in the order of the later run's evaluation."""

    before: str
    after: str
    evaluation: str
    primary: str
    cells: tuple[CellDiff, ...]
    n_cells: int
    """Cells of both runs together."""
    ranked_by: tuple[tuple[str, str, str], ...] = ()
    """Boards that another measure ranks now: board, measure before, measure after."""

    @property
    def causes(self) -> tuple[tuple[Cause, int], ...]:
        """Every cause once, with the number of cells that it bears on."""
        counted: dict[Cause, int] = {}
        for cell in self.cells:
            for cause in cell.causes:
                counted[cause] = counted.get(cause, 0) + 1
        return tuple(counted.items())


def side_of(store: Store, run: Run) -> Side:
    """A published run. Raises ``DamageError`` where a part of it is lost."""
    plan = load_plan(store, run.plan)
    return Side.of(run.id, plan, lambda cell: load_result(store, plan.by_cell[cell].address), load_grid(store, run))


def compare(before: Side, after: Side) -> Diff:
    """The differences from one run to the other."""
    cells = tuple(dict.fromkeys([*after.addresses, *before.addresses]))
    with ThreadPoolExecutor(_READERS_AT_ONCE) as pool:
        found = list(pool.map(lambda cell: _cell(before, after, cell), cells))
    return Diff(
        before=before.run,
        after=after.run,
        evaluation=after.plan.evaluation,
        primary=after.plan.protocol.primary,
        cells=tuple(entry for entry in found if entry is not None),
        n_cells=len(cells),
        ranked_by=tuple(
            ("/".join(board), before.ranked_by[board], measure)
            for board, measure in after.ranked_by.items()
            if before.ranked_by.get(board, measure) != measure
        ),
    )


def _cell(before: Side, after: Side, cell: Cell) -> CellDiff | None:
    ranks = before.ranks.get(cell, 0), after.ranks.get(cell, 0)
    if cell not in before.addresses:
        return CellDiff(cell, "new", rank=ranks)
    if cell not in after.addresses:
        return CellDiff(cell, "withdrawn", rank=ranks)
    if before.addresses[cell] == after.addresses[cell]:
        return CellDiff(cell, "ranked", rank=ranks) if ranks[0] != ranks[1] else None
    old, new = before.load(cell), after.load(cell)
    return CellDiff(
        cell=cell,
        state="changed",
        failed=(old.failed or "", new.failed or ""),
        rank=ranks,
        causes=tuple(causes(old, new, after.plan)),
        figures=_moved(_figures(old), _figures(new)),
        queries=_queries(old.blocks, new.blocks),
    )


def causes(old: Result, new: Result, plan: Plan) -> list[Cause]:
    """The differences between two signatures of one cell."""
    was, now = _fields(old.signature), _fields(new.signature)
    roles = {source.role for result in (old, new) for source in result.sources}
    job = plan.by_cell.get(new.cell) if new.cell is not None else None
    found = []
    for name in dict.fromkeys([*now, *was]):
        if was.get(name) == now.get(name):
            continue
        kind = _KINDS.get(name, "input" if name in roles else "setting")
        source = job.inputs.get(name) if job is not None and kind == "input" else None
        file = plan.labels.get(source.uri, "") if source is not None else ""
        found.append(Cause(kind, name, was.get(name, ""), now.get(name, ""), file))
    return sorted(found, key=lambda cause: (_ORDER.index(cause.kind), cause.name))


_KINDS = {"protocol": "protocol", "mode": "protocol", "rank": "protocol", "measures": "protocol", "rescore": "version"}
_ORDER = ("input", "setting", "protocol", "version")


def _fields(signature: str) -> dict[str, str]:
    protocol, mode, *rest = signature.split("|")
    named = (part.partition(":") for part in rest)
    return {"protocol": protocol, "mode": mode, **{name: value for name, _, value in named}}


def _figures(result: Result) -> dict[str, float]:
    return {name: figure.value for name, figure in result.figures.items()}


def _moved(old: Mapping[str, float], new: Mapping[str, float]) -> tuple[Moved, ...]:
    names = dict.fromkeys([*new, *old])
    moved = (Moved(name, old.get(name, math.nan), new.get(name, math.nan)) for name in names)
    return tuple(one for one in moved if one.before != one.after and not _both_undefined(one))


def _both_undefined(moved: Moved) -> bool:
    return math.isnan(moved.before) and math.isnan(moved.after)


def _queries(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> tuple[tuple[str, tuple[Moved, ...]], ...]:
    sides = [
        {name: column for name, column in columns_of(blocks).items() if column is not None} for blocks in (old, new)
    ]
    names = tuple(dict.fromkeys([*sides[1], *sides[0]]))
    queries = tuple(dict.fromkeys(block["id"] for block in (*new, *old)))
    row_of = {query: row for row, query in enumerate(queries)}
    before, after = (np.full((len(queries), len(names)), np.nan) for _ in range(2))
    for values, blocks, columns in zip((before, after), (old, new), sides, strict=True):
        rows = np.array([row_of[block["id"]] for block in blocks], np.int64)
        for name, column in columns.items():
            values[rows, names.index(name)] = column
    differs = (before != after) & ~(np.isnan(before) & np.isnan(after))
    moved = dict[str, list[Moved]]()
    places = np.argwhere(differs).tolist()
    for (row, at), was, now in zip(places, before[differs].tolist(), after[differs].tolist(), strict=True):
        moved.setdefault(queries[row], []).append(Moved(names[at], was, now))
    return tuple((query, tuple(counts)) for query, counts in moved.items())
