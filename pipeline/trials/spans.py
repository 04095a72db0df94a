"""Which spans of time hold which rows: every pair, spans may overlap or nest."""

from __future__ import annotations

import numpy as np

from pipeline.arrays import Bools, Floats, Ints
from pipeline.formats.table import Array


def holding(
    group: Array, begin_s: Floats, end_s: Floats, row_group: Array, row_begin_s: Floats, row_end_s: Floats
) -> tuple[Ints, Ints]:
    """All (row, span) where the span of the row's group holds the row whole, borders included; sorted by both.

    Groups are integers of at least 0; a row of another group is held by none. Times are seconds and never NaN.
    """
    order = np.lexsort((begin_s, group))
    group, begin_s, end_s = group[order].astype(np.int64), begin_s[order], end_s[order]
    latest_s = latest_so_far(group, end_s)
    first = np.searchsorted(group, row_group, "left")
    # The last span of the group that begins at or before the row, then all before it that may still reach its end.
    cursor = _begun(group, begin_s, row_group, row_begin_s) - 1
    rows, spans = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    while True:
        open_rows = np.flatnonzero(_reach(cursor, first, latest_s, row_end_s))
        if not open_rows.size:
            break
        held = open_rows[end_s[cursor[open_rows]] >= row_end_s[open_rows]]
        rows.append(held)
        spans.append(order[cursor[held]])
        cursor[open_rows] -= 1
    row, span = np.concatenate(rows), np.concatenate(spans)
    by_both = np.lexsort((span, row))
    return row[by_both], span[by_both]


def _begun(group: Ints, begin_s: Floats, row_group: Array, row_begin_s: Floats) -> Ints:
    """For each row the number of spans, of its group or a lower one, that begin at or before it."""
    n_spans, n_rows = group.size, row_group.size
    is_row = np.repeat([False, True], [n_spans, n_rows])
    keys = (is_row, np.concatenate([begin_s, row_begin_s]), np.concatenate([group, row_group.astype(np.int64)]))
    order = np.lexsort(keys)
    begun = np.empty(n_spans + n_rows, np.int64)
    begun[order] = np.cumsum(~is_row[order])
    return begun[n_spans:]


def latest_so_far(group: Ints, end_s: Floats) -> Floats:
    """For spans sorted by group, the latest end so far within the group."""
    by_end = np.argsort(end_s, kind="stable")
    rank = np.empty_like(by_end)
    rank[by_end] = np.arange(rank.size)
    # Ranks instead of times, one block of ranks per group: the running maximum starts afresh with each group.
    size = max(rank.size, 1)
    latest: Floats = end_s[by_end][np.maximum.accumulate(group * size + rank) % size]
    return latest


def _reach(cursor: Ints, first: Ints, latest_s: Floats, row_end_s: Floats) -> Bools:
    if not latest_s.size:
        return np.zeros(cursor.size, np.bool_)
    reach: Bools = (cursor >= first) & (latest_s[np.maximum(cursor, 0)] >= row_end_s)
    return reach
