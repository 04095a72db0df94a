"""Figures of language recognition: multiclass cross-entropy and relative confusion (Albayzin 2012 LRE plan, section 4).

The prior is flat over the classes that take part (eq 2), so closed set, open set and language pairs differ in their
classes alone: trials of other classes, and the columns of other classes, do not exist for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import summed
from pipeline.metrics.bounds import ANY, COST, FROM_0, SHARE, Bounds
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.metrics.multiclass import figures as core
from pipeline.metrics.multiclass.decisions import c_eta
from pipeline.metrics.multiclass.passes import Part, calibrate_over
from pipeline.metrics.multiclass.segment_samples import (
    by_segment,
    confusion_of,
    cost_itself,
    log_relative_confusion,
    relative_confusion,
)
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
    return Figure(summed(declared) / scored.total.t_audio_s)


def _figure(name: str) -> Callable[[LreScored], Figure]:
    return lambda scored: scored.once(figures)[name]


CLASSES = "mean over classes, at a flat prior"
_TRIVIAL = "of the flat prior"


def _measure(name: str, unit: str, bounds: Bounds, where: str, **more: Any) -> Measure[LreTotals]:
    """A figure of the multiclass cross-entropy: of the plan, lower being better."""
    told = {"aggregation": CLASSES, **more}
    return Measure(name, unit, "lower", bounds, f"{PLAN} {where}", _figure(name), **told)


MEASURES: tuple[Measure[LreTotals], ...] = (
    _measure(
        "c_mce", "nat", COST, "4.2.4 eq 6", label=Label("C", "mce"), resample=by_segment(cost_itself), best="c_min"
    ),
    replace(
        _measure("c_def", "nat", FROM_0, "4.2.4 eq 7", label=Label("C", "def"), aggregation=_TRIVIAL), better="none"
    ),
    _measure(
        "c_min",
        "nat",
        FROM_0,
        "4.3 eq 11-12; any sign of the scale; the infimum where it is not attained",
        label=Label("C", "min"),
    ),
    _measure("f_mce", "1", COST, "4.2.4 eq 8", label=Label("F", "mce"), resample=by_segment(confusion_of)),
    replace(_measure("f_def", "1", FROM_0, "4.2.4 eq 9", label=Label("F", "def"), aggregation=_TRIVIAL), better="none"),
    _measure("f_min", "1", FROM_0, "4.3.1", label=Label("F", "min")),
    _measure(
        "f_act",
        "1",
        COST,
        "4.2.4 eq 10",
        label=Label("F", "act"),
        resample=by_segment(relative_confusion),
        heads_board=True,
        best="f_dis",
    ),
    _measure("f_dis", "1", SHARE, "4.3.1 eq 13", label=Label("F", "dis"), heads_board=True),
    _measure("f_cal", "1", COST, "4.3.2 eq 14", label=Label("F", "cal")),
    _measure(
        "ln_f_act",
        "1",
        ANY,
        "4.2.4 eq 10, its natural logarithm",
        label=Label("ln F", "act"),
        resample=by_segment(log_relative_confusion),
    ),
    Measure(
        "c_eta",
        "1",
        "lower",
        FROM_0,
        f"{PLAN} appendix A.2 eq 17-19, averaged over classes",
        c_eta,
        label=Label("C", "η"),
        aggregation=CLASSES,
    ),
    Measure(
        "rtf",
        "1",
        "lower",
        FROM_0,
        f"{PLAN} 6.2.2, processing speed",
        rtf,
        label=Label("×RT"),
        aggregation="declared by the system",
        load="whole",
    ),
)
