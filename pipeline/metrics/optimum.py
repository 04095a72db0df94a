"""The best threshold of each query taken alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.counts import Counts
from pipeline.metrics.fixed_point import Floats, Ints
from pipeline.metrics.means import QueryMeans
from pipeline.metrics.sweep import ROUNDING
from pipeline.partials.ledger import Ledger


@dataclass(frozen=True)
class Optima:
    """Per query, over the ledger's queries: lowest best threshold (NaN accepts nothing), TWV there, and counts."""

    threshold: Floats
    twv: Floats
    counts: Counts


def optima(ledger: Ledger, means: QueryMeans, beta: float, *, reject_all_point: bool = True) -> Optima:
    """The lowest threshold that maximises 1 - (P_miss(q) + beta P_fa(q)) for each scored query.

    Candidates are the query's own scores and the point that accepts nothing. Without ``reject_all_point`` that point
    exists only where another scored query has a higher score, as thresholds come from the common sweep. A query
    without occurrences has no miss rate: its best point is judged by its false alarms, and its TWV is NaN.
    """
    n_queries = len(ledger.queries)
    rows = np.flatnonzero(means.scored[ledger.query])
    query, score = ledger.query[rows].astype(np.int64), ledger.score[rows]
    n_hit = _accepted(ledger.n_target[rows], query, n_queries)
    n_fa = _accepted(ledger.n_nontarget[rows], query, n_queries)
    value = _value(n_hit, n_fa, query, means, beta)
    best = np.full(n_queries, -np.inf)
    np.maximum.at(best, query, value)
    empty = _may_accept_nothing(query, score, n_queries, reject_all_point=reject_all_point)
    best = np.where(empty, np.maximum(best, 0.0), best)
    # Rows stand by query and ascending score: the first row within rounding of the best is the lowest threshold.
    tied = np.flatnonzero(value >= best[query] - ROUNDING * np.maximum(1.0, np.abs(1.0 - best[query])))
    chosen, position = np.unique(query[tied], return_index=True)
    row = tied[position]
    threshold, hits, alarms = np.full(n_queries, np.nan), np.zeros(n_queries, np.int64), np.zeros(n_queries, np.int64)
    threshold[chosen], hits[chosen], alarms[chosen] = score[row], n_hit[row], n_fa[row]
    twv = np.where(means.in_p_miss, best, np.nan)
    return Optima(threshold, twv, Counts(means.n_true, hits, alarms))


def _accepted(counts: Ints, query: Ints, n_queries: int) -> Ints:
    """For rows sorted by query and score: counts of the same query in this row and after it."""
    ends = np.searchsorted(query, np.arange(n_queries), side="right")
    sums = np.concatenate([[0], np.cumsum(counts)])
    accepted: Ints = sums[ends[query]] - sums[:-1]
    return accepted


def _value(n_hit: Ints, n_fa: Ints, query: Ints, means: QueryMeans, beta: float) -> Floats:
    """TWV of each row's query at its score; without occurrences only the false-alarm part, -beta P_fa."""
    n_true, n_nontarget = means.n_true[query], means.n_nontarget[query]
    # 1 - P_miss = N_hit / N_true; where it or P_fa is not averaged, it does not count.
    hit = np.divide(n_hit, n_true, out=np.zeros(query.size), where=n_true > 0)
    false = np.divide(n_fa, n_nontarget, out=np.zeros(query.size), where=means.in_p_fa[query])
    value: Floats = hit - beta * false
    return value


def _may_accept_nothing(query: Ints, score: Floats, n_queries: int, *, reject_all_point: bool) -> NDArray[np.bool_]:
    if reject_all_point:
        return np.ones(n_queries, bool)
    highest = np.full(n_queries, -np.inf)
    np.maximum.at(highest, query, score)
    silent = np.bincount(query, minlength=n_queries) == 0
    below: NDArray[np.bool_] = highest < score.max(initial=-np.inf)
    result: NDArray[np.bool_] = silent | below
    return result
