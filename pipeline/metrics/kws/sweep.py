"""Error rates at every threshold: one pass over the distinct scores of the scored queries, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.kws.at_scores import AtScores, at_scores, target_rows
from pipeline.metrics.kws.counts import by_query
from pipeline.metrics.kws.det import may_stand
from pipeline.metrics.kws.means import QueryMeans
from pipeline.partials.ledger import Ledger

ROUNDING = 2.0**-48
"""TWV closer than this, relative to 1 - TWV where that is above 1, is equal: some 16 units in the last place."""
STRIDE = 32
"""Points from one whose rates are looked at to the next, where only maxima and a drawing are asked for."""


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
    below_best: float = np.nan
    """The highest score below the best threshold; NaN where there is none."""


def first_best(twv: Floats) -> int:
    """Index of the first maximum. Values that differ by rounding only are ties, as their exact values may be equal."""
    return int(np.argmax(twv >= _least_equal(float(twv.max()))))


def _least_equal(top: float) -> float:
    return top - ROUNDING * max(1.0, abs(1.0 - top))


def sweep(
    ledger: Ledger, means: QueryMeans, beta: float, *, reject_all_point: bool = True, every_point: bool = True
) -> Curve:
    """The curve over every distinct score of the scored queries, decisions ignored (seed 000 sections 2.1-2.3).

    ``reject_all_point`` adds the system that accepts nothing (STDEval; KWSEval has no such point). Without any
    score that point is the whole curve. Without ``every_point`` it has the best points and those of a drawing.
    """
    if means.reason is not None:
        return no_curve(means)
    made = ThresholdSweep(ledger, means, beta, every_point=every_point)
    for points in at_scores(ledger, means.scored):
        made.add(points)
    return made.curve(reject_all_point=reject_all_point)


def no_curve(means: QueryMeans) -> Curve:
    """The curve without points, with the reason of means that do not exist."""
    empty = np.zeros(0)
    return Curve(empty, empty, empty, empty, reason=means.reason)


class _Points(NamedTuple):
    threshold: Floats
    p_miss: Floats
    p_fa: Floats
    twv: Floats

    def take(self, rows: Ints) -> _Points:
        return _Points(*(column[rows] for column in self))

    @classmethod
    def joined(cls, parts: Sequence[_Points]) -> _Points:
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


class ThresholdSweep:
    """A sweep in the making, of blocks of scores that ascend: as much of it is kept as is asked for.

    ``ledger`` need not have more than ``thin.thinned`` keeps. Where beta is infinite every point is kept.
    """

    def __init__(self, ledger: Ledger, means: QueryMeans, beta: float, *, every_point: bool) -> None:
        self._means, self._beta = means, beta
        self._every = every_point or not 0.0 <= beta < np.inf
        rows, query = target_rows(ledger, means.scored)
        order = np.argsort(ledger.scores.at(rows))
        rows, query = rows[order], query[order]
        self._hit, n_target = ledger.scores.at(rows), ledger.counts[0, rows].astype(np.int64)
        words = means.miss.high, means.miss.low
        self._missed = [
            np.append(0, np.cumsum(n_target * word[query])) + int((ledger.omitted[0] * word).sum()) for word in words
        ]
        n_fa = np.where(means.scored, by_query(ledger, ledger.n_nontarget), 0)
        self._from = int((n_fa * means.fa.high).sum()), int((n_fa * means.fa.low).sum())
        self._kept = list[_Points]()
        self._best = list[tuple[_Points, float]]()
        self._n, self._last = 0, np.nan

    def add(self, points: AtScores) -> None:
        """The scores of the scored queries that follow."""
        score, words = points.score, (self._means.fa.high, self._means.fa.low)
        if not score.size:
            return
        alarms = [
            start - np.append(0, np.cumsum(points.sums(word))) for start, word in zip(self._from, words, strict=True)
        ]
        self._from = int(alarms[0][-1]), int(alarms[1][-1])
        if self._every:
            self._kept.append(self._at(score, alarms, np.arange(score.size)))
        else:
            self._look_for_best(score, alarms)
            rows = may_stand(score, lambda rows: self._rates(score[rows], [word[rows] for word in alarms]))
            self._kept.append(self._at(score, alarms, np.unique(rows)))
        self._n, self._last = self._n + score.size, float(score[-1])

    def curve(self, *, reject_all_point: bool) -> Curve:
        """The curve of all blocks so far."""
        if reject_all_point or not self._n:
            nothing, none = np.array([np.nan]), [np.zeros(1, np.int64)] * 2
            last = self._at(nothing, none, np.zeros(1, np.int64))
            self._kept.append(last)
            if not self._every:
                self._note(last, np.array([self._last]))
        if self._every:
            points = _Points.joined(self._kept)
            best = first_best(points.twv)
            return Curve(*points, best, below_best=float(points.threshold[best - 1]) if best else np.nan)
        points = _Points.joined([*self._kept, *(point for point, _ in self._best)])
        points = points.take(np.argsort(points.threshold, kind="stable"))
        new = np.append(True, ~np.isnan(points.threshold[:-1]) & (points.threshold[1:] != points.threshold[:-1]))
        points = points.take(np.flatnonzero(new))
        best = first_best(points.twv)
        return Curve(*points, best, below_best=self._best[0][1])

    def _rates(self, score: Floats, alarms: Sequence[Ints]) -> tuple[Floats, Floats]:
        """P_miss and P_fa of points, from words of the false alarms from each on."""
        means, below = self._means, np.searchsorted(self._hit, score)
        p_miss = means.miss.value(self._missed[0][below], self._missed[1][below]) / means.n_queries
        return p_miss, means.fa.value(alarms[0], alarms[1]) / means.n_queries_fa

    def _at(self, score: Floats, alarms: Sequence[Ints], rows: Ints) -> _Points:
        p_miss, p_fa = self._rates(score[rows], [word[rows] for word in alarms])
        return _Points(score[rows], p_miss, p_fa, 1.0 - (p_miss + self._beta * p_fa))

    def _look_for_best(self, score: Floats, alarms: Sequence[Ints]) -> None:
        """Note the points that may be the best of all.

        No point between two misses fewer targets than the first, or accepts fewer false alarms than the second.
        """
        starts = np.arange(0, score.size, STRIDE)
        seen = self._at(score, alarms, starts)
        ends = np.minimum(starts + STRIDE, score.size)
        p_fa = self._means.fa.value(*(word[ends] for word in alarms)) / self._means.n_queries_fa
        at_most = 1.0 - (seen.p_miss + self._beta * p_fa)
        top = max([float(seen.twv.max()), *(float(point.twv[0]) for point, _ in self._best)])
        wide = starts[at_most >= _least_equal(_least_equal(top))]  # rounding is allowed for twice
        rows = (wide[:, None] + np.arange(STRIDE)).ravel()
        rows = rows[rows < score.size]
        if rows.size:
            below = np.where(rows > 0, score[rows - 1], self._last)
            self._note(self._at(score, alarms, rows), below)

    def _note(self, points: _Points, below: Floats) -> None:
        """Keep of points that follow those higher than all before them, as far as they may be equal to the highest."""
        before = max((float(point.twv[0]) for point, _ in self._best), default=-np.inf)
        highest = np.maximum.accumulate(np.append(before, points.twv))
        least = _least_equal(float(highest[-1]))
        new = np.flatnonzero((points.twv > highest[:-1]) & (points.twv >= least)).tolist()
        self._best = [entry for entry in self._best if entry[0].twv[0] >= least]
        self._best += [(points.take(np.array([row])), float(below[row])) for row in new]
