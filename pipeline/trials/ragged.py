"""Rows of a group that follow one another: CF's contiguous ragged array, as trials are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pipeline.arrays import Codes, Ints

if TYPE_CHECKING:
    import xarray as xr

FIRST_ROW, N_ROWS = "first_row", "n_rows"
"""The arrays that say where the rows of each group begin and how many there are."""


def runs_of(codes: Codes, n_groups: int) -> dict[str, Ints]:
    """First row and number of rows of each group by the names of their arrays; 0 and 0 for one without any.

    ``codes`` are the groups of all rows; those of one follow one another.
    """
    first = np.zeros(n_groups, np.int64)
    begins = np.flatnonzero(np.diff(codes, prepend=-1))
    first[codes[begins]] = begins
    return {FIRST_ROW: first, N_ROWS: np.bincount(codes, minlength=n_groups)}


def codes_of(first: Ints, n_rows: Ints, begin: int, end: int) -> Codes:
    """The group of each of the rows ``begin`` up to ``end`` (exclusive), in which no group is cut."""
    within = np.flatnonzero((n_rows > 0) & (first >= begin) & (first < end))
    within = within[np.argsort(first[within])].astype(np.int32)
    return np.repeat(within, n_rows[within])


def batch_of(trials: xr.Dataset, begin: int, end: int) -> xr.Dataset:
    """Rows ``begin`` up to ``end`` (exclusive) of stored trials as trials of their own, with the groups that have any.

    No group is cut.
    """
    rows = trials.isel(trial=slice(begin, end))
    offsets = rows["bucket_offset"]
    rows = rows.assign(bucket_offset=offsets.copy(data=np.clip(offsets.values - begin, 0, end - begin)))
    if FIRST_ROW not in rows:
        return rows
    first, n_rows = rows[FIRST_ROW], rows[N_ROWS].values
    own = np.flatnonzero((n_rows > 0) & (first.values >= begin) & (first.values < end))
    return rows.assign({FIRST_ROW: first.copy(data=first.values - begin)}).isel({first.dims[0]: own})


def with_runs(rest: xr.Dataset, batches: Sequence[xr.Dataset]) -> xr.Dataset:
    """Stored trials without rows, with the runs of all groups as ``batches`` of them (``batch_of``, in order) say."""
    if FIRST_ROW not in rest:
        return rest
    [dim] = rest[FIRST_ROW].dims
    place = {name: at for at, name in enumerate(rest[dim].values.tolist())}
    first, n_rows, begin = np.zeros(len(place), np.int64), np.zeros(len(place), np.int64), 0
    for batch in batches:
        at = [place[name] for name in batch[dim].values.tolist()]
        first[at], n_rows[at] = batch[FIRST_ROW].values + begin, batch[N_ROWS].values
        begin += batch.sizes["trial"]
    return rest.assign({FIRST_ROW: rest[FIRST_ROW].copy(data=first), N_ROWS: rest[N_ROWS].copy(data=n_rows)})
