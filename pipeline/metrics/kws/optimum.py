"""The best threshold of each query taken alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Codes, Floats, Ints
from pipeline.metrics.kws.counts import Counts, by_query
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.sweep import ROUNDING
from pipeline.partials.ledger import Ledger

_AT_ONCE = 1 << 16
_VISIBLE = 2.0**-40


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
    empty = _may_accept_nothing(ledger, means, reject_all_point=reject_all_point)
    best = np.where(empty, 0.0, -np.inf)
    threshold, hits, alarms = np.full(n_queries, np.nan), np.zeros(n_queries, np.int64), np.zeros(n_queries, np.int64)
    queries, first = ledger.runs
    for some, begin, end in _batches(queries, first, len(ledger)):
        rows, starts = slice(begin[0], end[-1]), begin - begin[0]
        n_hit, n_fa = (_accepted(counts[rows].astype(np.int64), starts) for counts in ledger.counts[:2])
        value = _value(n_hit, n_fa, np.repeat(some, end - begin), means, beta)
        top = np.maximum(np.maximum.reduceat(value, starts), best[some])
        # Rows stand by ascending score: the first one within rounding of the best is the lowest threshold.
        limit = top - ROUNDING * np.maximum(1.0, np.abs(1.0 - top))
        tied = np.flatnonzero(value >= np.repeat(limit, end - begin))
        at = np.append(tied, value.size)[np.searchsorted(tied, starts)]
        chosen = means.scored[some] & (at < end - begin[0])
        best[some] = np.where(means.scored[some], top, best[some])
        query, row = some[chosen], at[chosen]
        threshold[query], hits[query], alarms[query] = ledger.scores.at(rows)[row], n_hit[row], n_fa[row]
    twv = np.where(means.in_p_miss, best, np.nan)
    return Optima(threshold, twv, Counts(means.n_true, hits, alarms))


def alarms_show(ledger: Ledger, means: QueryMeans, beta: float) -> bool:
    """Whether one more false alarm always costs far more than rounding does: then no row without targets is a best one,
    but for the highest of its query, and a thin ledger has the same optima."""
    n_fa = by_query(ledger, ledger.n_nontarget)[means.in_p_fa]
    with np.errstate(all="ignore"):
        cost = beta / means.n_nontarget[means.in_p_fa]
        return bool((cost > _VISIBLE * (1.0 + cost * n_fa)).all())


def _batches(queries: Codes, first: Ints, n_rows: int) -> Iterator[tuple[Codes, Ints, Ints]]:
    """Queries, a few at a time, with the first row of each and that behind its last."""
    ends = np.append(first[1:], n_rows)
    at = 0
    while at < queries.size:
        to = max(int(np.searchsorted(ends, first[at] + _AT_ONCE, side="right")), at + 1)
        yield queries[at:to], first[at:to], ends[at:to]
        at = to


def _accepted(counts: Ints, starts: Ints) -> Ints:
    """For rows of several queries, sorted by query and score: counts of the same query in this row and after it."""
    sums = np.append(0, np.cumsum(counts))
    ends = np.append(starts[1:], counts.size)
    accepted: Ints = np.repeat(sums[ends], ends - starts) - sums[:-1]
    return accepted


def _value(n_hit: Ints, n_fa: Ints, query: Codes, means: QueryMeans, beta: float) -> Floats:
    """TWV of each row's query at its score; without occurrences only the false-alarm part, -beta P_fa."""
    n_true, n_nontarget = means.n_true[query], means.n_nontarget[query]
    # 1 - P_miss = N_hit / N_true; where it or P_fa is not averaged, it does not count.
    hit = np.divide(n_hit, n_true, out=np.zeros(query.size), where=n_true > 0)
    false = np.divide(n_fa, n_nontarget, out=np.zeros(query.size), where=means.in_p_fa[query])
    value: Floats = hit - beta * false
    return value


def _may_accept_nothing(ledger: Ledger, means: QueryMeans, *, reject_all_point: bool) -> NDArray[np.bool_]:
    n_queries = len(ledger.queries)
    if reject_all_point:
        return np.ones(n_queries, bool)
    queries, first = ledger.runs
    highest = np.full(n_queries, -np.inf)
    highest[queries] = ledger.scores.at(np.append(first[1:], len(ledger))[: first.size] - 1)
    highest[~means.scored] = -np.inf
    silent = np.ones(n_queries, bool)
    silent[queries] = ~means.scored[queries]
    below: NDArray[np.bool_] = highest < highest.max(initial=-np.inf)
    result: NDArray[np.bool_] = silent | below
    return result
