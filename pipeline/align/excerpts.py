"""Which times lie inside the evaluated parts of the recordings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pipeline.align.mapping.grouped import positions_within
from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.table import Array, recode, wide
from pipeline.trials.schema import Excerpts, Occurrences, Trials
from pipeline.trials.spans import holding

_PLACES_AT_MOST = 1 << 20
"""Files by channels, of which a table is made."""

Names = tuple[tuple[str, ...], tuple[str, ...]]
"""Files and channels."""


class Places(NamedTuple):
    """Where rows are: each row's file and channel, as codes into the rows' own vocabularies."""

    files: tuple[str, ...]
    channels: tuple[str, ...]
    file: Codes
    channel: Codes

    @classmethod
    def of(cls, rows: Trials | Occurrences) -> Places:
        """Those of trials or occurrences."""
        return cls(rows.files, rows.channels, rows.file, rows.channel)

    @property
    def names(self) -> Names:
        """Both vocabularies."""
        return self.files, self.channels


def inside_excerpts(excerpts: Excerpts, places: Places, begin_s: Floats, end_s: Floats) -> Bools:
    """For each row, whether one excerpt of its file and channel holds it whole: ``begin >= TBEG and end <= TEND``.

    Times are seconds. Both borders belong to the excerpt. A row across two abutting excerpts is outside; excerpts may
    overlap or nest.

    Source: KWSEval, KWSAlignment.pm (F4DE 3.5.0) lines 370-385; OpenKWS13 evaluation plan, section 3.4.
    """
    if excerpts.file.size == 0:
        return np.zeros(places.file.size, np.bool_)
    spans = _spans(excerpts)
    place = _of_places(spans.place, excerpts, places.names)
    at = _place_of_rows(excerpts, places)
    inside: Bools = (begin_s >= spans.opens_s[place][at]) & (end_s <= spans.closes_s[place][at])
    if spans.several.any():
        rows = np.flatnonzero(spans.several[place][at])
        of = place[at[rows]]
        first = spans.first[of]
        begun = positions_within(spans.begin_s, first, spans.first[of + 1], begin_s[rows], after_equal=True)
        # Of the excerpts begun by then, the one that ends last holds the row if any does.
        inside[rows] = (begun > first) & (spans.latest_end_s[np.maximum(begun - 1, 0)] >= end_s[rows])
    return inside


def first_inside(excerpts: Excerpts, held: Bools, places: Places, begin_s: Floats, end_s: Floats) -> Bools:
    """For each row whether, of the excerpts that hold it whole, the first is one that ``held`` marks.

    Rows as of ``inside_excerpts``.

    Source: KWSEval, KWSAlignment.pm (F4DE 3.5.0), ``_ecfOfRecord``.
    """
    inside = inside_excerpts(excerpts.take(held), places, begin_s, end_s)
    doubtful = np.flatnonzero(inside & inside_excerpts(excerpts.take(~held), places, begin_s, end_s))
    if not doubtful.size:
        return inside
    of_rows = recode(places.files, excerpts.files)[places.file[doubtful]].astype(np.int64) * len(excerpts.channels)
    of_rows += recode(places.channels, excerpts.channels)[places.channel[doubtful]]
    of_spans = excerpts.file.astype(np.int64) * len(excerpts.channels) + excerpts.channel
    spans = (of_spans, excerpts.begin_s, excerpts.end_s)
    row, span = holding(*spans, of_rows, begin_s[doubtful], end_s[doubtful])
    _, first = np.unique(row, return_index=True)
    inside[doubtful] = held[span[first]]
    return inside


def at_places(table: Bools, excerpts: Excerpts, places: Places) -> Bools:
    """For each row what ``table`` says of its file and channel, which has a place more of each for unknown ones."""
    held: Bools = _of_places(table, excerpts, places.names)
    if held.all():
        return np.ones(places.file.size, np.bool_)
    of_rows: Bools = held[_place_of_rows(excerpts, places)]
    return of_rows


def _of_places(table: Array, excerpts: Excerpts, names: Names) -> Array:
    """Values of ``table`` at each place that rows can have; at its own places where these are too many."""
    if not _are_few(names):
        return table.ravel()
    files, channels = recode(names[0], excerpts.files), recode(names[1], excerpts.channels)
    return table[files[:-1, None], channels[None, :-1]].ravel()


def _place_of_rows(excerpts: Excerpts, places: Places) -> Ints:
    """Which of these places each row has."""
    files, channels, file, channel = places
    if _are_few(places.names):
        return wide(file) if len(channels) == 1 else wide(file) * len(channels) + channel
    n_files, n_channels = len(excerpts.files) + 1, len(excerpts.channels) + 1
    place = wide(recode(files, excerpts.files)[file] % n_files) * n_channels
    return place + recode(channels, excerpts.channels)[channel] % n_channels


def _are_few(names: Names) -> bool:
    return len(names[0]) * len(names[1]) <= _PLACES_AT_MOST


@dataclass(frozen=True)
class _Spans:
    """Excerpts by their file and channel, a place."""

    place: Ints
    """Which place a file and channel is, -1 where it has no excerpt and for unknown ones."""
    first: Ints
    """Where the excerpts of each place begin among all, with their number at the end."""
    begin_s: Floats
    latest_end_s: Floats
    """The latest end so far within the place."""
    opens_s: Floats
    """Where the only excerpt of each place begins; inf where there are several, and at the end for no place."""
    closes_s: Floats
    several: Bools


@lru_cache(maxsize=32)
def _spans(excerpts: Excerpts) -> _Spans:
    """Of at least one excerpt. Most recordings have one on a channel: its ends decide."""
    group, begin_s, latest_end_s = _by_group(excerpts)
    places, first = np.unique(group, return_index=True)
    place = np.full((len(excerpts.files) + 1, len(excerpts.channels) + 1), -1, np.int64)
    place[np.divmod(places, len(excerpts.channels))] = np.arange(places.size)
    first = np.append(first, group.size)
    several = np.diff(first) > 1
    opens_s = np.append(np.where(several, np.inf, begin_s[first[:-1]]), np.inf)
    closes_s = np.append(np.where(several, -np.inf, latest_end_s[first[:-1]]), -np.inf)
    return _Spans(place, first, begin_s, latest_end_s, opens_s, closes_s, np.append(several, False))


def _by_group(excerpts: Excerpts) -> tuple[Ints, Floats, Floats]:
    """Excerpts sorted by (file and channel, begin): group, begin, and the latest end so far within the group."""
    group = excerpts.file.astype(np.int64) * len(excerpts.channels) + excerpts.channel
    order = np.lexsort((excerpts.begin_s, group))
    group, end = group[order], excerpts.end_s[order]
    by_end = np.argsort(end, kind="stable")
    rank = np.empty_like(by_end)
    rank[by_end] = np.arange(rank.size)
    # Ranks instead of times, one block of ranks per group: the running maximum starts afresh with each group.
    latest = np.maximum.accumulate(group * rank.size + rank) % rank.size
    return group, excerpts.begin_s[order], end[by_end][latest]
