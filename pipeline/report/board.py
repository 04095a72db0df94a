"""Boards: per query set, dataset and condition the systems by rank, failed ones last. Nothing is computed here."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.grid.axes import NO_SUCH_CELL
from pipeline.protocols import protocols
from pipeline.protocols.base import Protocol
from pipeline.terms import Figure

if TYPE_CHECKING:
    import xarray as xr

CELL = ("system", "query_set", "dataset")
ALL = "all"


@dataclass(frozen=True, slots=True)
class MeasureInfo:
    """A measure as the grid describes it: ``better`` is ``higher``, ``lower`` or ``none``."""

    name: str
    unit: str
    better: str
    source: str


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """One system on one board. ``rank`` is 0 where there is none; ``failed`` is "" for a scored cell."""

    system: str
    team: str
    primary: bool
    rank: int
    figures: Mapping[str, Figure]
    failed: str
    failed_where: str
    failed_message: str
    signature: str
    canary: bool = False
    """An organiser's own check, which competes with nobody."""
    replaced_by: str = ""
    """The later version that counts in its place."""
    hardware: str = ""
    """What it ran on, as its team declared it."""
    description: str = ""
    """Where its team's description of it lies beside the reports; "" where there is none."""
    board: str = ""
    """The conditions that its name says, where systems of others are not ranked against it."""


@dataclass(frozen=True, slots=True)
class Board:
    """The entries of one (query set, dataset) under one condition, in the order in which they are shown."""

    query_set: str
    dataset: str
    condition: str
    entries: tuple[BoardEntry, ...]
    rank_by: str = ""
    """The measure that ranks them."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The conditions of its systems where there are several: systems are ranked within them alone."""
        found = sorted({entry.board for entry in self.entries if entry.rank})
        return tuple(found) if len(found) > 1 else ()

    @property
    def is_in_parts(self) -> bool:
        """Whether systems are listed that processed a part of the events: they are ranked among themselves."""
        return any(figure.status == "part_of_events" for entry in self.entries for figure in entry.figures.values())


@dataclass(frozen=True)
class RunBoards:
    """A grid read once for all reports: its axes, its measures (primary first), its boards, its attributes."""

    attributes: Mapping[str, str]
    primary: str
    systems: tuple[str, ...]
    query_sets: tuple[str, ...]
    datasets: tuple[str, ...]
    conditions: tuple[str, ...]
    measures: tuple[MeasureInfo, ...]
    boards: tuple[Board, ...]

    @property
    def protocol(self) -> Protocol | None:
        """The protocol and mode that the grid names; None where this version has none of that name."""
        return protocols().get((self.attributes.get("protocol", ""), self.attributes.get("mode", "")))

    def boards_of(self, condition: str) -> tuple[Board, ...]:
        """The boards of one condition, by query set, then dataset."""
        return tuple(board for board in self.boards if board.condition == condition)


def strings(array: xr.DataArray) -> NDArray[np.object_]:
    """A string array whatever it was stored as, as Python strings."""
    return np.array([str(item) for item in array.values.ravel().tolist()], object).reshape(array.shape)


def names(grid: xr.Dataset, dim: str) -> tuple[str, ...]:
    """The labels along a dimension."""
    return tuple(strings(grid[dim]).tolist())


def read_run(grid: Mapping[str, xr.Dataset]) -> RunBoards:
    """Axes, measures and boards of a grid (its root group), axes in its order, but condition ``all`` first."""
    root = grid[""]
    conditions = sorted(names(root, "condition"), key=lambda condition: condition != ALL)
    primary = str(root.attrs["primary_measure"])
    query_sets, datasets = names(root, "query_set"), names(root, "dataset")
    reader = _Reader(root)
    return RunBoards(
        attributes={str(name): str(value) for name, value in root.attrs.items()},
        primary=primary,
        systems=names(root, "system"),
        query_sets=query_sets,
        datasets=datasets,
        conditions=tuple(conditions),
        measures=tuple(sorted(_measures(root), key=lambda measure: measure.name != primary)),
        boards=tuple(
            reader.board(*place) for place in product(query_sets, datasets, conditions) if reader.has_cells(*place[:2])
        ),
    )


