"""Trials as an xarray dataset, the form in which they are stored and looked at."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.formats.table import Array, recode
from pipeline.partials.packed import Decimals
from pipeline.store.columns import Group, Variable, load_all
from pipeline.trials.schema import Codes, Floats, Ints, Timeline, Trials

if TYPE_CHECKING:
    import xarray as xr

_NUMBERS = {"begin": "begin_s", "duration": "dur_s", "score": "score"}
_STORED = {field: name for name, field in _NUMBERS.items()}
_CODES = ("query", "file", "channel", "score_order")
_BY_TRIAL = (*_CODES, *_NUMBERS, "decision", "row")
_BLOCK_FIELDS = ("search_time_s", "oov_count")

_DESCRIBED: dict[str, tuple[str, str, str]] = {
    "query": ("1", "query, as a position in query_id", "system output, block"),
    "query_id": ("", "query names, sorted", "system output, block"),
    "file_name": ("", "recording names, sorted", "system output, file"),
    "channel_name": ("", "channel names, sorted", "system output, channel"),
    "recording": ("", "recordings of the dataset, sorted", "ECF, audio_filename"),
    "file": ("1", "recording, as a position in file_name", "system output, file"),
    "channel": ("1", "channel, as a position in channel_name", "system output, channel"),
    "begin": ("s", "begin in the recording", "system output, tbeg"),
    "duration": ("s", "duration", "system output, dur"),
    "score": ("1", "score, higher is likelier", "system output, score"),
    "score_order": ("1", "rank of the score's text among those of the output", "system output, score"),
    "decision": ("1", "whether the hard decision is YES", "system output, decision"),
    "row": ("1", "source line, counted from first_row of the query", "system output"),
    "first_row": ("1", "first source line of the query's detections, 0 without any", "system output"),
    "bucket_offset": (
        "1",
        "first row of each bucket of queries, with the number of rows at the end",
        "hash of the query",
    ),
    "recording_begin": ("s", "begin of each recording on the dataset's timeline", "ECF"),
    "timeline_end": ("s", "length of the dataset's timeline", "ECF"),
    "score_range": ("1", "lowest and highest finite score of the output, NaN without any", "system output, score"),
    "header_range": (
        "1",
        "declared lowest and highest score, NaN where not declared",
        "system output, min_score, max_score",
    ),
    "block_present": ("1", "whether the output has a block for the query", "system output, block"),
    "search_time": ("s", "search time of the query, NaN where not declared", "system output, search_time"),
    "oov_count": ("1", "out-of-vocabulary words of the query, NaN where not declared", "system output, oov_count"),
}
"""Units, long name and source of every array."""


def to_dataset(trials: Trials, timeline: Timeline, source: Mapping[str, str | int]) -> xr.Dataset:
    """Trials of one output as a dataset; ``source`` (where they come from: uri, sha256, …) becomes its attributes.

    Dimension ``trial`` with coordinate ``query`` (position in ``query_id``); ``bucket_offset`` over ``bucket_edge``
    says where each bucket of queries begins. Every array carries ``units``, ``long_name`` and ``source``; names are
    variable-length strings. Where ``begin``, ``duration`` or ``score`` has the attribute ``decimals``, the values are
    whole numbers to be divided by that power of ten. Nothing is lost: see ``from_dataset``.
    """
    import xarray as xr

    first = _first_rows(trials)
    lines = trials.row - first[trials.query]
    data: dict[str, Any] = {
        "file": ("trial", _narrow(trials.file)),
        "channel": ("trial", _narrow(trials.channel)),
        **{name: ("trial", *_stored(getattr(trials, field))) for name, field in _NUMBERS.items()},
        "decision": ("trial", trials.decision),
        "row": ("trial", _narrow(lines)),
        "first_row": ("query_id", first),
        "bucket_offset": ("bucket_edge", trials.offsets),
        "recording_begin": ("recording", timeline.offset_s[:-1]),
        "timeline_end": ((), timeline.offset_s[-1]),
        "score_range": ("bound", np.array(trials.score_range, np.float64)),
        "header_range": ("bound", np.array(trials.header_range or (math.nan, math.nan), np.float64)),
        "block_present": ("query_id", np.array([name in trials.blocks for name in trials.queries], np.bool_)),
        "search_time": ("query_id", _per_query(trials, "search_time_s")),
        "oov_count": ("query_id", _per_query(trials, "oov_count")),
    }
    if trials.score_order is not None:
        data["score_order"] = ("trial", _narrow(trials.score_order))
    coordinates = {
        "query": ("trial", _narrow(trials.query)),
        "query_id": ("query_id", _names(trials.queries)),
        "file_name": ("file_name", _names(trials.files)),
        "channel_name": ("channel_name", _names(trials.channels)),
        "recording": ("recording", _names(timeline.files)),
    }
    dataset = xr.Dataset(data, coordinates, {"title": "trials", **source})
    for name, (units, long_name, origin) in _DESCRIBED.items():
        if name not in dataset:
            continue  # not every output has an order of texts
        dataset[name].attrs.update(units=units, long_name=long_name, source=origin)
    return dataset


def _stored(values: Floats) -> tuple[Array, dict[str, int]]:
    """Numbers with few decimals as whole numbers, with how many decimals they have; others, and those with a -0,
    as they are.

    Whole numbers divided by that power of ten are the same doubles: it is tried on every one of them.
    """
    decimals = None if np.signbit(values[values == 0.0]).any() else Decimals.of(values)
    if decimals is None:
        return values, {}
    return _narrow(decimals.whole), {"decimals": decimals.places}


def _narrow(whole: Ints | Codes) -> Array:
    """The same in the smallest type that holds all of these whole numbers."""
    low, high = int(whole.min(initial=0)), int(whole.max(initial=0))
    return whole.astype(np.result_type(np.min_scalar_type(high), np.min_scalar_type(low)))


def _first_rows(trials: Trials) -> Ints:
    first = np.full(len(trials.queries), np.iinfo(np.int64).max)
    np.minimum.at(first, trials.query, trials.row)
    first[first == np.iinfo(np.int64).max] = 0
    return first


def _names(names: tuple[str, ...]) -> Any:
    return np.array(names, np.dtypes.StringDType())


def _per_query(trials: Trials, name: str) -> Any:
    return np.array([trials.blocks.get(query, {}).get(name, math.nan) for query in trials.queries], np.float64)


def from_dataset(dataset: Group, first_bucket: int, last_bucket: int) -> Trials:
    """Buckets ``first_bucket`` up to ``last_bucket`` (exclusive) of a stored dataset; only their rows are read.

    Equal to ``trials.tiles(first_bucket, last_bucket)`` of the trials that ``to_dataset`` took.
    """
    return reader(dataset)(first_bucket, last_bucket)


def reader(dataset: Group) -> Callable[[int, int], Trials]:
    """What ``from_dataset`` does of a dataset, all that is not by trial being read once."""
    header_range = dataset.variables["header_range"].to_numpy().tolist()
    files = _text(dataset, "file_name")
    about = {
        "queries": _text(dataset, "query_id"),
        "files": files,
        "channels": _text(dataset, "channel_name"),
        "offsets": dataset.variables["bucket_offset"].to_numpy(),
        "score_range": tuple(dataset.variables["score_range"].to_numpy().tolist()),
        "header_range": None if math.isnan(header_range[0]) else tuple(header_range),
        "blocks": _blocks(dataset),
    }
    starts_s = np.append(dataset.variables["recording_begin"].to_numpy(), math.nan)
    starts_s = starts_s[recode(files, _text(dataset, "recording"))]
    return partial(_tiles, about, _Rows(dataset.variables, starts_s, dataset.variables["first_row"].to_numpy()))


def _tiles(about: Mapping[str, Any], output: _Rows, first_bucket: int, last_bucket: int) -> Trials:
    offsets: Ints = about["offsets"]
    begin, end = int(offsets[first_bucket]), int(offsets[last_bucket])
    rows = output.part(begin, end)
    load_all(rows.columns.values())
    return Trials.later({**about, "offsets": np.clip(offsets - begin, 0, end - begin)}, rows)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Stored rows, of which a column is made when it is asked for."""

    columns: Mapping[str, Variable]
    starts_s: Floats
    """Where each file begins on the timeline."""
    first_row: Ints
    """The first source line of each query."""

    def part(self, begin: int, end: int) -> _Rows:
        """Rows ``begin`` up to ``end`` (exclusive)."""
        some = {name: self.columns[name][begin:end] for name in _BY_TRIAL if name in self.columns}
        return _Rows(some, self.starts_s, self.first_row)

    def column(self, name: str) -> Array | None:
        """The column of a field of ``Trials``; None for ``score_order`` where there is none."""
        if name == "score_order" and name not in self.columns:
            return None
        if name == "time_s":
            return self.starts_s[self._values("file")] + self._values("begin")
        if name == "row":
            return self.first_row[self._values("query")] + self._values("row")
        return self._values(_STORED.get(name, name))

    def _values(self, name: str) -> Array:
        """An array's values: codes as int32, numbers with few decimals as doubles."""
        places, values = self.columns[name].attrs.get("decimals"), self.columns[name].to_numpy()
        if name in _CODES:
            return values.astype(np.int32, copy=False)
        return values if places is None else np.divide(values, 10.0**places)


def _text(dataset: Group, name: str) -> tuple[str, ...]:
    return tuple(dataset.variables[name].to_numpy().tolist())


def _blocks(dataset: Group) -> dict[str, dict[str, float]]:
    present, time_s, oov_count = (
        dataset.variables[name].to_numpy().tolist() for name in ("block_present", "search_time", "oov_count")
    )
    rows = zip(_text(dataset, "query_id"), present, zip(time_s, oov_count, strict=True), strict=True)
    return {query: dict(zip(_BLOCK_FIELDS, values, strict=True)) for query, given, values in rows if given}
