"""Sorting, collapsing and merging rows keyed by (group, score): what a ledger is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.partials.packed import Decimals, Packed

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


def tally(group: Ints, score: NDArray[np.float64], flags: Sequence[NDArray[np.bool_]]) -> Rows:
    """One row per distinct (group, score) of rows in any order: how many rows it has, and how many with each flag."""
    decimals = Decimals.of(score)
    packed = None if decimals is None else Packed.of((group, decimals.whole, *(flag.view(np.uint8) for flag in flags)))
    if decimals is None or packed is None:
        return collapse(group, score, (np.ones(group.size, np.bool_), *flags))
    packed.sort()
    repeated = packed.same_as_next(2)
    starts = np.flatnonzero(np.append(np.ones(min(group.size, 1), np.bool_), ~repeated))
    others = np.flatnonzero(repeated) + 1
    run = np.searchsorted(starts, others, side="right") - 1
    one, more = packed.take(starts), packed.take(others)
    counts = [np.ones(starts.size, np.int64), *(one.column(2 + which) for which in range(len(flags)))]
    np.add.at(counts[0], run, 1)
    for which, column in enumerate(counts[1:]):
        np.add.at(column, run, more.column(2 + which))
    return Rows(one.column(0), decimals.values(one.column(1)), tuple(counts))


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


def concatenate(parts: Sequence[Rows], n_groups: int) -> Rows | None:
    """All rows in order, moved by whole groups; None where two of the parts have rows of one group."""
    starts, groups, owner = [], [], []
    for which, part in enumerate(parts):
        first = np.flatnonzero(np.append(np.ones(min(part.group.size, 1), np.bool_), part.group[1:] != part.group[:-1]))
        starts.append(np.append(first, part.group.size))
        groups.append(part.group[first])
        owner.append(np.full(first.size, which))
    every = np.concatenate(groups)
    if np.bincount(every, minlength=n_groups).max(initial=0) > 1:
        return None
    order = np.argsort(every)
    begin, end = np.concatenate([ends[:-1] for ends in starts]), np.concatenate([ends[1:] for ends in starts])
    moved = list(zip(*(column[order].tolist() for column in (np.concatenate(owner), begin, end)), strict=True))

    def column(of: Sequence[NDArray[Any]]) -> NDArray[Any]:
        return np.concatenate([of[which][first:last] for which, first, last in moved] or [of[0][:0]])

    counts = tuple(column(columns) for columns in zip(*(part.counts for part in parts), strict=True))
    return Rows(column([part.group for part in parts]), column([part.score for part in parts]), counts)


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