def board_rows(grid: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """All boards as flat rows, one a system, in the order in which they are shown.

    Keys: query_set, dataset, condition, rank (0: none), system, team, primary (bool), one per measure (float, NaN
    where undefined; the primary one first), reasons (measure → reason code), failed, failed_where, failed_message
    ("" where scored), signature, rank_by, replaced_by ("" for who counts)
    and hardware.
    """
    return rows_of(read_run(grid))


def rows_of(run: RunBoards) -> list[dict[str, Any]]:
    """The rows of ``board_rows`` from a grid that is read already."""
    return [_row(run, board, entry) for board in run.boards for entry in board.entries]


def _row(run: RunBoards, board: Board, entry: BoardEntry) -> dict[str, Any]:
    figures = {measure.name: entry.figures[measure.name] for measure in run.measures}
    return {
        "query_set": board.query_set,
        "dataset": board.dataset,
        "condition": board.condition,
        "rank": entry.rank,
        "system": entry.system,
        "team": entry.team,
        "primary": entry.primary,
        **{name: figure.value for name, figure in figures.items()},
        "reasons": {name: figure.reason for name, figure in figures.items() if figure.reason},
        "failed": entry.failed,
        "failed_where": entry.failed_where,
        "failed_message": entry.failed_message,
        "signature": entry.signature,
        "rank_by": board.rank_by,
        "replaced_by": entry.replaced_by,
        "hardware": entry.hardware,
    }


def ranked_by(root: xr.Dataset) -> xr.DataArray:
    """The measure that ranks each board; the primary one in grids that were made before boards could differ."""
    if "rank_by" in root:
        return root["rank_by"]
    one = root["rank"].isel(system=0, drop=True).astype(object)
    return one.copy(data=np.full(one.shape, str(root.attrs["primary_measure"]), object))


def _measures(root: xr.Dataset) -> list[MeasureInfo]:
    columns = [strings(root[name]).tolist() for name in ("measure", "measure_unit", "measure_better", "measure_source")]
    return [MeasureInfo(*column) for column in zip(*columns, strict=True)]


class _Reader:
    """The arrays of a root group in one dimension order, as plain numpy."""

    def __init__(self, root: xr.Dataset) -> None:
        figure = ("query_set", "dataset", "condition", "system", "measure")
        self.index = {
            dim: {name: at for at, name in enumerate(names(root, dim))} for dim in ("query_set", "dataset", "condition")
        }
        self.systems, self.measures = names(root, "system"), names(root, "measure")
        self.value = root["value"].transpose(*figure).values
        self.reason = strings(root["reason"].transpose(*figure))
        self.status = strings(root["status"].transpose(*figure))
        self.rank = root["rank"].transpose(*figure[:-1]).values
        self.rank_by = ranked_by(root).transpose(*figure[:3]).values
        cell = ("query_set", "dataset", "system")
        texts = ("failed", "failed_where", "failed_message", "signature")
        self.cell = {name: strings(root[name].transpose(*cell)) for name in texts}
        blank = np.full(self.rank.shape[:2] + self.rank.shape[3:], "", object)
        self.hardware = strings(root["hardware"].transpose(*cell)) if "hardware" in root else blank
        self.team, self.primary = strings(root["team"]), root["primary"].values
        self.canary = root["canary"].values if "canary" in root else np.zeros(len(self.systems), bool)
        none = np.full(len(self.systems), "", object)
        own = ("replaced_by", "board", "version_of", "description")
        self.later, self.part, self.head, self.told = (strings(root[name]) if name in root else none for name in own)

    def has_cells(self, query_set: str, dataset: str) -> bool:
        """Whether the evaluation asks for the query set on the dataset."""
        failed = self.cell["failed"][self.index["query_set"][query_set], self.index["dataset"][dataset]]
        return not failed.size or not (failed == NO_SUCH_CELL).all()

    def board(self, query_set: str, dataset: str, condition: str) -> Board:
        place = (self.index["query_set"][query_set], self.index["dataset"][dataset])
        at = self.index["condition"][condition]
        entries = [
            self._entry(place, at, s)
            for s in range(len(self.systems))
            if not (self.reason[(*place, at, s)] == "other_board").all()
        ]
        entries = [one for one in entries if not (one.replaced_by and one.failed == "missing_output")]
        return Board(query_set, dataset, condition, tuple(sorted(entries, key=_order)), str(self.rank_by[(*place, at)]))

    def _entry(self, place: tuple[int, int], condition: int, system: int) -> BoardEntry:
        return BoardEntry(
            system=self.systems[system],
            team=self.team[system],
            primary=bool(self.primary[system]),
            canary=bool(self.canary[system]),
            replaced_by=self.later[system] or self._better_version((*place, condition), system),
            board=self.part[system],
            description=self.told[system],
            hardware=str(self.hardware[(*place, system)]),
            rank=int(self.rank[(*place, condition, system)]),
            figures={
                name: self._figure((*place, condition, system, measure)) for measure, name in enumerate(self.measures)
            },
            **{name: texts[(*place, system)] for name, texts in self.cell.items()},
        )

    def _better_version(self, board: tuple[int, ...], system: int) -> str:
        """The version that counts on a board in place of another one; "" where this one does, or none."""
        same = np.flatnonzero((self.head == self.head[system]) & (self.rank[board] > 0))
        return self.systems[same[0]] if self.head[system] and not self.rank[board][system] and same.size else ""

    def _figure(self, at: tuple[int, ...]) -> Figure:
        value = float(self.value[at])
        reason = (self.reason[at] or "undefined") if math.isnan(value) else self.reason[at]
        return Figure(value, reason or None, self.status[at] or None)


def _order(entry: BoardEntry) -> tuple[bool, bool, int, str]:
    return (bool(entry.failed), entry.rank == 0, entry.rank, entry.system)
