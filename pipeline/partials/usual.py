"""Counts as stored columns: of a row of counts that are mostly the same, only the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.partials.rows import Counts

USUAL = {"n_target": 0, "n_nontarget": 1, "n_target_yes": 0, "n_nontarget_yes": 0}
"""What each count of a trial mostly is: there are many non-targets, and few of them are accepted."""
_SPARED = 8
"""Rows for each unusual one from which it is shorter to say where that is."""


def to_columns(counts: Counts) -> dict[str, NDArray[Any]]:
    """The rows of counts by their names; with ``.at`` behind the name, where the others than the usual one are."""
    columns: dict[str, NDArray[Any]] = {}
    for (name, usual), row in zip(USUAL.items(), counts, strict=True):
        other = row != usual
        if _SPARED * np.count_nonzero(other) < row.size:
            columns[f"{name}.at"] = np.flatnonzero(other)
            columns[name] = row[columns[f"{name}.at"]]
        else:
            columns[name] = row
    return columns


def from_columns(columns: Mapping[str, Any], n_rows: int) -> Counts:
    """The counts of so many rows. Raises ``ValueError`` where that is impossible."""
    kind = columns["n_target"].dtype
    counts = np.empty((len(USUAL), n_rows), kind)
    for (name, usual), row in zip(USUAL.items(), counts, strict=True):
        given, at = columns[name], columns.get(f"{name}.at")
        if given.dtype != kind or given.shape != ((n_rows,) if at is None else at.shape):
            raise ValueError(f"{name} has dtype {given.dtype} and shape {given.shape}")
        if at is None:
            row[:] = given
            continue
        if (
            at.ndim != 1
            or at.dtype.kind != "i"
            or (np.diff(at, prepend=-1) <= 0).any()
            or at[-1:].max(initial=-1) >= n_rows
        ):
            raise ValueError(f"{name} is not said of rows in order")
        row[:] = usual
        row[at] = given
    return counts


def names() -> set[str]:
    """All names that columns may have."""
    return {*USUAL, *(f"{name}.at" for name in USUAL)}
