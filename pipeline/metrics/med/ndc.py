"""Miss and false-alarm rates of events and their normalized detection cost: as decided, at best, at the error ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.bounds import ANY, FROM_0, SHARE
from pipeline.metrics.kws.sweep import Curve
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.metrics.med.event_samples import MIN_NDC, NDC, event_mean
from pipeline.metrics.med.events import (
    NO_NONTARGETS,
    NO_SCORES,
    EventCurve,
    EventScored,
    EventTotals,
    average_curve,
    event_counts,
    event_curves,
    event_means,
    macro,
    ndc,
    pooled_curve,
    without_targets,
)
from pipeline.terms import Figure, OperatingPoint

NO_CROSSING = "no_crossing"
"""Reason: the curve does not meet the line of the target error ratio."""


@dataclass(frozen=True)
class NdcPoint:
    """One point of a curve; NaN throughout where there is none."""

    ndc: float = math.nan
    threshold: float = math.nan
    p_md: float = math.nan
    p_fa: float = math.nan


@dataclass(frozen=True)
class EventRates:
    """Rates and cost of each event at the submitted decisions, NaN where undefined."""

    p_md: Floats
    p_fa: Floats
    ndc: Floats


def decided_rates(scored: EventScored) -> EventRates:
    """PMD, PFA and NDC of each event (MED 2011 plan, section 4.1 and appendix A); events without targets have none."""
    total, counts = scored.total, scored.once(event_counts)
    p_md = _divided(counts.n_miss, counts.n_true)
    p_fa = np.where(total.submitted, _divided(counts.n_fa, total.n_nontarget), np.nan)
    return EventRates(p_md, p_fa, ndc(p_md, p_fa, scored.point))


def _divided(counts: Ints, totals: Ints) -> Floats:
    result: Floats = np.divide(counts, totals, out=np.full(totals.size, np.nan), where=totals > 0)
    return result


def least(curve: EventCurve, point: OperatingPoint) -> NdcPoint:
    """The point with the smallest NDC, of equal ones the lowest threshold (F4DE DETCurve)."""
    p_md, p_fa = curve.p_md, curve.p_fa
    cost = ndc(p_md, p_fa, point)
    if not cost.size or np.isnan(cost).all():
        return NdcPoint()
    best = int(np.nanargmin(cost))
    return NdcPoint(float(cost[best]), float(curve.threshold[best]), float(p_md[best]), float(p_fa[best]))


def at_error_ratio(threshold: Floats, p_md: Floats, p_fa: Floats, ter: float, point: OperatingPoint) -> NdcPoint:
    """Where the curve first meets the line P_MD = ter P_FA (F4DE DETCurve; MED 2011 plan, section 4.2).

    Straight lines join the points, in probabilities. The threshold is that of the later point. No ``Point`` where the
    curve starts above the line or ends below it.
    """
    if threshold.size < 2 or np.isnan(p_md).any() or np.isnan(p_fa).any():
        return NdcPoint()
    x1, x2, y1, y2 = p_fa[:-1], p_fa[1:], p_md[:-1], p_md[1:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = (y1 - y2) / (x1 - x2)
        cut = (y1 - slope * x1) / (ter - slope)
        x = np.where(x1 == x2, x1, np.where(y1 == y2, y1 / ter, cut))
        t = np.where(x1 == x2, (ter * x1 - y1) / (y2 - y1), (x - x1) / (x2 - x1))
    y = np.where((y1 == y2) & (x1 != x2), y1, ter * x)
    met = np.flatnonzero((t >= 0) & (t <= 1))
    if not met.size:
        return NdcPoint()
    first = int(met[0])
    cost = ndc(y[first : first + 1], x[first : first + 1], point)
    return NdcPoint(float(cost[0]), float(threshold[first + 1]), float(y[first]), float(x[first]))


def minima(scored: EventScored) -> tuple[NdcPoint, ...]:
    """The minimum NDC of each event."""
    return tuple(least(curve, scored.point) for curve in scored.once(event_curves))


def crossings(scored: EventScored) -> tuple[NdcPoint, ...]:
    """NDC at the target error ratio of each event."""
    return tuple(_crossing(curve, scored) for curve in scored.once(event_curves))


def _crossing(curve: EventCurve, scored: EventScored) -> NdcPoint:
    return at_error_ratio(curve.threshold, curve.p_md, curve.p_fa, scored.total.ter, scored.point)


def pooled_least(scored: EventScored) -> NdcPoint:
    """The minimum NDC over the trials of all events."""
    return least(scored.once(pooled_curve), scored.point)


def average_least(scored: EventScored) -> NdcPoint:
    """The minimum NDC of the mean rates (DEVA --BlockAverage)."""
    curve = scored.once(average_curve)
    if curve.reason is not None:
        return NdcPoint()
    best = curve.best
    rates = float(curve.p_miss[best]), float(curve.p_fa[best])
    cost = ndc(curve.p_miss[best : best + 1], curve.p_fa[best : best + 1], scored.point)
    return NdcPoint(float(cost[0]), float(curve.threshold[best]), *rates)


def _average_crossing(curve: Curve, scored: EventScored) -> NdcPoint:
    return at_error_ratio(curve.threshold, curve.p_miss, curve.p_fa, scored.total.ter, scored.point)


def pooled_rates(scored: EventScored) -> NdcPoint:
    """Rates at the submitted decisions over the trials of all processed events."""
    total, counts = scored.total, scored.once(event_counts)
    n_true, n_other = int(counts.n_true.sum()), int(total.n_nontarget[total.submitted].sum())
    p_md = float(counts.n_miss.sum()) / n_true if n_true else math.nan
    p_fa = float(counts.n_fa.sum()) / n_other if n_other else math.nan
    return NdcPoint(float(ndc(np.array(p_md), np.array(p_fa), scored.point)), math.nan, p_md, p_fa)


def _evaluated(total: EventTotals, values: Floats) -> Floats:
    """Values of the events with targets: an event without any is not evaluated (F4DE TrialsFuncs)."""
    return np.where(total.ledger.n_true[0] > 0, values, np.nan)


def _why(scored: EventScored, otherwise: str) -> str:
    return otherwise if (scored.total.ledger.n_true[0] > 0).any() else without_targets(scored)


def p_md(scored: EventScored) -> Figure:
    """Mean over events of the missed detection rate at the submitted thresholds; ``pooled`` is the rate over trials."""
    rates = scored.once(decided_rates)
    return macro(rates.p_md, without_targets(scored), {"pooled": scored.once(pooled_rates).p_md})


def p_fa(scored: EventScored) -> Figure:
    """Mean over events with targets of the false-alarm rate at the submitted thresholds; ``pooled``: over trials."""
    values = _evaluated(scored.total, scored.once(decided_rates).p_fa)
    return macro(values, _why(scored, NO_NONTARGETS), {"pooled": scored.once(pooled_rates).p_fa})


def actual_ndc(scored: EventScored) -> Figure:
    """NDC of the mean rates at the submitted thresholds (DEVA --BlockAverage); ``pooled``: of all trials."""
    counts, means = scored.once(event_counts), scored.once(event_means)
    mean_fa = means.p_fa(counts.n_fa) if means.n_queries_fa else math.nan
    average = float(ndc(np.array(means.p_miss(counts.n_miss)), np.array(mean_fa), scored.point))
    return _of_means(scored, average, NO_NONTARGETS, {"pooled": scored.once(pooled_rates).ndc})


def _of_means(scored: EventScored, value: float, otherwise: str, detail: dict[str, float]) -> Figure:
    """A figure of the mean rates, whose value is also its companion ``average``."""
    reason = _why(scored, otherwise) if math.isnan(value) else None
    n_events = float(scored.once(event_means).n_queries)
    return Figure(value, reason, detail={"n_events": n_events, "average": value, **detail})


def _companions(prefix: str, point: NdcPoint) -> dict[str, float]:
    named = {"": point.ndc, "_threshold": point.threshold, "_p_md": point.p_md, "_p_fa": point.p_fa}
    return {f"{prefix}{name}": value for name, value in named.items()}


def min_ndc(scored: EventScored) -> Figure:
    """The smallest NDC of the curve of mean rates (DEVA --BlockAverage); ``pooled``: of the curve of all trials."""
    least_of_means = scored.once(average_least)
    detail = {**_companions("average", least_of_means), **_companions("pooled", scored.once(pooled_least))}
    return _of_means(scored, least_of_means.ndc, _without_curve(scored), detail)


def mean_min_ndc(scored: EventScored) -> Figure:
    """Mean over events of each one's smallest NDC, at as many thresholds."""
    return macro(np.array([point.ndc for point in scored.once(minima)]), _why(scored, _without_curve(scored)))


