"""One number for each query, file and channel, the unit within which detections and references can meet."""

from __future__ import annotations

import numpy as np

from pipeline.arrays import Bools, Ints
from pipeline.formats.table import recode, wide
from pipeline.trials.schema import Occurrences, Trials

_ROWS_AT_ONCE = 1 << 16
_PLACES = 1 << 20


def sorted_references(references: Occurrences, trials: Trials, kept: Bools) -> tuple[Ints, Ints]:
    """Kept reference rows of groups that the trials name, sorted by (group, begin, end), and the group of each."""
    group = _occurrence_groups(references, trials)
    rows = np.flatnonzero(kept & (group >= 0))
    rows = rows[np.lexsort((references.end_s[rows], references.begin_s[rows], group[rows]))]
    return rows, group[rows]


def trial_groups(trials: Trials, rows: Ints) -> Ints:
    """The number of each of ``rows``, in the trials' vocabularies."""
    query, file, channel = trials.query[rows].astype(np.int64), trials.file[rows], trials.channel[rows]
    return (query * len(trials.files) + file) * len(trials.channels) + channel


def _occurrence_groups(references: Occurrences, trials: Trials) -> Ints:
    """The number that trials of the same names have; -1 where the trials lack one of the names."""
    query = recode(references.queries, trials.queries)[references.query].astype(np.int64)
    file = recode(references.files, trials.files)[references.file]
    channel = recode(references.channels, trials.channels)[references.channel]
    group = (query * len(trials.files) + file) * len(trials.channels) + channel
    return np.where((query >= 0) & (file >= 0) & (channel >= 0), group, -1)


def rows_near_groups(trials: Trials, kept: Bools, wanted: Ints) -> Ints:
    """The kept rows, ascending, whose group is one of ``wanted``, and now and then one of another group.

    Groups share the places of a table of fixed size, so that names without end cost no memory; a row that comes along
    for another's sake meets no reference later.
    """
    table = np.zeros(_PLACES, np.bool_)
    table[wanted & (_PLACES - 1)] = True
    found = [np.zeros(0, np.int64)]
    for begin in range(0, len(trials), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        found.append(np.flatnonzero(table[_table_places(trials, rows)] & kept[rows]) + begin)
    return np.concatenate(found)


def _table_places(trials: Trials, rows: slice) -> Ints:
    """The last bits of the number of each row's group: narrow numbers, which overflow, have them too."""
    group = trials.query[rows].view(np.uint32) * np.uint32(len(trials.files))
    group += trials.file[rows].view(np.uint32)
    if len(trials.channels) > 1:
        group *= np.uint32(len(trials.channels))
        group += trials.channel[rows].view(np.uint32)
    group &= np.uint32(_PLACES - 1)
    return wide(group)
