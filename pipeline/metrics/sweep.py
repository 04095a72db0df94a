"""Error rates at every threshold: one pass over the distinct scores of the scored queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.metrics.fixed_point import FixedPoint, Floats, Ints, running
from pipeline.metrics.means import QueryMeans
from pipeline.partials.ledger import Codes, Ledger

ROUNDING = 2.0**-48
"""TWV closer than this, relative to 1 - TWV where that is above 1, is equal: some 16 units in the last place."""


@dataclass(frozen=True)
class Curve:
    """Points of a sweep with ascending thresholds; a point accepts ``score >= threshold``.

    A NaN threshold is the last point where there is one, and accepts nothing. The means are rounded from exact
    counts at each point, the sum and its division by K once each (within 2 units in the last place), so they depend on
    no order and no partition.
    """

    threshold: Floats
    p_miss: Floats
    p_fa: Floats
    twv: Floats
    best: int = -1
    """Index of the maximum of TWV with the lowest threshold; -1 without points."""
    reason: str | None = None
    """Why there are no points."""


def first_best(twv: Floats) -> int:
    """Index of the first maximum. Values that differ by rounding only are ties, as their exact values may be equal."""
    top = float(twv.max())
    return int(np.argmax(twv >= top - ROUNDING * max(1.0, abs(1.0 - top))))


def sweep(ledger: Ledger, means: QueryMeans, beta: float, *, reject_all_point: bool = True) -> Curve:
    """The curve over every distinct score of the scored queries, decisions ignored (seed 000 sections 2.1-2.3).

    ``reject_all_point`` adds the system that accepts nothing (STDEval; KWSEval has no such point). Without any
    score that point is the whole curve.
    """
    if means.reason is not None:
        empty = np.zeros(0)
        return Curve(empty, empty, empty, empty, reason=means.reason)
    rows = ledger.by_score  # rows of one score are only added up: their order does not show
    rows = rows[means.scored[ledger.query[rows]]]
    score, query = ledger.score[rows], ledger.query[rows]
    first = np.flatnonzero(np.concatenate([np.ones(min(score.size, 1), bool), score[1:] != score[:-1]]))
    ends = np.append(first, score.size) if reject_all_point or not score.size else first
    threshold = np.append(score[first], np.nan)[: ends.size]
    del score
    p_miss = _below(means.miss, ledger.n_target[rows], query, ends, ledger.omitted[0]) / means.n_queries
    p_fa = _from(means.fa, ledger.n_nontarget[rows], query, first, ends.size) / means.n_queries_fa
    twv = 1.0 - (p_miss + beta * p_fa)
    return Curve(threshold, p_miss, p_fa, twv, first_best(twv))


def _below(weights: FixedPoint, counts: Ints, query: Codes, ends: Ints, always: Ints) -> Floats:
    """Weighted counts before each end, plus those that ``always`` count for each query. Few rows count any."""
    rows = np.flatnonzero(counts)
    counts, query, ends = counts[rows], query[rows], np.searchsorted(rows, ends)
    high = running(counts * weights.high[query], ends) + (always * weights.high).sum()
    low = running(counts * weights.low[query], ends) + (always * weights.low).sum()
    return weights.value(high, low)


def _from(weights: FixedPoint, counts: Ints, query: Codes, first: Ints, n_ends: int) -> Floats:
    """Weighted counts from each end on; rows between two ends stand from ``first`` on."""
    high, low = (_upward(words[query] * counts, first)[:n_ends] for words in (weights.high, weights.low))
    return weights.value(high, low)


def _upward(words: Ints, first: Ints) -> Ints:
    """Sums of all words from each first one on, and 0 at the end."""
    sums = np.zeros(first.size + 1, np.int64)
    if first.size:
        np.cumsum(np.add.reduceat(words, first)[::-1], out=sums[-2::-1])
    return sums
