"""Real-time factors: hours of processing over hours of video (MED 2011 plan, section 4.1)."""

from __future__ import annotations

import math

import numpy as np

from pipeline.arrays import Floats, summed
from pipeline.metrics.bounds import FROM_0
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.metrics.med.events import EventScored, EventTotals, macro
from pipeline.terms import Figure

NO_DURATIONS = "no_clip_durations"
"""Reason: the durations of the clips are not known."""


def execution_factors(scored: EventScored) -> Floats:
    """DetectionTPT over the hours of video, for each event; NaN where either is not known."""
    hours_of_video = scored.facts.t_audio_s / 3600.0
    if not hours_of_video > 0.0:
        return np.full(scored.total.hours.size, np.nan)
    with np.errstate(over="ignore"):  # beyond all numbers is infinite
        return np.where(scored.total.submitted, scored.total.hours / hours_of_video, np.nan)


def rtf_metadata(scored: EventScored) -> Figure:
    """Wall-clock hours of building the metadata store, as the resources file declares them, over hours of video."""
    phase = scored.facts.load.index
    if phase is None:
        return Figure.undefined("no_resources")
    if phase.wall_s is None:
        return Figure.undefined("no_wall_time")
    if not scored.facts.t_audio_s > 0.0:
        return Figure.undefined(NO_DURATIONS)
    return Figure(phase.wall_s / scored.facts.t_audio_s)


def rtf_execution(scored: EventScored) -> Figure:
    """Mean over events of the execution real-time factor; ``sum`` is that of all events together."""
    if not scored.facts.t_audio_s > 0.0:
        return Figure.undefined(NO_DURATIONS)
    values = scored.once(execution_factors)
    known = values[~np.isnan(values)]
    return macro(values, "no_execution_times", {"sum": summed(known.tolist()) if known.size else math.nan})


MEASURES: tuple[Measure[EventTotals], ...] = (
    Measure(
        "rtf_metadata",
        "1",
        "lower",
        FROM_0,
        "TRECVID MED 2011 plan 4.1, metadata generation",
        rtf_metadata,
        label=Label("RTF", "metadata"),
        aggregation="declared by the system",
        load="part",
    ),
    Measure(
        "rtf_execution",
        "1",
        "lower",
        FROM_0,
        "TRECVID MED 2011 plan 4.1, event agent execution; mean",
        rtf_execution,
        label=Label("RTF", "execution"),
        aggregation="mean over events, declared by the system",
        load="whole",
    ),
)
