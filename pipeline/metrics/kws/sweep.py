"""Error rates at every threshold: one pass over the distinct scores of the scored queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline import compiled
from pipeline.arrays import Floats, Ints
from pipeline.metrics.fixed_point import FixedPoint
from pipeline.metrics.kws.at_scores import AtScores, at_scores, target_rows
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.one_pass import false_alarms
from pipeline.partials.ledger import Ledger

COMPILED_FROM = 1 << 15
"""Points from which the compiled kernel is worth a call."""
MOST_BITS = 1000
"""Bits of a scale up to which its power of two is a normal number, as the kernel takes it."""
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


def sweep(
    ledger: Ledger, means: QueryMeans, beta: float, words: AtScores | None = None, *, reject_all_point: bool = True
) -> Curve:
    """The curve over every distinct score of the scored queries, decisions ignored (seed 000 sections 2.1-2.3).

    ``reject_all_point`` adds the system that accepts nothing (STDEval; KWSEval has no such point). Without any
    score that point is the whole curve. ``words`` are those of ``false_alarms``, where they are known: then only rows
    with targets are looked for in the ledger.
    """
    if means.reason is not None:
        empty = np.zeros(0)
        return Curve(empty, empty, empty, empty, reason=means.reason)
    points = _points(ledger, means, words or at_scores(ledger, (false_alarms(means),))[0])
    n_ends = points.score.size + (reject_all_point or not points.score.size)
    threshold = points.score if n_ends == points.score.size else np.append(points.score, np.nan)
    p_miss, p_fa, twv = _rates(points, means, beta, n_ends)
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
    always: tuple[int, int]
    """Words of the targets that every threshold misses."""


def _points(ledger: Ledger, means: QueryMeans, words: AtScores) -> _Points:
    rows, query = target_rows(ledger, means.scored)
    order = np.argsort(ledger.score[rows])
    rows, query = rows[order], query[order]
    hit, counts = np.searchsorted(words.score, ledger.score[rows]), ledger.counts[0, rows].astype(np.int64)
    (high, low), weights, omitted = words.sums, means.miss, ledger.omitted[0]
    miss = counts * weights.high[query], counts * weights.low[query]
    always = int((omitted * weights.high).sum()), int((omitted * weights.low).sum())
    return _Points(words.score, (high, low), hit, miss, always)


def _rates(points: _Points, means: QueryMeans, beta: float, n_ends: int) -> tuple[Floats, Floats, Floats]:
    """P_miss, P_fa and TWV of every point."""
    if n_ends >= COMPILED_FROM and compiled.started() and max(means.miss.high_bits, means.fa.high_bits) <= MOST_BITS:
        from pipeline.metrics.kws.sweep_kernel import Side, fill

        found = np.empty((3, n_ends))
        sides = Side.of(means.miss, means.n_queries), Side.of(means.fa, means.n_queries_fa)
        fill(points.fa, points.hit, points.miss, points.always, sides, beta, found)
        return found[0], found[1], found[2]
    p_miss = _below(points, means.miss, n_ends) / means.n_queries
    p_fa = means.fa.value(*(_from(words, n_ends) for words in points.fa)) / means.n_queries_fa
    return p_miss, p_fa, 1.0 - (p_miss + beta * p_fa)


def _below(points: _Points, weights: FixedPoint, n_ends: int) -> Floats:
    """Weighted sums of the targets missed before each end."""
    high, low = (
        np.append(0, np.cumsum(words)) + first for words, first in zip(points.miss, points.always, strict=True)
    )
    missed = weights.value(high, low)
    return np.asarray(np.repeat(missed, np.diff(points.hit + 1, prepend=0, append=n_ends)))


def _from(words: Ints, n_ends: int) -> Ints:
    """Words from each end on."""
    sums = np.zeros(words.size + 1, np.int64)
    np.cumsum(words[::-1], out=sums[-2::-1])
    return sums[:n_ends]
