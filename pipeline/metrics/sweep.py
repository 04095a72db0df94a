"""Error rates at every threshold: one pass over the distinct scores of the scored queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.metrics.at_scores import nontargets_at_scores, target_rows
from pipeline.metrics.fixed_point import FixedPoint, Floats, Ints
from pipeline.metrics.means import QueryMeans
from pipeline.partials.ledger import Ledger

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
    points = _points(ledger, means)
    n_ends = points.score.size + (reject_all_point or not points.score.size)
    threshold = np.append(points.score, np.nan)[:n_ends]
    p_miss = means.miss.value(*_below(points, means.miss, n_ends, ledger.omitted[0])) / means.n_queries
    p_fa = means.fa.value(*(_from(words, n_ends) for words in points.fa)) / means.n_queries_fa
    twv = 1.0 - (p_miss + beta * p_fa)
    return Curve(threshold, p_miss, p_fa, twv, first_best(twv))


@dataclass(frozen=True)
class _Points:
    """The distinct scores of the scored queries, ascending, with what each adds to the weighted counts."""

    score: Floats
    fa: tuple[Ints, Ints]
    """High and low words of each."""
    hit: Ints
    """Points of rows with targets, ascending, with high and low words of each."""
    miss: tuple[Ints, Ints]


def _points(ledger: Ledger, means: QueryMeans) -> _Points:
    score, (high, low) = nontargets_at_scores(
        ledger, means.scored, lambda query, counts: (means.fa.high[query] * counts, means.fa.low[query] * counts)
    )
    rows = target_rows(ledger, means.scored)
    hit = np.searchsorted(score, ledger.score[rows])
    order = np.argsort(hit)
    rows, hit = rows[order], hit[order]
    counts, query = ledger.n_target[rows], ledger.query[rows]
    return _Points(score, (high, low), hit, (counts * means.miss.high[query], counts * means.miss.low[query]))


def _below(points: _Points, weights: FixedPoint, n_ends: int, always: Ints) -> tuple[Ints, Ints]:
    """Words before each end, plus those that ``always`` count for each query."""
    n_before = np.repeat(np.arange(points.hit.size + 1), np.diff(points.hit + 1, prepend=0, append=n_ends))
    high, low = (
        (np.append(0, np.cumsum(words)) + (always * weight).sum())[n_before]
        for words, weight in zip(points.miss, (weights.high, weights.low), strict=True)
    )
    return high, low


def _from(words: Ints, n_ends: int) -> Ints:
    """Words from each end on."""
    sums = np.zeros(words.size + 1, np.int64)
    np.cumsum(words[::-1], out=sums[-2::-1])
    return sums[:n_ends]