def _without_curve(scored: EventScored) -> str:
    return NO_NONTARGETS if len(scored.total.ledger) else NO_SCORES


def min_ndc_threshold(scored: EventScored) -> Figure:
    """The one threshold for all events that makes NDC of their mean rates smallest; blocks have each event's own."""
    curve, best = scored.once(average_curve), scored.once(average_least)
    if curve.reason is not None:
        return Figure.undefined(curve.reason)
    if math.isnan(best.threshold):
        return Figure.undefined("reject_all" if curve.threshold.size > 1 else NO_SCORES)
    return Figure(best.threshold, detail={"pooled": scored.once(pooled_least).threshold})


def _at_ter(scored: EventScored, name: str) -> Figure:
    average = _average_crossing(scored.once(average_curve), scored)
    pooled = _crossing(scored.once(pooled_curve), scored)
    detail = {"average_threshold": average.threshold, "pooled": getattr(pooled, name)}
    detail |= {"pooled_threshold": pooled.threshold}
    return _of_means(scored, getattr(average, name), NO_CROSSING, detail)


def _mean_at_ter(scored: EventScored, name: str) -> Figure:
    values = np.array([getattr(point, name) for point in scored.once(crossings)])
    return macro(_evaluated(scored.total, values), _why(scored, NO_CROSSING))


