"""Sums of what the trials of some queries count for, at every distinct score: all that a cell asks for, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pipeline import compiled
from pipeline.arrays import Bools, Floats, Ints
from pipeline.partials.ledger import Ledger

COMPILED_FROM = 50_000
"""Rows from which the compiled kernel is worth a call."""
_TABLE_PLACES, _COMPILED_PLACES = 0.5, 8
"""Whole numbers a row, at most, between the lowest and the highest score of a ledger that is added up in a table."""
_AT_ONCE = 1 << 16
"""Rows whose columns stay in a processor's caches."""


class Asked(NamedTuple):
    """What is summed: ``weights`` of one non-target of each query, over the queries ``used``."""

    used: Bools
    weights: tuple[Ints, ...]


class AtScores(NamedTuple):
    """The distinct scores of the used queries, ascending, with sums there; scores of targets alone are among them."""

    score: Floats
    sums: tuple[Ints, ...]


def at_scores(ledger: Ledger, asked: Sequence[Asked]) -> tuple[AtScores, ...]:
    """What is asked for of a ledger of one condition."""
    together, places = list[Asked](), list[tuple[int, slice]]()
    for used, weights in asked:
        which = next((n for n, other in enumerate(together) if np.array_equal(other.used, used)), len(together))
        before = together.pop(which).weights if which < len(together) else ()
        together.insert(which, Asked(used, (*before, *weights)))
        places.append((which, slice(len(before), len(before) + len(weights))))
    found = _at_scores(ledger, together)
    return tuple(AtScores(found[which].score, found[which].sums[some]) for which, some in places)


def _at_scores(ledger: Ledger, asked: Sequence[Asked]) -> list[AtScores]:
    """The same where no two ask for the same queries."""
    started = len(ledger) >= COMPILED_FROM and compiled.started()
    span = _span(ledger, int((_COMPILED_PLACES if started else _TABLE_PLACES) * len(ledger)))
    if span is None:
        return _in_order(ledger, asked)
    if not started:
        return _in_table(ledger, asked, span)
    from pipeline.metrics.kws.at_scores_kernel import summed

    return summed(ledger, asked, span)


def target_rows(ledger: Ledger, used: Bools) -> tuple[Ints, Ints]:
    """Rows of the ``used`` queries that have targets, which are few, and the query of each."""
    rows = np.flatnonzero(ledger.counts[0] != 0)
    query = np.searchsorted(ledger.first, rows, side="right") - 1
    kept = used[query]
    return np.asarray(rows[kept]), np.asarray(query[kept])


def _span(ledger: Ledger, at_most: int) -> range | None:
    """From the lowest to the highest of scores that are kept as so many whole numbers, at most."""
    used = np.flatnonzero(np.diff(ledger.first))
    if ledger.scores.places is None or not used.size:
        return None
    values = ledger.scores.values
    low, high = int(values[ledger.first[used]].min()), int(values[ledger.first[used + 1] - 1].max())
    return range(low, high + 1) if high - low < at_most else None


def _in_table(ledger: Ledger, asked: Sequence[Asked], span: range) -> list[AtScores]:
    """Sums at every whole number of a span, without sorting."""
    tables = [[np.zeros(len(span), np.int64) for _ in each.weights] for each in asked]
    there = [np.zeros(len(span), np.bool_) for _ in asked]
    for begin in range(0, len(ledger), _AT_ONCE):
        rows = slice(begin, begin + _AT_ONCE)
        place = ledger.scores.values[rows].astype(np.int64) - span.start
        sizes = np.asarray(np.diff(np.clip(ledger.first, begin, begin + _AT_ONCE)), np.int64)
        counts = ledger.counts[1, rows].astype(np.int64)
        for each, columns, seen in zip(asked, tables, there, strict=True):
            seen[place if each.used.all() else place[np.repeat(each.used, sizes)]] = True
            for weight, column in zip(each.weights, columns, strict=True):
                words = np.repeat(np.where(each.used, weight, 0), sizes)
                words *= counts
                np.add.at(column, place, words)
    found = []
    for columns, at in zip(tables, map(np.flatnonzero, there), strict=True):
        score = replace(ledger.scores, values=span.start + at).at(slice(None))
        found.append(AtScores(score, tuple(column[at] for column in columns)))
    return found


def _in_order(ledger: Ledger, asked: Sequence[Asked]) -> list[AtScores]:
    found = [_Growing(each, len(ledger)) for each in asked]
    for score, query, counts in ledger.ascending(_AT_ONCE):
        for each in found:
            each.add(score, query, counts)
    return [each.made() for each in found]


class _Growing:
    """Sums at distinct scores, of rows that come as they ascend."""

    def __init__(self, asked: Asked, most: int) -> None:
        self._asked, self._size = asked, 0
        self._score, self._sums = np.empty(most), [np.empty(most, np.int64) for _ in asked.weights]

    def add(self, score: Floats, query: Ints, counts: Ints) -> None:
        """Some more rows, of any queries."""
        rows = self._asked.used[query]
        if not rows.all():
            score, query, counts = score[rows], query[rows], counts[rows]
        if not score.size:
            return
        first = np.flatnonzero(np.append(True, score[1:] != score[:-1]))
        again = self._size > 0 and bool(self._score[self._size - 1] == score[0])
        size = self._size - again
        self._size = size + first.size
        self._score[size : self._size] = score[first]
        for column, weight in zip(self._sums, self._asked.weights, strict=True):
            carried = column[size] if again else 0
            np.add.reduceat(weight[query] * counts, first, out=column[size : self._size])
            column[size] += carried

    def made(self) -> AtScores:
        """What came together."""
        return AtScores(self._score[: self._size], tuple(column[: self._size] for column in self._sums))
