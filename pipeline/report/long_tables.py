"""Everything that a page shows, as long tables: what notebooks take, and what lies beside the page as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import xarray as xr
from numpy.typing import NDArray

from pipeline.grid.query_rows import read_rows
from pipeline.report.board import names
from pipeline.report.plots.det import COLUMNS
from pipeline.report.spreadsheet import guarded

PLACE = ("query_set", "dataset", "system")


@dataclass(frozen=True)
class TextColumns:
    """Columns of text that come together: few different ones, and which of them each row has."""

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class LongTable:
    """Columns of text, then columns of numbers (rows, names), NaN where undefined."""

    labels: tuple[TextColumns, ...]
    names: tuple[str, ...]
    numbers: NDArray[np.float64]

    def rows(self) -> list[dict[str, Any]]:
        """Rows by column name."""
        texts = [[labels.values[at] for at in labels.rows.tolist()] for labels in self.labels]
        heads = [name for labels in self.labels for name in labels.names]
        return [
            dict(zip([*heads, *self.names], [*(text for texts in own for text in texts), *numbers], strict=True))
            for *own, numbers in zip(*texts, self.numbers.tolist(), strict=True)
        ]

    def csv(self) -> bytes:
        """The table as CSV (UTF-8, RFC 4180): figures read back to the same bits, undefined ones are empty."""
        if not len(self.numbers):
            return b""
        heads = [name for labels in self.labels for name in labels.names]
        columns = [np.array([_line(value) for value in labels.values], object)[labels.rows] for labels in self.labels]
        lines = map(",".join, zip(*columns, _number_lines(self.numbers), strict=True))
        return "\r\n".join([_line([*heads, *self.names]), *lines, ""]).encode("utf-8", "replace")


def _line(texts: Iterable[str]) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="").writerow([guarded(text) for text in texts])
    return out.getvalue()


def _number_lines(numbers: NDArray[np.float64]) -> list[str]:
    """Each row's numbers with commas between them. Millions of them: orjson writes the shortest digits fastest."""
    text = orjson.dumps(np.ascontiguousarray(numbers), option=orjson.OPT_SERIALIZE_NUMPY).decode()
    lines = text[2:-2].replace("null", "").split("],[")
    for row in np.flatnonzero(np.isinf(numbers).any(axis=1)).tolist():  # which orjson takes for undefined ones
        lines[row] = ",".join("" if value != value else repr(value) for value in numbers[row].tolist())  # noqa: PLR0124
    return lines


def query_rows(grid: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """One row per (query set, dataset, system, query) that was counted: query, text, then counts and rates (float, NaN
    where undefined), as the group ``queries`` has them. Events, languages and speakers are queries here.
    """
    return query_table(grid).rows()


def query_table(grid: Mapping[str, xr.Dataset]) -> LongTable:
    """The rows of ``query_rows`` as columns."""
    group = grid.get("queries")
    if group is None or "value" not in group:
        return _NOTHING
    found = read_rows(group)
    places, rows = found.within(PLACE)
    known = ~np.isnan(found.value[rows]).all(axis=-1)
    places, rows = places[known], rows[known]
    labels = (_places(group, places), TextColumns(("query", "text"), found.queries, found.query[rows]))
    return LongTable(labels, found.counts, found.value[rows])


def curve_rows(grid: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """One row per point of every cell's curve: threshold, p_miss, p_fa, twv (NaN where undefined)."""
    return curve_table(grid).rows()


def curve_table(grid: Mapping[str, xr.Dataset]) -> LongTable:
    """The rows of ``curve_rows`` as columns."""
    group = grid.get("curves")
    if group is None or not {"first", "last"} <= set(group.variables):
        return _NOTHING
    first, last = (group[name].transpose(*PLACE).values.ravel() for name in ("first", "last"))
    shown = tuple(name for name in COLUMNS if name in group)
    points = np.concatenate([np.arange(0), *(np.arange(*ends) for ends in zip(first, last, strict=True))])
    columns = [group[name].values[points] for name in shown]
    place = np.repeat(np.arange(first.size), last - first)
    return LongTable((_places(group, place),), shown, np.stack(columns, axis=1))


def _places(group: xr.Dataset, rows: NDArray[np.int64]) -> TextColumns:
    """Query set, dataset and system of rows that count places in that order."""
    axes = [names(group, dim) for dim in PLACE]
    every = tuple((query_set, dataset, system) for query_set in axes[0] for dataset in axes[1] for system in axes[2])
    return TextColumns(PLACE, every, rows)


_NOTHING = LongTable((), (), np.zeros((0, 0)))
