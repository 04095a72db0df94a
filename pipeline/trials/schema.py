"""The values that trials and reference occurrences travel in, in memory. Protocol-neutral: no cost, no label.

Rows are in a canonical order that does not depend on the order of any input file, and vocabularies are sorted,
so that equal contents are equal bytes. A *tile* is one bucket of queries; ``offsets`` says where it begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.store.address import digest_columns

N_BUCKETS = 64


@dataclass(frozen=True)
class Trials:
    """Detections of one output on one dataset's timeline, sorted by (bucket, query, file, channel, begin, …).

    ``query``, ``file`` and ``channel`` are codes into the sorted vocabularies. Times are seconds from the start of
    the recording; ``time_s`` is the begin on the dataset's timeline (NaN where the file is not on it).
    ``row`` is the source line and takes no part in any digest or figure.
    """

    queries: tuple[str, ...]
    files: tuple[str, ...]
    channels: tuple[str, ...]
    query: Codes
    file: Codes
    channel: Codes
    begin_s: Floats
    dur_s: Floats
    time_s: Floats
    score: Floats
    decision: Bools
    row: Ints
    offsets: Ints
    """Row where each bucket begins, with the total at the end: length n_buckets + 1."""
    score_range: tuple[float, float]
    """Lowest and highest finite score of the whole output as submitted; (nan, nan) without detections."""
    header_range: tuple[float, float] | None = None
    """``min_score`` and ``max_score`` declared by the output's header, where it declares them."""
    blocks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Per query of the output: ``search_time_s``, ``oov_count`` (NaN where absent)."""
    score_order: Codes | None = None
    """Rank of each score's text among all texts of the output, where that order is wanted and differs from numbers'."""

    @classmethod
    def later(cls, about: Mapping[str, Any], rows: Later) -> Trials:
        """Trials whose columns are made when they are first asked for; ``about`` has every other field."""
        trials = object.__new__(cls)
        vars(trials).update(about, score_order=rows.column("score_order"), _rows=rows)
        return trials

    if not TYPE_CHECKING:  # else any name would pass for an attribute

        def __getattr__(self, name: str) -> Any:
            rows = vars(self).get("_rows")
            if rows is None or name not in ROWS:
                raise AttributeError(f"Trials have no {name!r}")
            return vars(self).setdefault(name, rows.column(name))

    def __len__(self) -> int:
        return int(self.query.size)

    def tiles(self, first: int, last: int) -> Trials:
        """Buckets ``first`` up to ``last`` (exclusive) as trials of their own; views, nothing is copied."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        offsets = np.clip(self.offsets - begin, 0, end - begin)
        rows: Later | None = vars(self).get("_rows")
        if rows is not None:
            about = {name: value for name, value in vars(self).items() if name not in ROWS}
            return Trials.later({**about, "offsets": offsets}, rows.part(begin, end))
        columns = _rows(self, _TRIAL_COLUMNS, slice(begin, end))
        ranks = None if self.score_order is None else self.score_order[begin:end]
        return replace(self, offsets=offsets, score_order=ranks, **columns)


class Later(Protocol):
    """Rows of trials whose columns are still to be made."""

    def part(self, begin: int, end: int) -> Later:
        """Rows ``begin`` up to ``end`` (exclusive)."""
        ...

    def column(self, name: str) -> NDArray[Any] | None:
        """The column of a field of ``Trials``; None where the trials have no such column."""
        ...


@dataclass(frozen=True)
class Occurrences:
    """Reference occurrences of queries, sorted like trials.

    The first word lasts from ``begin_s`` to ``first_end_s``, the last one from ``last_begin_s`` to ``end_s``.
    """

    queries: tuple[str, ...]
    files: tuple[str, ...]
    channels: tuple[str, ...]
    query: Codes
    file: Codes
    channel: Codes
    begin_s: Floats
    end_s: Floats
    last_begin_s: Floats
    first_end_s: Floats
    row: Ints
    offsets: Ints

    def __len__(self) -> int:
        return int(self.query.size)

    def tiles(self, first: int, last: int) -> Occurrences:
        """Buckets ``first`` up to ``last`` (exclusive) as occurrences of their own; views, nothing is copied."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        offsets = np.clip(self.offsets - begin, 0, end - begin)
        return replace(self, offsets=offsets, **_rows(self, _OCCURRENCE_COLUMNS, slice(begin, end)))


_TRIAL_COLUMNS = ("query", "file", "channel", "begin_s", "dur_s", "time_s", "score", "decision", "row")
ROWS = (*_TRIAL_COLUMNS, "score_order")
"""The fields of trials that have a value for each."""
_OCCURRENCE_COLUMNS = ("query", "file", "channel", "begin_s", "end_s", "last_begin_s", "first_end_s", "row")


def _rows(value: Trials | Occurrences, columns: tuple[str, ...], rows: slice) -> dict[str, Any]:
    return {name: getattr(value, name)[rows] for name in columns}


@dataclass(frozen=True, eq=False)
class Excerpts:
    """The parts of recordings that are evaluated. ``file`` and ``channel`` are codes into sorted vocabularies.

    Rows are in order of file; within one, in the order of the ECF wherever that counts (``excerpt_order``).
    """

    files: tuple[str, ...]
    channels: tuple[str, ...]
    file: Codes
    channel: Codes
    begin_s: Floats
    end_s: Floats
    dur_s: Floats
    source_type: tuple[str, ...]

    def take(self, rows: Ints | Bools) -> Excerpts:
        """The excerpts that an index or boolean array selects, in its order: every column, vocabularies whole."""
        at = np.arange(self.file.size)[rows]
        taken: dict[str, Any] = {}
        for entry in fields(self):
            column = getattr(self, entry.name)
            if entry.name not in _EXCERPT_NAMES:
                taken[entry.name] = tuple(column[row] for row in at) if isinstance(column, tuple) else column[at]
        return replace(self, **taken)


_EXCERPT_NAMES = ("files", "channels")
"""The vocabularies of excerpts. Every other field has a value for each excerpt."""


@dataclass(frozen=True)
class Timeline:
    """All recordings of a dataset laid end to end, in sorted order of their names."""

    files: tuple[str, ...]
    offset_s: Floats
    """Where each file begins on the timeline, seconds; length n_files + 1."""
    excerpts: Excerpts
    header_s: float
    """``source_signal_duration`` of the ECF; NaN where absent."""

    @cached_property
    def placed(self) -> str:
        """SHA-256 of the recordings with their places: many addresses hold it."""
        return digest_columns({"files": self.files, "offset_s": self.offset_s})
