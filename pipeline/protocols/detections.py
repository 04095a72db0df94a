"""The family of time-stamped detections: how its files become trials, tiles, ledgers and figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pipeline.align.excerpts import inside_excerpts
from pipeline.align.occurrences import align_occurrences
from pipeline.errors import Finding, InputError
from pipeline.formats.table import recode
from pipeline.metrics import twv
from pipeline.metrics.measure import Rules, Scored
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols.base import Conclusion, Family, Kind, Protocol, Reference
from pipeline.store.address import digest_columns
from pipeline.terms import Facts
from pipeline.trials import columns, dataset, keywords, layout
from pipeline.trials.duration import t_audio_s as audio_duration_s
from pipeline.trials.schema import Bools, Excerpts, Floats, Occurrences, Timeline, Trials
from pipeline.trials.tiles import tile_digest
from pipeline.trials.transcript import SearchRules

ALIGNER_EDITION = 1
"""Raised whenever an alignment may change for the same tile: old partials are then no longer found."""


def refer(protocol: Protocol, tables: Mapping[str, Any]) -> Reference:
    """ECF, transcript and query list → occurrences, timeline and facts."""
    settings, ecf, kwlist = protocol.settings, tables["ecf"], tables["kwlist"]
    timeline = layout.timeline(ecf, files=settings.files)
    t_audio_s, findings = audio_duration_s(
        timeline,
        t_audio=settings.t_audio,
        excerpt_sum=settings.excerpt_sum,
        splitcts_sum=settings.splitcts_sum,
    )
    rules = SearchRules(
        search=settings.search,
        word_gap_s=settings.word_gap_s,
        normalize=kwlist.attributes.get("compareNormalize", ""),
    )
    occurrences, searched = keywords.find_occurrences(kwlist, tables["rttm"], rules)
    ids = tuple(kwlist.keywords.text("id"))
    facts = Facts(
        t_audio_s=t_audio_s,
        n_trials=_n_trials(t_audio_s, settings.trials_per_s, settings.trials_rule),
        n_trials_exact=t_audio_s * settings.trials_per_s,
        queries=ids,
        texts=dict(zip(ids, kwlist.keywords.text("text"), strict=True)),
    )
    read = (*ecf.findings, *tables["rttm"].findings, *kwlist.findings)
    return Reference(occurrences, timeline, facts, (*read, *findings, *searched))


def _n_trials(t_audio_s: float, trials_per_s: float, rule: str) -> float:
    """Trials per query. Both tools round half to even; KWSEval divides where STDEval and the plans multiply."""
    if rule == "kwseval":
        return float(round(t_audio_s / trials_per_s))
    exact = t_audio_s * trials_per_s
    return float(round(exact)) if rule == "stdeval" else exact


def lay_out(protocol: Protocol, tables: Mapping[str, Any], timeline: Timeline) -> tuple[Trials, tuple[Finding, ...]]:
    """A KWSList or STDList on the dataset's timeline."""
    output = tables["output"]
    return layout.lay_out(output, timeline, files=protocol.settings.files), output.findings


def timeline_parts(settings: Any, timeline: Timeline) -> dict[str, Any]:
    """The rule that shortens file names, and the recordings with their places; excerpts play no part."""
    placed = digest_columns({"files": timeline.files, "offset_s": timeline.offset_s})
    return {"files_rule": settings.files, "timeline": placed}


def tile_parts(protocol: Protocol, trials: Trials, reference: Reference) -> dict[str, Any]:
    """Settings and outside facts that a tile's ledger depends on."""
    settings = protocol.settings
    score_range = _score_range(protocol, trials)
    return {
        "aligner": f"occurrences.{ALIGNER_EDITION}",
        "tolerance_s": settings.tolerance_s,
        "score_range": list(score_range) if isinstance(score_range, tuple) else score_range,
        "excerpts": _excerpts_digest(reference.timeline.excerpts) if settings.ecf_filter == "excerpt" else "",
    }


def _excerpts_digest(excerpts: Excerpts) -> str:
    return digest_columns(
        {
            "files": excerpts.files,
            "channels": excerpts.channels,
            "file": excerpts.file,
            "channel": excerpts.channel,
            "begin_s": excerpts.begin_s,
            "end_s": excerpts.end_s,
        }
    )


def _score_range(protocol: Protocol, trials: Trials) -> str | tuple[float, float]:
    rule: str = protocol.settings.score_range
    if rule == "list":
        low, high = trials.score_range
        return (0.0, 0.0) if math.isnan(low) else (low, high)
    if rule == "group" and trials.header_range is not None:
        return trials.header_range
    return rule


