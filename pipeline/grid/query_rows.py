"""What is told of a cell by query (event, language, speaker): rows that follow one another by cell.

The group ``queries`` is a contiguous ragged array as CF has them: ``value(row, count)``, and of each cell
``first_row`` and ``n_rows``. So a cell takes room for the queries that it has, not for those of all query sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.engine.packed_rows import PackedRows
from pipeline.engine.result import Result
from pipeline.engine.rows import columns_of
from pipeline.grid.axes import CELL, Axes, array, text_array

if TYPE_CHECKING:
    import xarray as xr

ROW, FIRST, N_ROWS, PLACE = "row", "first_row", "n_rows", "query_place"


@dataclass(frozen=True)
class QueryRows:
    """The rows of one group: counts and rates of (cell, query), NaN where undefined."""

    counts: tuple[str, ...]
    queries: tuple[tuple[str, str], ...]
    """Identifier and text of every query. An identifier that two lists give different texts stands twice."""
    query: NDArray[np.int64]
    """By row, the place in ``queries``."""
    value: Floats
    """By row and count."""
    first: NDArray[np.int64]
    n_rows: NDArray[np.int64]
    """By (system, query set, dataset): the cell's first row, and how many it has."""

    def of(self, place: tuple[int, int, int]) -> slice:
        """The rows of the cell at a place of (system, query set, dataset)."""
        first = int(self.first[place])
        return slice(first, first + int(self.n_rows[place]))

    def within(self, order: tuple[str, str, str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All rows, cells in the order of these dimensions: which cell each is of, counted in it, and the row."""
        axes = [CELL.index(name) for name in order]
        first, n = (one.transpose(axes).ravel() for one in (self.first, self.n_rows))
        rows = np.concatenate([np.arange(0), *(np.arange(at, at + size) for at, size in zip(first, n, strict=True))])
        return np.repeat(np.arange(first.size), n), rows


def gathered(axes: Axes, results: Sequence[Result]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables and coordinates of the group ``queries``."""
    ordered = sorted((result for result in results if result.blocks), key=axes.place)
    tables = [columns_of(result.blocks) for result in ordered]
    texts = {name for table in tables for name, column in table.items() if column is None}
    counts = tuple(name for name in dict.fromkeys(chain.from_iterable(tables)) if name not in texts)
    asked = [_queries_of(result) for result in ordered]
    known = sorted(set(chain.from_iterable(asked)))
    places = {query: at for at, query in enumerate(known)}
    first, n_rows = (np.zeros(axes.shape, np.int64) for _ in range(2))
    total = sum(len(result.blocks) for result in ordered)
    value, query = np.full((total, len(counts)), np.nan), np.zeros(total, np.int64)
    begin = 0
    for result, table, queries in zip(ordered, tables, asked, strict=True):
        rows = slice(begin, begin + len(result.blocks))
        first[axes.place(result)], n_rows[axes.place(result)] = begin, len(result.blocks)
        query[rows] = [places[one] for one in queries]
        for at, name in enumerate(counts):
            if (column := table.get(name)) is not None:
                value[rows, at] = column
        begin = rows.stop
    return _variables(QueryRows(counts, tuple(known), query, value, first, n_rows)), _coords(
        counts, known, axes.coords()
    )


def _queries_of(result: Result) -> list[tuple[str, str]]:
    """Identifier and text of each row's query."""
    blocks = result.blocks
    if isinstance(blocks, PackedRows):
        ids = [str(one) for one in blocks.columns["id"]]
        return list(zip(ids, map(str, blocks.columns.get("text", [""] * len(ids))), strict=True))
    return [(str(block["id"]), str(block.get("text", ""))) for block in blocks]


def read_rows(group: xr.Dataset) -> QueryRows:
    """The rows of a group ``queries``; of one that was published with a dense array, those with anything defined."""
    ids, texts, counts = ([str(one) for one in group[name].values.tolist()] for name in ("query", "text", "count"))
    queries = tuple(zip(ids, texts, strict=True))
    if ROW in group.dims:
        first, n_rows = (group[name].transpose(*CELL).values for name in (FIRST, N_ROWS))
        value = group["value"].transpose(ROW, "count").values
        return QueryRows(tuple(counts), queries, group[PLACE].values, value, first, n_rows)
    dense = group["value"].transpose(*CELL, "query", "count").values
    defined = ~np.isnan(dense).all(axis=-1)
    n_rows = defined.sum(axis=-1)
    first = (np.cumsum(n_rows.ravel()) - n_rows.ravel()).reshape(n_rows.shape)
    return QueryRows(tuple(counts), queries, np.nonzero(defined)[-1], dense[defined], first, n_rows)


def kept_of(group: xr.Dataset, shown: NDArray[np.bool_]) -> xr.Dataset:
    """The group with the rows of the datasets that are ``shown`` (by dataset), and their queries, alone."""
    import xarray as xr

    rows = read_rows(group)
    n_rows = np.where(shown, rows.n_rows, 0)
    _, all_rows = QueryRows(rows.counts, rows.queries, rows.query, rows.value, rows.first, n_rows).within(CELL)
    used, query = np.unique(rows.query[all_rows], return_inverse=True)
    first = (np.cumsum(n_rows.ravel()) - n_rows.ravel()).reshape(n_rows.shape)
    queries = tuple(rows.queries[at] for at in used.tolist())
    kept = QueryRows(rows.counts, queries, query.astype(np.int64), rows.value[all_rows], first, n_rows)
    axes = {name: group[name] for name in CELL}
    return xr.Dataset(_variables(kept), coords=_coords(kept.counts, queries, axes), attrs=group.attrs)


def _variables(rows: QueryRows) -> dict[str, Any]:
    texts = [text for _, text in rows.queries]
    return {
        "value": array(rows.value, (ROW, "count"), "per query at the submitted decisions; NaN = undefined", "ledger"),
        PLACE: array(rows.query, (ROW,), "position of the row's query in `query`", "rescore"),
        FIRST: array(rows.first, CELL, "first row of the cell", "rescore"),
        N_ROWS: array(rows.n_rows, CELL, "rows of the cell, which follow one another", "rescore"),
        "text": text_array(texts, ("query",), "query text", "query list"),
    }


def _coords(counts: Sequence[str], queries: Sequence[tuple[str, str]], axes: dict[str, Any]) -> dict[str, Any]:
    return {
        **axes,
        "query": text_array([name for name, _ in queries], ("query",), "query", "query list"),
        "count": text_array(counts, ("count",), "counts and rates", "rescore"),
    }
