"""Figures of events (TRECVID MED) as functions of how often each event counts."""

from __future__ import annotations

import numpy as np

from pipeline.metrics.event_blocks import blocks
from pipeline.metrics.events import EventScored, without_targets
from pipeline.metrics.resampling import Ratios, Sample
from pipeline.metrics.samples import INFINITE, NOT_RESAMPLED

_MEANS = frozenset("p_md p_fa ndc min_ndc ndc_at_ter p_md_at_ter ap ap_prime ro max_ro".split())
"""Measures that are means over events with targets of the events' own values."""


def event_sample(scored: EventScored, measure: str) -> Sample | str:
    """A measure over the events with targets; one without the value takes no part in the mean."""
    if measure not in _MEANS:
        return NOT_RESAMPLED
    rows = sorted((row for row in blocks(scored) if row["n_target"] > 0), key=lambda row: str(row["id"]))
    value = np.array([row[measure] for row in rows], np.float64)
    known = ~np.isnan(value)
    if not known.any():
        return without_targets(scored)
    if np.isinf(value).any():
        return INFINITE
    names = tuple(str(row["id"]) for row in rows)
    return Ratios(names, 0.0, np.ones(1), np.where(known, value, 0.0)[None, :], known[None, :].astype(np.float64))
