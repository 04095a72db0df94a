"""Systems × queries: how well every system did on every query, as a map and as numbers for the page's script."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.grid.query_rows import QueryRows, read_rows
from pipeline.metrics.best import worths
from pipeline.protocols.blocks import Blocks
from pipeline.report.board import ALL, RunBoards, names
from pipeline.report.columns import coded
from pipeline.report.plots.linear import MOST

FEW = 60
"""Up to so many queries every column is told, not only the usual ones."""
NAMED = 40
"""Up to so many queries their names stand under the map."""
HARDEST = 25
COLOURS = (
    "#7f2704", "#b34a0f", "#d96f1e", "#ef9c4b", "#f6c98a",
    "#d5e3ec", "#a3c8de", "#67a5cb", "#347cae", "#11507f",
)  # fmt: skip
"""Of the levels, worst first."""


@dataclass(frozen=True, slots=True)
class HardQuery:
    """One query with the mean of the mapped measure over systems, its range, and its size in the key."""

    id: str
    text: str
    size: float
    mean: float
    worst: float
    best: float


@dataclass(frozen=True)
class QueryMap:
    """One (query set, dataset): rows are systems in the board's order, columns queries from hard to easy.

    ``picture`` is the map as a data URL, a pixel a query and system; ``data`` is what the page's script reads of it.
    """

    query_set: str
    dataset: str
    measure: str
    better: str
    size_name: str
    systems: tuple[str, ...]
    places: tuple[int, ...]
    queries: tuple[str, ...]
    picture: str
    hardest: tuple[HardQuery, ...]
    data: Mapping[str, Any]


def query_maps(run: RunBoards, grid: Mapping[str, xr.Dataset]) -> tuple[QueryMap, ...]:
    """One map per board with queries that have the mapped measure, from the group ``queries``."""
    group = grid.get("queries")
    if group is None or "value" not in group or not group.sizes.get("query"):
        return ()
    found = read_rows(group)
    columns = found.counts
    blocks = run.protocol.family.can.blocks if run.protocol else None
    if blocks is None or blocks.mapped not in columns:
        return ()
    at = {dim: {name: i for i, name in enumerate(names(group, dim))} for dim in ("query_set", "dataset", "system")}
    maps = []
    for board in run.boards_of(ALL):
        systems = [entry.system for entry in board.entries if not entry.failed]
        pair = at["query_set"][board.query_set], at["dataset"][board.dataset]
        known, part = _by_query(found, [found.of((at["system"][name], *pair)) for name in systems])
        there = np.isfinite(part[..., columns.index(blocks.mapped)]).any(axis=0)
        if there.any():
            labels = [found.queries[k] for k in known[there].tolist()]
            place = (board.query_set, board.dataset)
            maps.append(_map(place, blocks, systems, run.systems, labels, columns, part[:, there]))
    return tuple(maps)


def _by_query(found: QueryRows, cells: Sequence[slice]) -> tuple[NDArray[np.int64], Floats]:
    """The queries that any of some cells has, by place, and (cell, query, count), NaN where a cell has not."""
    known = np.unique(np.concatenate([np.empty(0, np.int64), *(found.query[rows] for rows in cells)]))
    values = np.full((len(cells), known.size, len(found.counts)), np.nan)
    for cell, rows in enumerate(cells):
        values[cell, np.searchsorted(known, found.query[rows])] = found.value[rows]
    return known, values


def _map(
    place: tuple[str, str],
    blocks: Blocks,
    systems: Sequence[str],
    every: Sequence[str],
    labels: Sequence[tuple[str, str]],
    columns: Sequence[str],
    values: Floats,
) -> QueryMap:
    measure, better = blocks.mapped, blocks.better
    mapped = values[..., columns.index(measure)]
    size_name = blocks.size if blocks.size in columns else ""
    sizes = _over_systems(values[..., columns.index(size_name)], np.fmax) if size_name else np.full(len(labels), np.nan)
    mean = _mean(mapped)
    hard = worths(mean, better)
    order = sorted(range(len(labels)), key=lambda k: (hard[k], labels[k][0]))
    ends = _over_systems(mapped, np.fmin), _over_systems(mapped, np.fmax)
    worst, best = ends if better == "higher" else ends[::-1]
    hardest = tuple(
        HardQuery(*labels[k], float(sizes[k]), float(mean[k]), float(worst[k]), float(best[k])) for k in order[:HARDEST]
    )
    shown = [name for name in columns if len(labels) <= FEW or name in blocks.usual]
    data = {
        "q": place[0],
        "d": place[1],
        "measure": measure,
        "better": better,
        "size": size_name,
        "systems": [every.index(name) for name in systems],
        "ids": [labels[k][0] for k in order],
        "texts": [labels[k][1] for k in order],
        "columns": coded({name: values[:, order, columns.index(name)] for name in shown}),
    }
    queries = tuple(labels[k][0] for k in order)
    places = tuple(every.index(name) for name in systems)
    picture = data_url(levels(mapped[:, order], better), COLOURS)
    return QueryMap(*place, measure, better, size_name, tuple(systems), places, queries, picture, hardest, data)


def _mean(values: Floats) -> Floats:
    """Means over systems of what is finite; NaN where nothing is."""
    known = np.isfinite(values)
    finite, n = np.where(known, values, 0.0), known.sum(axis=0)
    unit = 2.0**-64 if float(np.abs(finite).max(initial=0.0)) > MOST else 1.0  # sums of huge values would overflow
    means: Floats = np.divide((finite * unit).sum(axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    return means / unit


def _over_systems(values: Floats, combine: np.ufunc) -> Floats:
    return np.asarray(combine.reduce(values, axis=0), np.float64)


def levels(values: Floats, better: str) -> NDArray[np.int64]:
    """Places in ``COLOURS``, 0 the worst, of values between 0 and 1; -1 where undefined."""
    inner = np.clip(np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
    good = inner if better == "higher" else 1.0 - inner
    return np.where(np.isnan(values), -1, np.minimum((good * len(COLOURS)).astype(np.int64), len(COLOURS) - 1))


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED = (8, 3, 0, 0, 0)  # bits, colour type, compression, filter, interlace


def data_url(levels: NDArray[np.int64], colours: Sequence[str]) -> str:
    """A picture as a URL that holds it. ``levels``: (row, column), places in ``colours`` (#rrggbb), -1 transparent."""
    height, width = levels.shape
    pixels = np.zeros((height, width + 1), np.uint8)  # every row begins with its filter: none
    pixels[:, 1:] = levels + 1
    palette = b"\0\0\0" + b"".join(bytes.fromhex(colour[1:]) for colour in colours)
    parts = (
        (b"IHDR", struct.pack(">2I5B", width, height, *_INDEXED)),
        (b"PLTE", palette),
        (b"tRNS", b"\0"),
        (b"IDAT", zlib.compress(pixels.tobytes(), 9)),
        (b"IEND", b""),
    )
    data = _SIGNATURE + b"".join(_chunk(name, body) for name, body in parts)
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
