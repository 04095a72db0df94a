"""Some trials in ascending order of score: what passes over a cell in parts see.

Sums of integer counts are exact, so it does not matter that other rows of equal scores are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Bools, Floats, Ints
from pipeline.metrics.entropy.crossentropy import TrialSet
from pipeline.partials.ledger import Ledger
from pipeline.partials.packed import Decimals, Packed

_NONE = np.zeros(0)
BLOCK_ROWS = 1 << 18
"""Rows that are in one order, at most: what a pass has in memory."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length, the first of which, scores, ascends."""

    kind: ClassVar[str] = ""

    score: Floats

    def __len__(self) -> int:
        return int(self.score.size)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns by their names."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def take(self, rows: Any) -> Self:
        """Some of the rows, in order."""
        return type(self)(**{name: column[rows] for name, column in self.columns().items()})

    @classmethod
    def chained(cls, parts: Sequence[Self]) -> Self:
        """All rows of parts (at least one) that follow one another."""
        if len(parts) == 1:
            return parts[0]
        names = (entry.name for entry in fields(cls))
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """All rows of parts (at least one) that overlap."""
        joined = cls.chained(parts)
        return joined.take(np.argsort(joined.score, kind="stable"))  # which merges what is in order


@dataclass(frozen=True, eq=False)
class ByScore(Table):
    """The rows of a ledger; equal scores are in the order of queries, so that equal contents are equal columns."""

    kind: ClassVar[str] = "by_score/1"

    query: NDArray[np.int32]
    """Codes into the queries of the whole cell."""
    n_target: Ints
    n_nontarget: Ints

    @classmethod
    def of(cls, ledger: Ledger, codes: NDArray[np.int32], rows: slice) -> ByScore:
        """Some rows of a ledger of one condition, whose queries have ``codes`` in the whole cell."""
        score = ledger.scores.at(rows)
        order = _stable_order(score)
        counts = np.take(ledger.counts[:2, rows], order, axis=1).astype(np.int64)
        return cls(score[order], codes[ledger.query[rows][order]], *counts)

    def pooled(self, in_set: Bools) -> Pooled:
        """The trials of the queries ``in_set``, whatever the query."""
        score, counts = self.score, [self.n_target, self.n_nontarget]
        if not in_set.all():
            rows = np.flatnonzero(in_set[self.query])
            score, counts = score[rows], [column[rows] for column in counts]
        return _by_distinct_score(score, *counts)


def blocks(n_rows: int) -> Iterator[slice]:
    """So many rows by blocks, of which there is one at least."""
    for begin in range(0, max(n_rows, 1), BLOCK_ROWS):
        yield slice(begin, begin + BLOCK_ROWS)


def by_score(ledger: Ledger, queries: Sequence[str]) -> Iterator[Table]:
    """All rows of a ledger, block by block, as ``ByScore`` and, those of queries with targets, as ``Pooled``.

    The ledger is of one condition, and all of its queries are among ``queries``, in whose order they get codes.
    """
    code = {name: number for number, name in enumerate(queries)}
    codes = np.array([code[name] for name in ledger.queries], np.int32)
    in_set = np.zeros(len(queries), np.bool_)
    in_set[codes[ledger.n_true[0] > 0]] = True
    for block in blocks(len(ledger)):
        rows = ByScore.of(ledger, codes, block)
        yield rows
        yield rows.pooled(in_set)


def _stable_order(score: Floats) -> Ints:
    decimals = Decimals.of(score)
    packed = None if decimals is None else Packed.of((decimals.whole,), rows=True)
    if packed is None:
        return np.argsort(score, kind="stable")
    packed.sort()
    return packed.column(1)


@dataclass(frozen=True, eq=False)
class Pooled(Table):
    """How many targets and non-targets there are at each distinct score, some queries together."""

    kind: ClassVar[str] = "pooled/1"

    n_target: Ints
    n_nontarget: Ints

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self:
        """All rows of parts (at least one) that overlap, one for each score."""
        joined = super().merged(parts)
        return cls(**_by_distinct_score(joined.score, joined.n_target, joined.n_nontarget).columns())

    def trials(self, apart: Floats) -> TrialSet:
        """Submitted trials without those whose scores are ``apart``."""
        score, counts = self.score, [self.n_target, self.n_nontarget]
        place = np.searchsorted(self.score, apart)
        place = place[np.append(self.score, np.nan)[place] == apart]
        if place.size:
            score, counts = np.delete(score, place), [np.delete(column, place) for column in counts]
        return TrialSet(score, counts[0], counts[1], _NONE, np.zeros(0, np.int64), _NONE)


def _by_distinct_score(score: Floats, n_target: Ints, n_nontarget: Ints) -> Pooled:
    starts = np.flatnonzero(np.append(True, score[1:] != score[:-1])[: score.size])
    if starts.size == score.size:
        return Pooled(score, n_target, n_nontarget)
    return Pooled(score[starts], *(np.add.reduceat(column, starts) for column in (n_target, n_nontarget)))


@dataclass(frozen=True, eq=False)
class At:
    """Targets and non-targets at some scores, (2, n)."""

    counts: Ints

    def __add__(self, other: At) -> At:
        return At(self.counts + other.counts)


def counts_at(trials: Pooled, scores: Floats) -> At:
    """Task: submitted trials at each of ``scores``, distinct ascending ones."""
    place = np.searchsorted(trials.score, scores)
    there = np.append(trials.score, np.nan)[place] == scores
    found = np.zeros((2, scores.size), np.int64)
    found[:, there] = trials.n_target[place[there]], trials.n_nontarget[place[there]]
    return At(found)
