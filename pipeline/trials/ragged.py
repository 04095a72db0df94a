"""Rows of a group that follow one another: CF's contiguous ragged array, as trials are stored."""

from __future__ import annotations

import numpy as np

from pipeline.arrays import Codes, Ints

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
