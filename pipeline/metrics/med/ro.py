"""Ro: recall against the share of the ranked list that has to be looked at (TRECVID MED 2013 on)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.bounds import Bounds
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.metrics.med.event_samples import event_mean
from pipeline.metrics.med.events import (
    NO_SCORES,
    EventCurve,
    EventScored,
    EventTotals,
    event_counts,
    event_curves,
    macro,
    without_targets,
)
from pipeline.terms import Figure


@dataclass(frozen=True)
class Best:
    """The largest Ro of an event and the threshold it needs; NaN where there is none."""

    ro: float = math.nan
    threshold: float = math.nan


def ro_percent(n_miss: Ints, n_fa: Ints, n_target: int, n_nontarget: int, weight: float) -> Floats:
    """Ro = recall - m percent rank, both in percent (F4DE MetricRo); NaN without targets."""
    if not n_target:
        return np.full(np.shape(n_miss), np.nan)
    n_hit = n_target - n_miss
    recall = 100 * n_hit / n_target
    looked_at = 100 * (n_hit + n_fa) / (n_target + n_nontarget)
    return np.asarray(recall - weight * looked_at, np.float64)


def best_of(curve: EventCurve, weight: float) -> Best:
    """The largest Ro over a sweep, of equal ones the lowest threshold."""
    values = ro_percent(curve.n_miss, curve.n_fa, curve.n_target, curve.n_nontarget, weight)
    if not values.size or np.isnan(values).all():
        return Best()
    best = int(np.nanargmax(values))
    return Best(float(values[best]), float(curve.threshold[best]))


def actual(scored: EventScored) -> Floats:
    """Ro of each event at the submitted decisions."""
    total, counts = scored.total, scored.once(event_counts)
    columns = zip(counts.n_miss, counts.n_fa, counts.n_true.tolist(), total.n_nontarget.tolist(), strict=True)
    return np.array([float(ro_percent(*row, total.ro_weight)) for row in columns], np.float64)


def largest(scored: EventScored) -> tuple[Best, ...]:
    """The largest Ro of each event."""
    return tuple(best_of(curve, scored.total.ro_weight) for curve in scored.once(event_curves))


def ro(scored: EventScored) -> Figure:
    """Mean over events of Ro at the submitted decisions."""
    return macro(scored.once(actual), without_targets(scored))


def _largest_ro(scored: EventScored) -> Floats:
    return np.array([best.ro for best in scored.once(largest)])


def max_ro(scored: EventScored) -> Figure:
    """Mean over events of each one's largest Ro."""
    reason = NO_SCORES if (scored.total.ledger.n_true[0] > 0).any() else without_targets(scored)
    return macro(scored.once(_largest_ro), reason)


MEASURES: tuple[Measure[EventTotals], ...] = (
    Measure(
        "ro",
        "%",
        "higher",
        Bounds("(-inf, 100]"),
        "F4DE MetricRo; mean over events",
        ro,
        label=Label("R", "0"),
        aggregation="mean over events with targets",
        resample=event_mean(actual),
    ),
    Measure(
        "max_ro",
        "%",
        "higher",
        Bounds("(-inf, 100]"),
        "F4DE MetricRo, maximum over thresholds; mean over events",
        max_ro,
        label=Label("max R", "0"),
        aggregation="mean over events with targets",
        resample=event_mean(_largest_ro),
    ),
)
