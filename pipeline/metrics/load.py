"""Processing Load: speed factors, peak memory and their combination."""

from __future__ import annotations

from typing import Any

from pipeline.metrics.bounds import FROM_0
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure, Scored
from pipeline.terms import Figure, Phase

SECONDS_PER_HOUR = 3600.0
BYTES_PER_GB = 1e9

AnyScored = Scored[Any]


def isf(scored: AnyScored) -> Figure:
    """Indexing Speed Factor: CPU time of indexing / duration of the audio (seed 000 section 4.3)."""
    phase = scored.facts.load.index
    reason = _no_time(phase) or (None if scored.facts.t_audio_s > 0.0 else "no_audio")
    if phase is None or phase.cpu_s is None or reason is not None:
        return Figure.undefined(str(reason))
    return Figure(phase.cpu_s / scored.facts.t_audio_s)


def ssf(scored: AnyScored) -> Figure:
    """Searching Speed Factor in 1/h: CPU time of searching / (T_Q T_audio) (seed 000 eq 46-47).

    ``detail`` holds ``ssf_per_s``. The document's worked example prints 0.8 where its own numbers give 0.64 per hour.
    """
    facts = scored.facts
    phase, t_queries_s = facts.load.search, facts.load.t_queries_s
    reason = _no_time(phase) or (None if facts.t_audio_s > 0.0 else "no_audio")
    if phase is None or phase.cpu_s is None or reason is not None:
        return Figure.undefined(str(reason))
    if t_queries_s is None or not t_queries_s > 0.0:
        return Figure.undefined("no_query_durations")
    per_second = phase.cpu_s / (t_queries_s * facts.t_audio_s)
    return Figure(per_second * SECONDS_PER_HOUR, detail={"ssf_per_s": per_second})


def pmu_index(scored: AnyScored) -> Figure:
    """Peak memory of the indexing phase in GB (10**9 bytes), the highest over steps and nodes (000 section 4.3)."""
    return _peak(scored.facts.load.index)


def pmu_search(scored: AnyScored) -> Figure:
    """Peak memory of the searching phase in GB (10**9 bytes), the highest over steps and nodes (000 section 4.3)."""
    return _peak(scored.facts.load.search)


def pl(scored: AnyScored) -> Figure:
    """Processing Load: lambda ISF PMU_i + (1 - lambda) SSF PMU_s, with SSF in 1/h (seed 000 eq 48).

    A phase of weight 0 is not asked for. ``detail`` holds ``pl_ssf_per_s``, the same with SSF in 1/s. Status
    ``mixed_time_bases``: one phase declares CPU time, the other wall-clock time times cores.
    """
    weight, load = scored.rules.load_lambda, scored.facts.load
    phases = ((weight, isf, pmu_index), (1.0 - weight, ssf, pmu_search))
    per_hour, per_second = 0.0, 0.0
    for share, speed_of, memory_of in phases:
        if share == 0.0:
            continue
        speed, memory = speed_of(scored), memory_of(scored)
        reason = speed.reason or memory.reason
        if reason is not None:
            return Figure.undefined(reason)
        per_hour += share * speed.value * memory.value
        per_second += share * speed.detail.get("ssf_per_s", speed.value) * memory.value
    bases = {phase.time_basis for phase in (load.index, load.search) if phase is not None}
    mixed = (0.0 < weight < 1.0 and len(bases) > 1) or "mixed" in bases
    return Figure(per_hour, status="mixed_time_bases" if mixed else None, detail={"pl_ssf_per_s": per_second})


def _no_time(phase: Phase | None) -> str | None:
    if phase is None:
        return "no_resources"
    return "no_cpu_time" if phase.cpu_s is None else None


def _peak(phase: Phase | None) -> Figure:
    if phase is None:
        return Figure.undefined("no_resources")
    if phase.peak_memory_bytes is None:
        return Figure.undefined("no_peak_memory")
    return Figure(phase.peak_memory_bytes / BYTES_PER_GB)


_S000 = "MediaEval SWS 2013 performance measures, section 4.3"

MEASURES: tuple[Measure[Any], ...] = (
    Measure(
        "isf",
        "1",
        "lower",
        FROM_0,
        f"{_S000}, ISF",
        isf,
        label=Label("ISF"),
        aggregation="declared by the system",
        load="part",
    ),
    Measure(
        "ssf",
        "1/h",
        "lower",
        FROM_0,
        f"{_S000}, eq 46-47",
        ssf,
        label=Label("SSF"),
        aggregation="declared by the system",
        load="part",
    ),
    Measure(
        "pmu_index",
        "GB",
        "lower",
        FROM_0,
        f"{_S000}, PMU",
        pmu_index,
        label=Label("PMU", "index"),
        aggregation="declared by the system",
        load="part",
    ),
    Measure(
        "pmu_search",
        "GB",
        "lower",
        FROM_0,
        f"{_S000}, PMU",
        pmu_search,
        label=Label("PMU", "search"),
        aggregation="declared by the system",
        load="part",
    ),
    Measure(
        "pl",
        "GB, SSF in 1/h",
        "lower",
        FROM_0,
        f"{_S000}, eq 48",
        pl,
        label=Label("PL"),
        aggregation="declared by the system",
        load="whole",
    ),
)
