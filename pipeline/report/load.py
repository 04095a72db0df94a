"""Processing Load as tables: what each system declared and used per cell, and the summary over systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from pipeline.report.board import ALL, CELL, BoardEntry, MeasureInfo, RunBoards, names, strings
from pipeline.terms import Figure


@dataclass(frozen=True, slots=True)
class LoadRow:
    """One system's figures, in the order of the table's measures; none where the cell failed (see its entry)."""

    entry: BoardEntry
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One measure over the systems of a cell, in the order of the table's statistics."""

    measure: MeasureInfo
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class LoadCell:
    """The load of one (query set, dataset)."""

    query_set: str
    dataset: str
    rows: tuple[LoadRow, ...]
    summary: tuple[SummaryRow, ...]


@dataclass(frozen=True, slots=True)
class LoadTable:
    """Every cell's load: columns ``measures``, and ``statistics`` of the summaries."""

    measures: tuple[MeasureInfo, ...]
    statistics: tuple[str, ...]
    cells: tuple[LoadCell, ...]


def load_table(run: RunBoards, grid: Mapping[str, xr.Dataset]) -> LoadTable | None:
    """The load group in the boards' order, or None where no system declared anything."""
    group = grid.get("load")
    if group is None or "value" not in group or np.isnan(group["value"].values).all():
        return None
    known = {measure.name: measure for measure in run.measures}
    units = strings(group["load_unit"]).tolist() if "load_unit" in group else None
    measures = tuple(
        replace(known.get(name, MeasureInfo(name, "", "lower", "")), **({"unit": units[at]} if units else {}))
        for at, name in enumerate(names(group, "load_measure"))
    )
    statistics = names(group, "summary") if "summary_value" in group else ()
    value = group["value"].transpose(*CELL, "load_measure").values
    at = {dim: {name: i for i, name in enumerate(names(group, dim))} for dim in CELL}
    cells = []
    for board in run.boards_of(ALL):
        place = (at["query_set"][board.query_set], at["dataset"][board.dataset])
        rows = tuple(
            LoadRow(entry, _figures(entry, measures, value[(at["system"][entry.system], *place)].tolist()))
            for entry in board.entries
        )
        summary = _summary(group, measures, place) if statistics else ()
        cells.append(LoadCell(board.query_set, board.dataset, rows, summary))
    return LoadTable(measures, statistics, tuple(cells))


def _figures(entry: BoardEntry, measures: tuple[MeasureInfo, ...], values: list[float]) -> tuple[Figure, ...]:
    """The group's values with the reasons that the root group gives for the same measures."""
    if entry.failed:
        return ()
    reasons = [entry.figures[m.name].reason if m.name in entry.figures else None for m in measures]
    return tuple(
        Figure(value) if value == value else Figure.undefined(reason or "undefined")  # noqa: PLR0124 (NaN)
        for value, reason in zip(values, reasons, strict=True)
    )


def _summary(group: xr.Dataset, measures: tuple[MeasureInfo, ...], place: tuple[int, int]) -> tuple[SummaryRow, ...]:
    order = ("query_set", "dataset", "load_measure", "summary")
    values = group["summary_value"].transpose(*order).values[place].tolist()
    return tuple(
        SummaryRow(measure, tuple(Figure(value, None if value == value else "no_systems") for value in row))  # noqa: PLR0124
        for measure, row in zip(measures, values, strict=True)
    )
