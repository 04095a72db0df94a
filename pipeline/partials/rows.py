"""Sorting, collapsing and merging rows keyed by (group, score): what a ledger is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Bools, Floats, Ints
from pipeline.partials.packed import Decimals, Packed
from pipeline.partials.scores import HIGHEST, Scores, alike

Counts = NDArray[Any]
"""Whole numbers from 0 up in one of ``COUNT_TYPES``, one row for each thing that is counted."""

COUNT_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.int64))
TARGET, DECIDED = 2, 1
"""Bits of a trial: whether it is a target, and whether the system decided YES."""

_RADIX_BITS = 16


@dataclass(frozen=True)
class Rows:
    """Rows by group, strictly ascending by score within each, every row with several counts.

    ``first``: where each group begins, with the number of rows at the end.
    """

    first: Ints
    scores: Scores
    counts: Counts

    @property
    def sizes(self) -> Ints:
        """Rows of each group."""
        return np.diff(self.first)

    def of_groups(self, onto: Ints, n_groups: int) -> Rows:
        """The rows under new numbers of groups, which ascend as the old ones do; those that go to -1 are dropped."""
        kept, sizes = onto >= 0, self.sizes
        new = np.zeros(n_groups, np.int64)
        new[onto[kept]] = sizes[kept]
        first = firsts(new)
        if first[-1] == self.scores.size:
            return Rows(first, self.scores, self.counts)
        rows = np.repeat(kept, sizes)
        return Rows(first, self.scores.take(rows), narrowed(np.compress(rows, self.counts, axis=1)))


def firsts(sizes: Ints) -> Ints:
    """Where groups of these sizes begin, with the number of rows at the end."""
    first = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=first[1:])
    return first


def narrowed(counts: Counts) -> Counts:
    """The counts in the narrowest type that holds them all."""
    if counts.dtype == COUNT_TYPES[0]:
        return counts
    kind = _type_for(int(counts.max(initial=0)))
    return counts.astype(kind, copy=False)


def _type_for(highest: int) -> np.dtype[Any]:
    return next(kind for kind in COUNT_TYPES if highest <= np.iinfo(kind).max)


def collapse(group: Ints, score: Floats, counts: Counts, n_groups: int) -> Rows:
    """One row per distinct (group, score), from rows in any order; ``counts`` are added up."""
    first, score, counts = _collapsed(group, score, counts, n_groups)
    return Rows(first, Scores.of(score), counts)


def _collapsed(group: Ints, score: NDArray[Any], counts: Counts, n_groups: int) -> tuple[Ints, NDArray[Any], Counts]:
    """``collapse`` for numbers of any kind, as columns: group, score, counts."""
    order = _ascending(group, score)
    group, score = group[order], score[order]
    new = np.ones(group.size, np.bool_)
    new[1:] = (group[1:] != group[:-1]) | (score[1:] != score[:-1])
    starts = np.flatnonzero(new)
    added = np.take(counts, order, axis=1)  # indexing would leave the rows of counts in pieces
    if starts.size < group.size:
        added = np.add.reduceat(added, starts, axis=1, dtype=np.int64)
    first = np.searchsorted(group[starts], np.arange(n_groups + 1))
    return first.astype(np.int64), score[starts], narrowed(added)


def tally(group: NDArray[Any], score: Floats, target: Bools, decision: Bools, n_groups: int) -> Rows:
    """One row per distinct (group, score) of trials in any order; a score of -0.0 is 0.0.

    Counts are targets, others, targets decided YES and others decided YES.
    """
    flags = target.view(np.uint8) * np.uint8(TARGET) + decision.view(np.uint8)
    score = score + 0.0  # 0.0 for -0.0
    decimals = Decimals.of(score)
    packed = None if decimals is None else Packed.of((group, decimals.whole, flags))
    if decimals is None or packed is None:
        return collapse(group.astype(np.int64), score, counted(flags, np.dtype(np.uint8)), n_groups)
    packed.sort()
    repeated = packed.same_as_next(2)
    starts = np.flatnonzero(np.append(np.ones(min(score.size, 1), np.bool_), ~repeated))
    longest = int(np.diff(starts, append=score.size).max(initial=0))
    one = packed if starts.size == score.size else packed.take(starts)
    counts = counted(one.column(2, np.uint8), _type_for(longest))
    if starts.size < score.size:
        others = np.flatnonzero(repeated) + 1
        run, more = np.searchsorted(starts, others, side="right") - 1, packed.take(others).column(2, np.uint8)
        for column, added in zip(counts, counted(more, np.uint8), strict=True):
            np.add.at(column, run, added)
    whole = one.column(1)
    fits = np.abs(whole).max(initial=0) <= HIGHEST
    scores = Scores(whole.astype(np.int32), decimals.places) if fits else Scores(decimals.values(whole), None)
    return Rows(one.firsts(n_groups), scores, narrowed(counts))


def counted(flags: NDArray[np.uint8], kind: Any) -> Counts:
    """The four counts of single trials with these flags."""
    counts = np.empty((4, flags.size), kind)
    table = np.zeros((4, 4), kind)
    for flag in range(4):
        target, yes = flag & TARGET, flag & DECIDED
        table[:, flag] = bool(target), not target, bool(target and yes), bool(yes and not target)
    for column, value in zip(counts, table, strict=True):
        np.take(value, flags, out=column)
    return counts


def joined(parts: Sequence[Rows]) -> Rows:
    """All rows of one or more parts, which have the same groups; rows of one group and score are added up."""
    filled = [part for part in parts if part.scores.size] or list(parts[:1])
    if len(filled) == 1:
        return filled[0]
    values, places = alike([part.scores for part in filled])
    some = [_Columns(part.first, *both) for part, *both in zip(filled, values, (p.counts for p in filled), strict=True)]
    sizes = np.stack([part.sizes for part in filled])
    shared = np.count_nonzero(sizes, axis=0) > 1
    if shared.any():
        some.append(_Columns(*_added(some, sizes, shared)))
        sizes = np.vstack((np.where(shared, 0, sizes), np.diff(some[-1].first)))
    first = firsts(sizes.sum(axis=0))
    kind = max((part.counts.dtype for part in some), key=lambda kind: kind.itemsize)
    score, counts = np.empty(first[-1], values[0].dtype), np.empty((len(some[0].counts), first[-1]), kind)
    slices = list(_slices([part.first for part in some], sizes))
    np.concatenate([some[which].values[begin:end] for which, begin, end in slices], out=score)
    np.concatenate([some[which].counts[:, begin:end] for which, begin, end in slices], axis=1, out=counts)
    return Rows(first, Scores(score, places), counts)


class _Columns(NamedTuple):
    first: Ints
    values: NDArray[Any]
    counts: Counts


def _added(parts: Sequence[_Columns], sizes: Ints, shared: Bools) -> tuple[Ints, NDArray[Any], Counts]:
    """The groups that several parts have, of columns as ``_Columns`` holds them."""
    rows = [np.flatnonzero(np.repeat(shared, each)) for each in sizes]
    group = [np.repeat(np.flatnonzero(shared), each[shared]) for each in sizes]
    values = [part.values[at] for part, at in zip(parts, rows, strict=True)]
    counts = [part.counts[:, at] for part, at in zip(parts, rows, strict=True)]
    return _collapsed(np.concatenate(group), np.concatenate(values), np.concatenate(counts, axis=1), shared.size)


def _slices(firsts: Sequence[Ints], sizes: Ints) -> Iterator[tuple[int, int, int]]:
    """Part, first row and last (exclusive) of all that goes into the sum, in its order; neighbours are one slice."""
    which, group = np.nonzero(sizes)
    used = np.split(group, np.searchsorted(which, np.arange(1, len(firsts))))
    begin = np.concatenate([first[some] for first, some in zip(firsts, used, strict=True)])
    order = _by_group(group)
    which, group, begin = which[order], group[order], begin[order]
    end = begin + sizes[which, group]
    new = np.ones(group.size, np.bool_)
    new[1:] = (which[1:] != which[:-1]) | (begin[1:] != end[:-1])
    at = np.flatnonzero(new)
    last = end[np.append(at[1:], group.size) - 1] if group.size else end
    return zip(which[at].tolist(), begin[at].tolist(), last.tolist(), strict=True)


def _ascending(group: Ints, score: NDArray[Any]) -> NDArray[np.intp]:
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
