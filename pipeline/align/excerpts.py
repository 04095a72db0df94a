"""Which times lie inside the evaluated parts of the recordings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.align.grouped import positions_within
from pipeline.formats.table import Array, recode
from pipeline.trials.schema import Bools, Codes, Excerpts, Floats

_PLACES_AT_MOST = 1 << 20
"""Files by channels, of which a table is made."""


def inside_excerpts(
    excerpts: Excerpts,
    files: tuple[str, ...],
    channels: tuple[str, ...],
    file: Codes,
    channel: Codes,
    begin_s: Floats,
    end_s: Floats,
) -> Bools:
    """For each row, whether one excerpt of its file and channel holds it whole: ``begin >= TBEG and end <= TEND``.

    ``file`` and ``channel`` are codes into the rows' own vocabularies ``files`` and ``channels``, times are seconds.
    Both borders belong to the excerpt. A row across two abutting excerpts is outside; excerpts may overlap or nest.

    Source: KWSEval, KWSAlignment.pm (F4DE 3.5.0) lines 370-385; OpenKWS13 evaluation plan, section 3.4.
    """
    if excerpts.file.size == 0:
        return np.zeros(file.size, np.bool_)
    group, begin, latest_end = _by_group(excerpts)
    places, first = np.unique(group, return_index=True)
    last = np.append(first[1:], group.size)
    place_of = np.full((len(excerpts.files) + 1, len(excerpts.channels) + 1), -1, np.int32)
    place_of[np.divmod(places, len(excerpts.channels))] = np.arange(places.size)
    place = at_places(place_of, excerpts, (files, channels), file, channel)
    # Most recordings have one excerpt on a channel: its ends decide. A place without one holds nothing.
    sole = last - first == 1
    opens = np.append(np.where(sole, begin[first], np.inf), np.inf)
    closes = np.append(np.where(sole, latest_end[first], -np.inf), -np.inf)
    inside: Bools = (begin_s >= opens[place]) & (end_s <= closes[place])
    if not sole.all():
        rows = np.flatnonzero(np.append(~sole, False)[place])
        of = place[rows]
        begun = positions_within(begin, first[of], last[of], begin_s[rows], after_equal=True)
        # Of the excerpts begun by then, the one that ends last holds the row if any does.
        inside[rows] = (begun > first[of]) & (latest_end[np.maximum(begun - 1, 0)] >= end_s[rows])
    return inside


def at_places(
    table: Array, excerpts: Excerpts, names: tuple[tuple[str, ...], tuple[str, ...]], file: Codes, channel: Codes
) -> Array:
    """For each row what ``table`` says of its file and channel, which has a place more of each for unknown ones.

    ``names`` are the rows' own files and channels.
    """
    files, channels = recode(names[0], excerpts.files), recode(names[1], excerpts.channels)
    if len(names[0]) * len(names[1]) > _PLACES_AT_MOST:
        return np.asarray(table[files[file], channels[channel]])
    own = table[files[:-1, None], channels[None, :-1]]
    return np.asarray(own[:, 0][file] if len(names[1]) == 1 else own.ravel()[file * np.int64(len(names[1])) + channel])


def _by_group(excerpts: Excerpts) -> tuple[NDArray[np.int64], Floats, Floats]:
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
