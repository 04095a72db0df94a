"""Sweeps of detections of events: each event alone, all of them pooled, and the curve of mean rates (TRECVID MED)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.metrics.kws.counts import Counts, by_query, decided
from pipeline.metrics.kws.means import QueryMeans, query_means
from pipeline.metrics.kws.sweep import Curve, sweep
from pipeline.metrics.measure import Scored
from pipeline.partials.ledger import Ledger
from pipeline.partials.tie_order import TieOrder
from pipeline.terms import Figure, OperatingPoint

NOT_SUBMITTED = "not_submitted"
"""Reason: the system processed no event."""
NO_TARGETS = "no_targets"
"""Reason: no event that was processed has a target."""
NO_NONTARGETS = "no_nontarget_trials"
"""Reason: no event with targets has other trials."""
NO_SCORES = "no_scores"
"""Reason: nothing was scored."""


@dataclass(frozen=True)
class EventTotals:
    """The totals of one system over events. Arrays lie over the ledger's queries, which are the events."""

    ledger: Ledger
    n_nontarget: Ints
    """Denominator of the false-alarm rate: scored non-targets, or all of the index."""
    submitted: NDArray[np.bool_]
    threshold: Floats
    """Submitted thresholds; NaN where there are none."""
    hours: Floats
    """Declared hours of event agent execution; NaN where there are none."""
    ties: TieOrder | None
    """The order of the trials where ties are broken by their ids; otherwise ties never help."""
    ter: float
    """Target error ratio: slope of the line P_MD = ter P_FA."""
    ro_weight: float
    """m of Ro (F4DE MetricRo)."""
    empty_point: bool
    """Whether a sweep has a last point that detects nothing."""


EventScored = Scored[EventTotals]


@dataclass(frozen=True)
class EventCurve:
    """Points of one sweep with ascending thresholds; a point detects ``score >= threshold``, a NaN one nothing."""

    threshold: Floats
    n_miss: Ints
    n_fa: Ints
    n_target: int
    n_nontarget: int

    @property
    def p_md(self) -> Floats:
        """Missed detection rates; NaN without targets (MED 2011 plan, section 4.1)."""
        return ratio(self.n_miss, self.n_target)

    @property
    def p_fa(self) -> Floats:
        """False-alarm rates; NaN without non-targets (MED 2011 plan, section 4.1)."""
        return ratio(self.n_fa, self.n_nontarget)


def ratio(counts: Ints, total: int) -> Floats:
    """Counts over their total, NaN where that is 0."""
    return counts / total if total else np.full(counts.shape, np.nan)


def ndc(p_md: Floats, p_fa: Floats, point: OperatingPoint) -> Floats:
    """Normalized detection cost (MED 2011 plan, appendix A), in the order of operations of F4DE's metric.

    The norm is the smaller of the costs of missing everything and of detecting everything.
    """
    miss, false_alarm = point.c_miss * point.p_target, point.c_fa * (1.0 - point.p_target)
    norm = min(miss, false_alarm)
    return (p_md * miss) / norm + (p_fa * false_alarm) / norm


def event_counts(scored: EventScored) -> Counts:
    """Counts of each event at the submitted decisions."""
    return decided(scored.total.ledger)


def event_curves(scored: EventScored) -> tuple[EventCurve, ...]:
    """The sweep of each event alone (F4DE DETCurve), in the order of the ledger's queries."""
    total, ledger = scored.total, scored.total.ledger
    bounds = np.searchsorted(ledger.query, np.arange(len(ledger.queries) + 1)).tolist()
    curves = []
    for event, (begin, end) in enumerate(pairwise(bounds)):
        rows = slice(begin, end)
        curves.append(
            _curve(
                ledger.score[rows],
                ledger.n_target[rows],
                ledger.n_nontarget[rows],
                omitted=int(ledger.omitted[0, event]),
                n_nontarget=int(total.n_nontarget[event]),
                empty_point=total.empty_point,
            )
        )
    return tuple(curves)


def pooled_curve(scored: EventScored) -> EventCurve:
    """The sweep of all processed events as one: rates over trials (DEVA without blocks)."""
    total, ledger = scored.total, scored.total.ledger
    score, place = np.unique(ledger.score, return_inverse=True)
    n_target, n_nontarget = np.zeros(score.size, np.int64), np.zeros(score.size, np.int64)
    np.add.at(n_target, place, ledger.n_target)
    np.add.at(n_nontarget, place, ledger.n_nontarget)
    return _curve(
        score,
        n_target,
        n_nontarget,
        omitted=int(ledger.omitted.sum()),
        n_nontarget=int(total.n_nontarget[total.submitted].sum()),
        empty_point=total.empty_point,
    )


def _curve(
    score: Floats, n_target: Ints, n_other: Ints, *, omitted: int, n_nontarget: int, empty_point: bool
) -> EventCurve:
    """Point k detects from the k-th score on, so it misses what lies below (spec of F4DE DETCurve)."""
    below = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_target)])
    above = int(n_other.sum()) - np.concatenate([np.zeros(1, np.int64), np.cumsum(n_other)])
    last = score.size + empty_point
    return EventCurve(
        threshold=np.append(score, np.nan)[:last],
        n_miss=omitted + below[:last],
        n_fa=above[:last],
        n_target=omitted + int(below[-1]),
        n_nontarget=n_nontarget,
    )


def event_means(scored: EventScored) -> QueryMeans:
    """How counts of events become mean rates: P_MD over events with targets, P_FA over those that have others too."""
    total = scored.total
    n_trials = (total.ledger.n_true[0] + total.n_nontarget).astype(np.float64)
    return query_means(total.ledger, n_trials, skip_undefined_p_fa=True)


def average_curve(scored: EventScored) -> Curve:
    """Mean rates at every score of an event with targets (DEVA --BlockAverage); its ``twv`` is 1 - NDC."""
    means, point = scored.once(event_means), scored.point
    if not means.n_queries:
        empty = np.zeros(0)
        return Curve(empty, empty, empty, empty, reason=without_targets(scored))
    if means.reason is not None:
        empty = np.zeros(0)
        return Curve(empty, empty, empty, empty, reason=NO_NONTARGETS)
    made = sweep(scored.total.ledger, means, point.beta, reject_all_point=scored.total.empty_point)
    cost = ndc(made.p_miss, made.p_fa, point)
    best = int(np.argmin(cost)) if cost.size else -1
    return Curve(made.threshold, made.p_miss, made.p_fa, 1.0 - cost, best, None if cost.size else NO_SCORES)


def without_targets(scored: EventScored) -> str:
    """Why no event has targets."""
    return NO_TARGETS if scored.total.submitted.any() else NOT_SUBMITTED


def macro(values: Floats, reason: str, detail: dict[str, float] | None = None) -> Figure:
    """The mean over events that have the figure; ``n_events`` counts them."""
    known = values[~np.isnan(values)]
    beside = {"n_events": float(known.size), **(detail or {})}
    if not known.size:
        return Figure(math.nan, reason, detail=beside)
    return Figure(math.fsum(known.tolist()) / known.size, detail=beside)


def n_scored_nontarget(ledger: Ledger) -> Ints:
    """Scored non-target trials of each event."""
    return by_query(ledger, ledger.n_nontarget)