def tile(protocol: Protocol, trials: Trials, occurrences: Occurrences, reference: Reference) -> Outcomes:
    """Align one tile: the ledger of all its queries, listed or not, and the count of rows outside the excerpts."""
    settings, excerpts = protocol.settings, reference.timeline.excerpts
    trial_rows = reference_rows = None
    outside = 0
    if settings.ecf_filter == "excerpt":
        kept = _inside(excerpts, trials, trials.begin_s, trials.begin_s + trials.dur_s)
        outside = int(kept.size - np.count_nonzero(kept))
        trial_rows = np.flatnonzero(kept)
        first = _inside(excerpts, occurrences, occurrences.first_begin_s, occurrences.first_end_s)
        reference_rows = np.flatnonzero(first)
    aligned = align_occurrences(
        trials,
        occurrences,
        tolerance_s=settings.tolerance_s,
        score_range=_score_range(protocol, trials),
        floor=0.0 if settings.score_range == "list" else 1e-5,
        trial_rows=trial_rows,
        reference_rows=reference_rows,
    )
    used = np.unique(trials.query).tolist()
    referred = np.unique(occurrences.query).tolist()
    queries = tuple(sorted({trials.queries[q] for q in used} | {occurrences.queries[q] for q in referred}))
    ledger = Ledger.of(
        queries,
        recode(trials.queries, queries)[trials.query[aligned.kept]],
        trials.score[aligned.kept],
        trials.decision[aligned.kept],
        aligned.target,
        recode(occurrences.queries, queries)[occurrences.query[aligned.omitted]],
    )
    unplaced = int(np.count_nonzero(np.isnan(trials.time_s)))
    return Outcomes(ledger, Tally({"outside_ecf": outside, "unknown_file": unplaced}))


def _inside(excerpts: Excerpts, rows: Trials | Occurrences, begin_s: Floats, end_s: Floats) -> Bools:
    return inside_excerpts(excerpts, rows.files, rows.channels, rows.file, rows.channel, begin_s, end_s)


def conclude(protocol: Protocol, partial: Outcomes, facts: Facts, survey: Mapping[str, float]) -> Conclusion:
    """The figures of a cell from its merged ledger."""
    settings = protocol.settings
    unknown = sorted(set(partial.ledger.queries) - set(facts.queries))
    if unknown and settings.unknown_query == "error":
        raise InputError([Finding("unknown_query", f"{_unknown(unknown)} Leave them out of the output.", "")])
    ledger = partial.ledger.select(facts.queries)
    rules = Rules(
        reject_all_point=settings.reject_all_point,
        include_no_targets=settings.include_no_targets,
        censor=settings.censor,
        load_lambda=settings.load_lambda,
    )
    scored = Scored(ledger, facts, settings.point, rules)
    decisions = twv.decisions(scored)
    findings = tuple(_warnings(partial.tally, unknown, decisions))
    figures = {measure.name: measure.of(scored) for measure in protocol.measures}
    return Conclusion(
        figures=figures,
        blocks=twv.blocks(scored),
        curve=twv.curve_columns(scored),
        facts=_facts(scored, decisions, survey, partial.tally, len(unknown)),
        findings=findings,
    )


def _facts(
    scored: Scored[Ledger], decisions: twv.Decisions, survey: Mapping[str, float], tally: Tally, n_unknown: int
) -> dict[str, float | str]:
    facts, point, n_true = scored.facts, scored.point, scored.total.n_true[0]
    n_scored = int(np.count_nonzero(n_true))
    n_target = int(n_true.sum())
    trials = n_scored * facts.n_trials_exact
    empirical = n_target / trials if trials else math.nan
    return {
        "t_audio_s": facts.t_audio_s,
        "n_trials": facts.n_trials,
        "n_queries": len(facts.queries),
        "n_queries_scored": n_scored,
        "n_queries_unknown": n_unknown,
        "n_target": n_target,
        "n_detections": survey.get("n_rows", math.nan),
        "n_outside_ecf": tally["outside_ecf"],
        "beta": point.beta,
        "p_target_effective": point.effective_prior,
        "threshold_bayes": point.threshold,
        "prior_empirical": empirical,
        "decisions_consistent": "yes" if decisions.consistent else "no",
        "score_min_yes": decisions.min_yes,
        "score_max_no": decisions.max_no,
        **facts.counts,
    }


def _unknown(unknown: list[str]) -> str:
    shown = ", ".join(repr(name) for name in unknown[:5]) + (", …" if len(unknown) > 5 else "")
    return f"{len(unknown)} queries of the output are not in the query list ({shown})."


def _warnings(tally: Tally, unknown: list[str], decisions: twv.Decisions) -> Iterator[Finding]:
    if unknown:
        yield Finding("unknown_query", f"{_unknown(unknown)} They are kept and not scored.", "output")
    if tally["outside_ecf"]:
        n = tally["outside_ecf"]
        yield Finding("outside_ecf", f"{n} detections lie outside the ECF's excerpts and are not scored.", "output")
    if tally["unknown_file"]:
        n = tally["unknown_file"]
        yield Finding(
            "unknown_file",
            f"{n} detections name recordings that the ECF lacks. Compare the spelling, case and extension of `file`.",
            "output",
        )
    if not decisions.consistent:
        yield Finding(
            "inconsistent_decisions",
            f"no single threshold gives these decisions (a NO scores {decisions.max_no}, a YES {decisions.min_yes}). "
            "Scored as submitted; the actual value may exceed the maximum.",
            "output",
        )


TIMED = Kind(
    name="detections",
    to_dataset=dataset.to_dataset,
    from_dataset=dataset.from_dataset,
    timeline_parts=timeline_parts,
    digest=tile_digest,
    key_columns=columns.to_columns,
    key_from_columns=columns.occurrences,
    timeline_columns=columns.to_columns,
    timeline_from_columns=columns.timeline,
)
DETECTIONS = Family(
    name="detections",
    kind=TIMED,
    outputs=("output",),
    refer=refer,
    lay_out=lay_out,
    tile=tile,
    tile_parts=tile_parts,
    zero=Outcomes,
    conclude=conclude,
)
