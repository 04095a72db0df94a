"""Trials as an xarray dataset, the form in which they are stored and looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.arrays import Codes, Ints
from pipeline.formats.table import Array
from pipeline.trials.ragged import FIRST_ROW, N_ROWS, codes_of, runs_of
from pipeline.trials.schema import Timeline, Trials

if TYPE_CHECKING:
    import xarray as xr


_ROWS = {"begin": "begin_s", "duration": "dur_s", "score": "score", "decision": "decision", "line": "row"}
"""Stored arrays by trial, and the fields they hold."""
_STORED = {field: name for name, field in _ROWS.items()} | {"time_s": "time"}
_CODES = ("file", "channel", "score_order")
_BLOCK_FIELDS = ("search_time_s", "oov_count")

_DESCRIBED: dict[str, tuple[str, str, str]] = {
    "query": ("", "query names, sorted", "system output, block"),
    "first_row": ("1", "first row of the query's trials", "system output, block"),
    "n_rows": ("1", "number of the query's trials, which follow one another", "system output, block"),
    "time": ("s", "begin on the dataset's timeline, NaN where the recording is not on it", "system output, tbeg; ECF"),
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
    "line": ("1", "source line", "system output"),
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

    Dimensions ``query`` and ``trial``. The trials of a query are the rows ``first_row`` up to ``first_row + n_rows``
    (CF's contiguous ragged array), by file, channel and begin. Each has its ``time`` on the dataset's timeline, which
    never falls within a query where recordings have one channel. ``bucket_offset`` over ``bucket_edge`` says where
    each bucket of queries begins. Every array carries ``units``, ``long_name`` and ``source``; names are
    variable-length strings. Nothing is lost: see ``from_dataset``.
    """
    import xarray as xr

    data: dict[str, Any] = {
        "file": ("trial", _narrow(trials.file, len(trials.files) - 1)),
        "channel": ("trial", _narrow(trials.channel, len(trials.channels) - 1)),
        **{name: ("trial", getattr(trials, field)) for name, field in _ROWS.items()},
        **{name: ("query", runs) for name, runs in runs_of(trials.query, len(trials.queries)).items()},
        "bucket_offset": ("bucket_edge", trials.offsets),
        "recording_begin": ("recording", timeline.offset_s[:-1]),
        "timeline_end": ((), timeline.offset_s[-1]),
        "score_range": ("bound", np.array(trials.score_range, np.float64)),
        "header_range": ("bound", np.array(trials.header_range or (math.nan, math.nan), np.float64)),
        "block_present": ("query", np.array([name in trials.blocks for name in trials.queries], np.bool_)),
        "search_time": ("query", _per_query(trials, "search_time_s")),
        "oov_count": ("query", _per_query(trials, "oov_count")),
    }
    if trials.score_order is not None:
        data["score_order"] = ("trial", _narrow(trials.score_order, int(trials.score_order.max(initial=0))))
    coordinates = {
        "time": ("trial", trials.time_s),
        "query": ("query", _names(trials.queries)),
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


def _narrow(whole: Ints | Codes, highest: int) -> Array:
    """Whole numbers in the smallest type that holds all up to the highest."""
    return whole.astype(np.min_scalar_type(max(highest, 0)))


def _names(names: tuple[str, ...]) -> Any:
    return np.array(names, np.dtypes.StringDType())


def _per_query(trials: Trials, name: str) -> Any:
    return np.array([trials.blocks.get(query, {}).get(name, math.nan) for query in trials.queries], np.float64)


def from_dataset(dataset: xr.Dataset, first_bucket: int, last_bucket: int) -> Trials:
    """Buckets ``first_bucket`` up to ``last_bucket`` (exclusive) of a stored dataset; only their rows are read.

    Equal to ``trials.tiles(first_bucket, last_bucket)`` of the trials that ``to_dataset`` took.
    """
    stored = dataset.variables
    offsets: Ints = stored["bucket_offset"].to_numpy()
    begin, end = int(offsets[first_bucket]), int(offsets[last_bucket])
    header_range = stored["header_range"].to_numpy().tolist()
    about = {
        "queries": _text(dataset, "query"),
        "files": _text(dataset, "file_name"),
        "channels": _text(dataset, "channel_name"),
        "offsets": np.clip(offsets - begin, 0, end - begin),
        "score_range": tuple(stored["score_range"].to_numpy().tolist()),
        "header_range": None if math.isnan(header_range[0]) else tuple(header_range),
        "blocks": _blocks(dataset),
    }
    return Trials.later(about, _Rows(dataset, begin, end))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Stored rows, of which a column is made when it is asked for."""

    dataset: xr.Dataset
    begin: int
    end: int

    def part(self, begin: int, end: int) -> _Rows:
        """Rows ``begin`` up to ``end`` (exclusive)."""
        return _Rows(self.dataset, self.begin + begin, self.begin + end)

    def column(self, name: str) -> Array | None:
        """The column of a field of ``Trials``; None for ``score_order`` where there is none."""
        if name == "score_order" and name not in self.dataset:
            return None
        if name == "query":
            return self._queries()
        values: Array = self.dataset.variables[_STORED.get(name, name)][self.begin : self.end].to_numpy()
        return values.astype(np.int32, copy=False) if name in _CODES else values

    def _queries(self) -> Codes:
        """The query of every row: those of one follow one another."""
        first, n_rows = (self.dataset.variables[name].to_numpy() for name in (FIRST_ROW, N_ROWS))
        return codes_of(first, n_rows, self.begin, self.end)


def _text(dataset: xr.Dataset, name: str) -> tuple[str, ...]:
    return tuple(dataset.variables[name].to_numpy().tolist())


def _blocks(dataset: xr.Dataset) -> dict[str, dict[str, float]]:
    present, time_s, oov_count = (
        dataset.variables[name].to_numpy().tolist() for name in ("block_present", "search_time", "oov_count")
    )
    rows = zip(_text(dataset, "query"), present, zip(time_s, oov_count, strict=True), strict=True)
    return {query: dict(zip(_BLOCK_FIELDS, values, strict=True)) for query, given, values in rows if given}
