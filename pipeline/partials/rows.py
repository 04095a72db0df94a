"""Sorting, collapsing and merging rows keyed by (group, score): what a ledger is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_RADIX_BITS = 16


@dataclass(frozen=True)
class Rows:
    """Rows strictly ascending by (group, score), each with several integer counts."""

    group: Ints
    score: NDArray[np.float64]
    counts: tuple[Ints, ...]

    def take(self, rows: Any) -> Rows:
        """The rows selected by an index or boolean array, in that order."""
        return Rows(self.group[rows], self.score[rows], tuple(column[rows] for column in self.counts))


def collapse(group: Ints, score: NDArray[np.float64], counts: Sequence[NDArray[Any]]) -> Rows:
    """One row per distinct (group, score), from rows in any order; ``counts``, integers or booleans, are added up."""
    order = _ascending(group, score)
    group, score = group[order], score[order]
    first = np.ones(group.size, np.bool_)
    first[1:] = (group[1:] != group[:-1]) | (score[1:] != score[:-1])
    starts = np.flatnonzero(first)
    added = tuple(_add_runs(column[order], starts) for column in counts)
    return Rows(group[starts], score[starts], added)


def merge(left: Rows, right: Rows, n_groups: int) -> Rows:
    """Both sets of rows as one. Only groups present on both sides are sorted by score again."""
    shared = _present(left, n_groups) & _present(right, n_groups)
    parts = [left, right]
    if shared.any():
        left_shared, right_shared = shared[left.group], shared[right.group]
        both = _joined([left.take(left_shared), right.take(right_shared)])
        parts = [left.take(~left_shared), right.take(~right_shared), collapse(both.group, both.score, both.counts)]
    filled = [part for part in parts if part.group.size] or parts[:1]
    if len(filled) == 1:
        return filled[0]
    joined = _joined(filled)
    return joined.take(_by_group(joined.group))


def _add_runs(values: NDArray[Any], starts: NDArray[np.intp]) -> Ints:
    if starts.size == values.size:
        return values.astype(np.int64)
    return np.add.reduceat(values, starts, dtype=np.int64)


def _present(rows: Rows, n_groups: int) -> NDArray[np.bool_]:
    present = np.zeros(n_groups, np.bool_)
    present[rows.group] = True
    return present


def _joined(parts: Sequence[Rows]) -> Rows:
    return Rows(
        np.concatenate([part.group for part in parts]),
        np.concatenate([part.score for part in parts]),
        tuple(np.concatenate(columns) for columns in zip(*(part.counts for part in parts), strict=True)),
    )


def _ascending(group: Ints, score: NDArray[np.float64]) -> NDArray[np.intp]:
    """Order by (group, score). Rows equal in both will be added up, so the pass by score need not be stable."""
    order = np.argsort(score)
    return order[_by_group(group[order])]


def _by_group(group: Ints) -> NDArray[np.intp]:
    """Stable order by group, 16 bits at a time: numpy sorts those by counting."""
    order = np.arange(group.size)
    highest = int(group.max()) if group.size else 0
    for shift in range(0, highest.bit_length(), _RADIX_BITS):
        digit = ((group >> shift) & 0xFFFF).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order
