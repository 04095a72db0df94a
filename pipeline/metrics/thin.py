"""Ledgers without the rows that no figure of a single query needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.fixed_point import Ints
from pipeline.partials.ledger import Ledger
from pipeline.partials.rows import narrowed

Bools = NDArray[np.bool_]


def thinned(ledger: Ledger, thresholds: Sequence[float] = ()) -> Ledger:
    """A ledger of one condition in which runs of non-targets are one row, at their lowest score.

    Counts of each query are the same: in all, as decided, and at or above every target's score and ``thresholds``. So
    are its lowest and its highest score, its best threshold, its average precision, its pooled rows, and the range of
    accepted and rejected scores. It has a few rows a target and query, however many trials there were.
    """
    if not len(ledger):
        return ledger
    kept = _kept(ledger)
    side = np.searchsorted(np.sort(np.asarray(thresholds, np.float64)), ledger.score, side="right")
    new = np.ones(len(ledger), np.bool_)
    new[1:] = kept[1:] | kept[:-1] | _differs(ledger.query) | _differs(side)
    starts = np.flatnonzero(new)
    counts = narrowed(np.add.reduceat(ledger.counts, starts, axis=1, dtype=np.int64))
    first = np.searchsorted(starts, ledger.first).astype(np.int64)
    return Ledger(ledger.conditions, ledger.queries, ledger.omitted, first, ledger.score[starts], counts)


def _kept(ledger: Ledger) -> Bools:
    """Rows that stay by themselves: targets, the ends of runs, the lowest accepted and the highest rejected ones."""
    kept = ledger.n_target > 0
    ends = np.append(_differs(ledger.query), True) | np.append(True, _differs(ledger.query))
    beside = np.append(kept[1:], False) | np.append(False, kept[:-1])
    n_yes = ledger.n_target_yes + ledger.n_nontarget_yes
    lowest_yes = _first_of_query(ledger, n_yes > 0)
    highest_no = _last_of_query(ledger, ledger.n_target + ledger.n_nontarget > n_yes)
    kept = np.asarray(kept | ends | beside)
    kept[lowest_yes] = kept[highest_no] = True
    return kept


def _differs(column: NDArray[Any]) -> Bools:
    return np.asarray(column[1:] != column[:-1])


def _first_of_query(ledger: Ledger, rows: Bools) -> Ints:
    at = np.flatnonzero(rows)
    return np.asarray(at[np.append(True, _differs(ledger.query[at]))[: at.size]])


def _last_of_query(ledger: Ledger, rows: Bools) -> Ints:
    at = np.flatnonzero(rows)
    return np.asarray(at[np.append(_differs(ledger.query[at]), True)[: at.size]])
