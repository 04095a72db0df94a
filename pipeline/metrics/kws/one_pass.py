"""One pass over all rows of a cell's ledger, for everything that its measures need of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.metrics.kws.at_scores import AtScores, at_scores
from pipeline.metrics.kws.means import QueryMeans, query_means
from pipeline.metrics.kws.sweep import Curve, ThresholdSweep, no_curve
from pipeline.metrics.kws.thin import thinned
from pipeline.metrics.measure import Scored
from pipeline.partials.ascending import ascending
from pipeline.partials.ledger import Ledger
from pipeline.partials.rows import narrowed

LedgerScored = Scored[Ledger]


def thin_of(scored: LedgerScored) -> Ledger:
    """The rows that figures of single queries need, at the Bayes threshold among others."""
    # A point that depends on the key may not exist where nothing is scored.
    return thinned(scored.total, (scored.point.threshold,) if scored.total.n_true.any() else ())


def means_of(scored: LedgerScored) -> QueryMeans:
    """The means over queries by the protocol's rules."""
    if scored.rules.include_no_targets:
        return scored.once(means_over_all)
    skipped = scored.rules.skip_undefined_p_fa
    return query_means(scored.once(thin_of), scored.facts.n_trials, skip_undefined_p_fa=skipped)


def means_over_all(scored: LedgerScored) -> QueryMeans:
    """The means whose false-alarm rate covers queries without occurrences (plan 004 section 5.1.3.3)."""
    subtracted = 2 if scored.rules.no_targets_trials == "twice" else 1
    return query_means(
        scored.once(thin_of),
        scored.facts.n_trials,
        include_no_targets=True,
        skip_undefined_p_fa=scored.rules.skip_undefined_p_fa,
        subtracted=subtracted,
    )


def sweeps_of(scored: LedgerScored) -> tuple[QueryMeans, ...]:
    """The means of the cell's sweeps: by the protocol's rules and, where that is another sweep, over all queries."""
    own, means = scored.once(means_of), scored.once(means_over_all)
    if np.array_equal(means.in_p_fa, own.in_p_fa) and np.array_equal(means.n_nontarget, own.n_nontarget):
        return (own,)
    return (own, means)


class ScoreCounts(NamedTuple):
    """Distinct scores of some queries, ascending, with the number of non-targets, in a narrow type."""

    score: Floats
    n_nontarget: NDArray[Any]


class _Counting:
    """Counts at distinct scores, of blocks that ascend: nine bytes a score, of which nothing is copied."""

    def __init__(self, most: int) -> None:
        self._score, self._size, self._counts = np.empty(most), 0, list[NDArray[Any]]()

    def add(self, points: AtScores) -> None:
        begin, self._size = self._size, self._size + points.score.size
        self._score[begin : self._size] = points.score
        self._counts.append(narrowed(points.n_nontarget()))

    def made(self) -> ScoreCounts:
        return ScoreCounts(self._score[: self._size], np.concatenate([np.zeros(0, np.uint8), *self._counts]))


class LedgerPass(NamedTuple):
    """Sums and maxima over all rows of a cell."""

    trials: ScoreCounts
    """Of queries with targets."""
    curves: tuple[Curve, ...]
    """Of ``sweeps_of``."""


def passed(scored: LedgerScored) -> LedgerPass:
    """All that is folded over scores, in one pass."""
    sweeps, thin = scored.once(sweeps_of), scored.once(thin_of)
    trials, in_set = _Counting(len(scored.total)), thin.n_true[0] > 0
    made = [None if means.reason else _sweep(scored, means) for means in sweeps]
    for block in ascending(scored.total):
        points = AtScores.of(block, in_set)
        trials.add(points)
        for means, one in zip(sweeps, made, strict=True):
            if one is not None:
                one.add(points if np.array_equal(means.scored, in_set) else AtScores.of(block, means.scored))
    ends = scored.rules.reject_all_point
    curves = (
        no_curve(means) if one is None else one.curve(reject_all_point=ends)
        for means, one in zip(sweeps, made, strict=True)
    )
    return LedgerPass(trials.made(), tuple(curves))


def _sweep(scored: LedgerScored, means: QueryMeans) -> ThresholdSweep:
    return ThresholdSweep(scored.once(thin_of), means, scored.point.beta, every_point=scored.every_point)


def counted_of(ledger: Ledger, used: NDArray[np.bool_]) -> ScoreCounts:
    """The trials of some queries of a ledger of one condition."""
    counting = _Counting(len(ledger))
    for points in at_scores(ledger, used):
        counting.add(points)
    return counting.made()
