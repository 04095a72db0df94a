"""Ledgers without the rows that no figure of a single query needs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Bools, Ints
from pipeline.partials.ledger import Ledger
from pipeline.partials.rows import narrowed

_AT_ONCE = 1 << 16


def thinned(ledger: Ledger, thresholds: Sequence[float] = ()) -> Ledger:
    """A ledger of one condition in which runs of non-targets are one row, at their lowest score.

    Counts of each query are the same: in all, as decided, and at or above every target's score and ``thresholds``. So
    are its lowest and its highest score, its best threshold, its average precision, its pooled rows, and the range of
    accepted and rejected scores. It has a few rows a target and query, however many trials there were.
    """
    if not len(ledger):
        return ledger
    new = np.zeros(len(ledger) + 1, np.bool_)
    kept = _kept(ledger)
    new[kept] = new[kept + 1] = True
    new[ledger.first] = True
    for threshold in thresholds:
        new[_reached(ledger, threshold)] = True
    starts = np.flatnonzero(new[:-1])
    counts = np.take(ledger.counts, starts, axis=1).astype(np.int64)
    for row in (1, 3):  # rows with targets are runs by themselves
        counts[row] = _sums(ledger.counts[row], starts)
    first = np.searchsorted(starts, ledger.first).astype(np.int64)
    columns = first, ledger.scores.take(starts), narrowed(counts)
    return Ledger(ledger.conditions, ledger.queries, ledger.omitted, *columns)


def _kept(ledger: Ledger) -> Ints:
    """Rows that stay by themselves: targets, the ends of runs, the lowest accepted and the highest rejected ones.

    In no order, and some several times.
    """
    n_target, n_nontarget, n_target_yes, n_nontarget_yes = ledger.counts
    used = np.flatnonzero(np.diff(ledger.first))
    begin, last = ledger.first[used], ledger.first[used + 1] - 1
    hit = np.flatnonzero(n_target != 0)
    beside = np.append(hit[hit > 0] - 1, hit[hit < last[-1]] + 1)
    yes = (n_target_yes | n_nontarget_yes) != 0
    no = (n_target != n_target_yes) | (n_nontarget != n_nontarget_yes)
    return np.concatenate([hit, beside, begin, last, _lowest(yes, begin), _highest(no, last)])


def _lowest(rows: Bools, begin: Ints) -> Ints:
    """The first of the rows of each query that has one: where runs of them begin, of which there are few."""
    new = np.empty_like(rows)
    np.greater(rows[1:], rows[:-1], out=new[1:])
    new[begin] = rows[begin]
    at = np.flatnonzero(new)
    query = np.searchsorted(begin, at, side="right")
    return np.asarray(at[np.append(True, query[1:] != query[:-1])[: at.size]])


def _highest(rows: Bools, last: Ints) -> Ints:
    """The last of the rows of each query that has one."""
    new = np.empty_like(rows)
    np.greater(rows[:-1], rows[1:], out=new[:-1])
    new[last] = rows[last]
    at = np.flatnonzero(new)
    query = np.searchsorted(last, at)
    return np.asarray(at[np.append(query[1:] != query[:-1], True)[: at.size]])


def _reached(ledger: Ledger, threshold: float) -> Ints:
    """The first row of each query whose score is not below a threshold, or the row behind its last one."""
    low, high = ledger.first[:-1].copy(), ledger.first[1:].copy()
    while (low < high).any():
        middle = (low + high) // 2
        below = ledger.scores.at(np.minimum(middle, len(ledger) - 1)) < threshold
        low, high = np.where((low < high) & below, middle + 1, low), np.where((low < high) & ~below, middle, high)
    return low


def _sums(counts: NDArray[Any], starts: Ints) -> Ints:
    """Sums of counts from each start to the next one, as many rows at a time as stay in a processor's caches."""
    cuts = [*np.unique(np.searchsorted(starts, np.arange(0, counts.size, _AT_ONCE))).tolist(), starts.size]
    found = np.empty(starts.size, np.int64)
    for begin, end in pairwise(cuts):
        rows = slice(starts[begin], starts[end] if end < starts.size else counts.size)
        if begin < end:
            np.add.reduceat(counts[rows].astype(np.int64), starts[begin:end] - rows.start, out=found[begin:end])
    return found
