"""Figures of events (TRECVID MED) as functions of how often each event counts."""

from __future__ import annotations

import numpy as np

from pipeline.metrics.measure import Rules, Scored
from pipeline.metrics.med.event_blocks import blocks
from pipeline.metrics.med.events import EventScored, event_counts, event_means, ndc, without_targets
from pipeline.metrics.statistics.resampling import Lost, Ratios, Sample
from pipeline.metrics.statistics.samples import INFINITE, NOT_RESAMPLED, names_of, swept, value_rates
from pipeline.partials.ledger import Ledger

_MEANS = {
    **{name: name for name in "p_md p_fa ap ap_prime ro max_ro".split()},
    **{f"mean_{name}": name for name in "min_ndc ndc_at_ter p_md_at_ter".split()},
}
"""Measures that are means over events with targets of the events' own values, with the column of these."""


def event_sample(scored: EventScored, measure: str) -> Sample | str:
    """A measure over the events with targets; one without the value takes no part in the mean."""
    if measure in ("ndc", "min_ndc"):
        return _of_mean_rates(scored, measure)
    if measure not in _MEANS:
        return NOT_RESAMPLED
    rows = sorted((row for row in blocks(scored) if row["n_target"] > 0), key=lambda row: str(row["id"]))
    value = np.array([row[_MEANS[measure]] for row in rows], np.float64)
    known = ~np.isnan(value)
    if not known.any():
        return without_targets(scored)
    if np.isinf(value).any():
        return INFINITE
    names = tuple(str(row["id"]) for row in rows)
    return Ratios(names, 0.0, np.ones(1), np.where(known, value, 0.0)[None, :], known[None, :].astype(np.float64))


def _of_mean_rates(scored: EventScored, measure: str) -> Sample | str:
    """NDC of mean rates: the worth of a miss times what a term-weighted value 1 - (P_MD + beta P_FA) lacks of 1."""
    total, means, point = scored.total, scored.once(event_means), scored.point
    cell: Scored[Ledger] = Scored(total.ledger, scored.facts, point, Rules(reject_all_point=total.empty_point))
    found = (
        swept(cell, means)
        if measure == "min_ndc"
        else value_rates(means, scored.once(event_counts), names_of(total.ledger, means), point.beta)
    )
    return found if isinstance(found, str) else Lost(found, float(ndc(np.array(1.0), np.array(0.0), point)))