def ndc_at_ter(scored: EventScored) -> Figure:
    """NDC where the curve of mean rates meets the line P_MD = TER P_FA (MED 2011 plan, section 4.2)."""
    return _at_ter(scored, "ndc")


def p_md_at_ter(scored: EventScored) -> Figure:
    """The mean missed detection rate where NDC@TER is taken (MED 2012)."""
    return _at_ter(scored, "p_md")


def mean_ndc_at_ter(scored: EventScored) -> Figure:
    """Mean over events of NDC where each one's own curve meets the line."""
    return _mean_at_ter(scored, "ndc")


def mean_p_md_at_ter(scored: EventScored) -> Figure:
    """Mean over events of the missed detection rate where each one's own curve meets the line."""
    return _mean_at_ter(scored, "p_md")


def _own_p_md(scored: EventScored) -> Floats:
    return scored.once(decided_rates).p_md


def _own_p_fa(scored: EventScored) -> Floats:
    return scored.once(decided_rates).p_fa


def _own_min_ndc(scored: EventScored) -> Floats:
    return np.array([point.ndc for point in scored.once(minima)])


def _own_ndc_at_ter(scored: EventScored) -> Floats:
    return np.array([point.ndc for point in scored.once(crossings)])


def _own_p_md_at_ter(scored: EventScored) -> Floats:
    return np.array([point.p_md for point in scored.once(crossings)])


EVENTS = "mean over events with targets"
MEAN_RATES = "of mean rates over events"
MEAN_CURVE = "of the curve of mean rates over events"
_PLAN = "TRECVID MED 2011 plan"

MEASURES: tuple[Measure[EventTotals], ...] = (
    Measure(
        "p_md",
        "1",
        "lower",
        SHARE,
        f"{_PLAN} 4.1; mean over events",
        p_md,
        label=Label("P", "md"),
        aggregation=EVENTS,
        resample=event_mean(_own_p_md),
        heads_board=True,
    ),
    Measure(
        "p_fa",
        "1",
        "lower",
        SHARE,
        f"{_PLAN} 4.1; mean over events",
        p_fa,
        label=Label("P", "fa"),
        aggregation=EVENTS,
        resample=event_mean(_own_p_fa),
    ),
    Measure(
        "ndc",
        "1",
        "lower",
        FROM_0,
        f"{_PLAN} 4.2, appendix A; DEVA --BlockAverage: of mean rates",
        actual_ndc,
        label=Label("NDC", note="diagnostic"),
        aggregation=MEAN_RATES,
        resample=NDC,
        heads_board=True,
        best="min_ndc",
    ),
    Measure(
        "min_ndc",
        "1",
        "lower",
        FROM_0,
        f"{_PLAN} 4.2; DEVA --BlockAverage: of the mean curve",
        min_ndc,
        label=Label("min NDC", note="diagnostic"),
        aggregation=MEAN_CURVE,
        resample=MIN_NDC,
        heads_board=True,
        threshold="min_ndc_threshold",
    ),
    Measure(
        "min_ndc_threshold",
        "score",
        "none",
        ANY,
        "DEVA --BlockAverage, threshold of the mean curve",
        min_ndc_threshold,
        label=Label("θ", "min NDC"),
        aggregation=MEAN_CURVE,
    ),
    Measure(
        "ndc_at_ter",
        "1",
        "lower",
        FROM_0,
        f"{_PLAN} 4.2; DEVA --BlockAverage: of the mean curve",
        ndc_at_ter,
        label=Label("NDC@TER", note="diagnostic"),
        aggregation=MEAN_CURVE,
    ),
    Measure(
        "p_md_at_ter",
        "1",
        "lower",
        SHARE,
        "TRECVID MED 2012: PMiss at TER, of the mean curve",
        p_md_at_ter,
        label=Label("P", "md", "at TER"),
        aggregation=MEAN_CURVE,
    ),
    Measure(
        "mean_min_ndc",
        "1",
        "lower",
        FROM_0,
        f"{_PLAN} 4.2; mean over events",
        mean_min_ndc,
        label=Label("min NDC", note="mean over events"),
        aggregation=EVENTS,
        resample=event_mean(_own_min_ndc),
    ),
    Measure(
        "mean_ndc_at_ter",
        "1",
        "lower",
        FROM_0,
        f"{_PLAN} 4.2; mean over events",
        mean_ndc_at_ter,
        label=Label("NDC@TER", note="mean over events"),
        aggregation=EVENTS,
        resample=event_mean(_own_ndc_at_ter),
    ),
    Measure(
        "mean_p_md_at_ter",
        "1",
        "lower",
        SHARE,
        "TRECVID MED 2012, mean over events",
        mean_p_md_at_ter,
        label=Label("P", "md", "at TER, mean over events"),
        aggregation=EVENTS,
        resample=event_mean(_own_p_md_at_ter),
    ),
)
