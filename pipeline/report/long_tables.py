"""Everything that a page shows, as long tables: what notebooks take, and what lies beside the page as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from pipeline.report.board import names, strings
from pipeline.report.det import COLUMNS
from pipeline.report.spreadsheet import guarded

PLACE = ("query_set", "dataset", "system")


def query_rows(grid: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """One row per (query set, dataset, system, query) that was counted: query, text, then counts and rates (float, NaN
    where undefined), as the group ``queries`` has them. Events, languages and speakers are queries here.
    """
    group = grid.get("queries")
    if group is None or "value" not in group:
        return []
    values = group["value"].transpose(*PLACE, "query", "count").values
    queries, texts = names(group, "query"), strings(group["text"]).tolist()
    counts = names(group, "count")
    known = ~np.isnan(values).all(axis=-1)
    places, numbers = np.argwhere(known).tolist(), values[known].tolist()
    axes = tuple(names(group, dim) for dim in PLACE)
    return [
        {
            **{dim: axis[at] for dim, axis, at in zip(PLACE, axes, place[:3], strict=True)},
            "query": queries[place[3]],
            "text": texts[place[3]],
            **dict(zip(counts, row, strict=True)),
        }
        for place, row in zip(places, numbers, strict=True)
    ]


def curve_rows(grid: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """One row per point of every cell's curve: threshold, p_miss, p_fa, twv (NaN where undefined)."""
    group = grid.get("curves")
    if group is None or not {"first", "last"} <= set(group.variables):
        return []
    first, last = (group[name].transpose(*PLACE).values for name in ("first", "last"))
    columns = {name: group[name].values.tolist() for name in COLUMNS if name in group}
    axes = tuple(names(group, dim) for dim in PLACE)
    return [
        {
            **{dim: axis[at] for dim, axis, at in zip(PLACE, axes, place, strict=True)},
            **{name: column[row] for name, column in columns.items()},
        }
        for place in np.ndindex(*first.shape)
        for row in range(int(first[place]), int(last[place]))
    ]


def csv_bytes(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Rows of equal keys as CSV (UTF-8, RFC 4180): figures read back to the same bits, undefined ones are empty."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for at, row in enumerate(rows):
        if at == 0:
            writer.writerow(guarded(str(name)) for name in row)
        writer.writerow([_field(value) for value in row.values()])
    return out.getvalue().encode("utf-8", "replace")


def _field(value: Any) -> Any:
    """What the CSV writer takes: it writes floats as ``exact`` does."""
    if type(value) is float:
        return "" if value != value else value  # noqa: PLR0124 - millions of them, and NaN alone differs from itself
    return guarded(str(value))
