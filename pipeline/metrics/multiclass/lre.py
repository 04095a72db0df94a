"""Figures of language recognition: multiclass cross-entropy and relative confusion (Albayzin 2012 LRE plan, section 4).

The prior is flat over the classes that take part (eq 2), so closed set, open set and language pairs differ in their
classes alone: trials of other classes, and the columns of other classes, do not exist for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.bounds import ANY, COST, FROM_0, SHARE
from pipeline.metrics.measure import Measure
from pipeline.metrics.multiclass import figures as core
from pipeline.metrics.multiclass.decisions import c_eta
from pipeline.metrics.multiclass.passes import Part, calibrate_over
from pipeline.metrics.multiclass.totals import LreScored, LreTotals, over_segments
from pipeline.terms import Figure

PLAN = "Albayzin 2012 LRE plan"
NO_AUDIO_DURATION = "no_audio_duration"
"""Reason: how much audio was processed is not known."""


def figures(scored: LreScored) -> Mapping[str, Figure]:
    """C in nats and F by name (plan eq 6-14); all undefined where a class that takes part has no segment."""
    total = scored.total
    if total.reason:
        return dict.fromkeys(core.NAMES, Figure.undefined(total.reason))
    over = over_segments(scored)
    found, first = calibrate_over(lambda task, *state: over(_on_rows, task, *state), total.prior)
    return core.multiclass_figures(first, found, total.prior)


def _on_rows(total: LreTotals, task: Callable[..., Any], *state: Any) -> Any:
    return task(Part(total.llh, total.truth, total.multiplicity), *state)


def offsets(scored: LreScored) -> NDArray[np.float64]:
    """The recalibration's offset of each class (plan eq 11), their sum being 0; NaN where there is none."""
    detail = scored.once(figures)["c_min"].detail
    return np.array([detail.get(f"offset_{at + 1}", math.nan) for at in range(len(scored.total.classes))])


def rtf(scored: LreScored) -> Figure:
    """CPU time of all declared phases over the audio processed (plan 6.2.2)."""
    load = scored.facts.load
    declared = [phase.cpu_s for phase in (load.index, load.search) if phase is not None and phase.cpu_s is not None]
    if not declared:
        return Figure.undefined("no_resources")
    if not scored.total.t_audio_s > 0.0:
        return Figure.undefined(NO_AUDIO_DURATION)
    return Figure(math.fsum(declared) / scored.total.t_audio_s)


def _figure(name: str) -> Callable[[LreScored], Figure]:
    return lambda scored: scored.once(figures)[name]


_SOURCES = {
    "c_mce": ("nat", COST, "4.2.4 eq 6"),
    "c_def": ("nat", FROM_0, "4.2.4 eq 7"),
    "c_min": ("nat", FROM_0, "4.3 eq 11-12; any sign of the scale; the infimum where it is not attained"),
    "f_mce": ("1", COST, "4.2.4 eq 8"),
    "f_def": ("1", FROM_0, "4.2.4 eq 9"),
    "f_min": ("1", FROM_0, "4.3.1"),
    "f_act": ("1", COST, "4.2.4 eq 10"),
    "f_dis": ("1", SHARE, "4.3.1 eq 13"),
    "f_cal": ("1", COST, "4.3.2 eq 14"),
    "ln_f_act": ("1", ANY, "4.2.4 eq 10, its natural logarithm"),
}
MEASURES: tuple[Measure[LreTotals], ...] = (
    *(
        Measure(name, unit, "none" if name in ("c_def", "f_def") else "lower", bounds, f"{PLAN} {where}", _figure(name))
        for name, (unit, bounds, where) in _SOURCES.items()
    ),
    Measure("c_eta", "1", "lower", FROM_0, f"{PLAN} appendix A.2 eq 17-19, averaged over classes", c_eta),
    Measure("rtf", "1", "lower", FROM_0, f"{PLAN} 6.2.2, processing speed", rtf),
)
