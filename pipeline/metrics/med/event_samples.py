"""Figures of events (TRECVID MED) as functions of how often each event counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pipeline.arrays import Floats
from pipeline.metrics.kws.counts import Counts
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.samples import names_of, swept, value_rates
from pipeline.metrics.measure import Resample, Rows, Rules, Scored
from pipeline.metrics.med.events import EventScored, EventTotals, event_counts, event_means, ndc, without_targets
from pipeline.metrics.statistics.resampling import INFINITE, Lost, Ratios, Sample
from pipeline.partials.ledger import Ledger


def event_mean(values: Callable[[EventScored], Floats]) -> Resample[EventTotals]:
    """A mean over events with targets of the events' own values; one without the value takes no part in it."""

    def of(scored: EventScored, _rows: Rows) -> Sample | str:
        ledger = scored.total.ledger
        rows = sorted(np.flatnonzero(ledger.n_true[0] > 0).tolist(), key=ledger.queries.__getitem__)
        value = np.asarray(scored.once(values), np.float64)[rows]
        known = ~np.isnan(value)
        if not known.any():
            return without_targets(scored)
        if np.isinf(value).any():
            return INFINITE
        names = tuple(ledger.queries[row] for row in rows)
        return Ratios(names, 0.0, np.ones(1), np.where(known, value, 0.0)[None, :], known[None, :].astype(np.float64))

    return Resample("event", of)


def _decided(cell: Scored[Ledger], means: QueryMeans, counts: Counts) -> Sample | str:
    return value_rates(means, counts, names_of(cell.total, means), cell.point.beta)


def _least(cell: Scored[Ledger], means: QueryMeans, _counts: Counts) -> Sample | str:
    return swept(cell, means)


def _of_mean_rates(value: Callable[[Scored[Ledger], QueryMeans, Counts], Sample | str]) -> Resample[EventTotals]:
    """NDC of mean rates: the worth of a miss times what a term-weighted value 1 - (P_MD + beta P_FA) lacks of 1."""

    def of(scored: EventScored, _rows: Rows) -> Sample | str:
        total, point = scored.total, scored.point
        cell: Scored[Ledger] = Scored(total.ledger, scored.facts, point, Rules(reject_all_point=total.empty_point))
        found = value(cell, scored.once(event_means), scored.once(event_counts))
        return found if isinstance(found, str) else Lost(found, float(ndc(np.array(1.0), np.array(0.0), point)))

    return Resample("event", of)


NDC = _of_mean_rates(_decided)
MIN_NDC = _of_mean_rates(_least)
