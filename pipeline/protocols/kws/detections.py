"""The family of time-stamped detections: how its files become trials, tiles, ledgers and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.errors import Finding, InputError
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.metrics.entropy.ape import calibration_tables
from pipeline.metrics.kws import twv
from pipeline.metrics.measure import Rules, Scored
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols.base import (
    EVERYTHING,
    Abilities,
    Boards,
    Conclusion,
    Family,
    Findings,
    Kind,
    Protocol,
    Reads,
    Scope,
)
from pipeline.protocols.blocks import QUERY_BLOCKS
from pipeline.protocols.kws.blocks import merged_blocks
from pipeline.protocols.kws.conditions import (
    members,
    selected,
)
from pipeline.protocols.kws.dispute import DISPUTE
from pipeline.protocols.kws.explain import explain, listed, withdrawn
from pipeline.protocols.kws.identifiers import identifier_slips, identify, standing
from pipeline.protocols.kws.point import operating_point
from pipeline.protocols.kws.pool import pool
from pipeline.protocols.kws.ranks import WHOLE, ranked, reader
from pipeline.protocols.kws.refer import refer
from pipeline.protocols.kws.stand_ins import stand_ins
from pipeline.protocols.kws.tiles import align, count
from pipeline.protocols.kws.warnings import UNSCORED, crowded, decision_ties, warnings
from pipeline.terms import Facts, OperatingPoint, Selection
from pipeline.trials import columns, dataset, layout
from pipeline.trials.blocks import query_of
from pipeline.trials.joined import query_finding
from pipeline.trials.schema import Occurrences, Timeline, Trials


def lay_out(protocol: Protocol, tables: Mapping[str, Any], timeline: Timeline) -> tuple[layout.Layout, Findings]:
    """A KWSList or STDList on the dataset's timeline, each tile laid out when it is asked for."""
    output, settings = tables["output"], protocol.settings
    laid = layout.Layout.of(output, timeline, files=settings.files, duplicate_blocks=settings.duplicate_blocks)
    return laid, output.findings


def by_buckets(protocol: Protocol, output: SystemOutput) -> bool:
    """Whether the rows of some buckets are enough to lay them out: all rows count that are given, and no text sorts."""
    blocks = output.blocks
    return protocol.settings.duplicate_blocks != "last" or np.unique(blocks["query"]).size == len(blocks)


def timeline_parts(settings: Any, timeline: Timeline) -> dict[str, Any]:
    """The rules that shorten file names and merge blocks, and the recordings with their places; not the excerpts."""
    return {
        "files_rule": settings.files,
        "duplicate_blocks": settings.duplicate_blocks,
        "map_order": settings.map_order,
        "timeline": timeline.placed,
    }


def survey(trials: Trials) -> dict[str, Any]:
    """Every block of the output with its count of out-of-vocabulary words, None where it declares none."""
    counts = {name: float(block.get("oov_count", math.nan)) for name, block in trials.blocks.items()}
    return {"oov_count": {name: None if math.isnan(count) else count for name, count in counts.items()}}


def conclude(
    protocol: Protocol, partial: Outcomes, facts: Facts, survey: Mapping[str, Any], asked: Scope = EVERYTHING
) -> Conclusion:
    """The figures of a cell from its merged ledger, and those of its conditions."""
    settings, oov_counts = protocol.settings, survey.get("oov_count", {})
    ledger = merged_blocks(partial.ledger, oov_counts)
    unknown = _unknown(settings, ledger.queries, facts, survey)
    queries = listed(settings, facts, survey)
    whole = ledger.select(queries)
    point = operating_point(settings, facts.n_trials_exact, int(whole.n_true.sum()))
    own = replace(facts, queries=queries)
    scored = _scored(protocol, whole, own, point, ranked(ledger, WHOLE, queries), asked=asked)
    alone = Scored(whole, own, point) if settings.pooled else scored
    named = query_finding([*unknown, *map(query_of, oov_counts)], facts.queries, UNSCORED)
    told = _told(settings, scored, facts, alone.once(twv.decisions), partial.tally, decision_ties(whole))
    conditions = {}
    for selection in facts.selections:
        held = members(selection, ledger, queries, oov_counts)
        part = selected(ledger, selection, held)
        order = ranked(ledger, selection, held)
        chosen = _scored(protocol, part, _facts_of(selection, facts, held), point, order, asked=asked, pooled=False)
        conditions[selection.name] = _conclusion(protocol, chosen, asked)
    made = _of_whole(protocol, scored, survey, partial.tally, unknown, asked)
    return replace(made, findings=(*named, *told), conditions=conditions)


def _unknown(settings: Any, queries: Sequence[str], facts: Facts, survey: Mapping[str, Any]) -> list[str]:
    """Queries of the output that are on no list."""
    submitted = {query_of(name) for name in survey.get("oov_count", {})}
    unknown = sorted({*queries, *submitted} - set(facts.queries))
    if unknown and settings.unknown_query == "error":
        raise InputError(query_finding([*unknown, *submitted], facts.queries, "Leave them out of the output."))
    return unknown


def _told(
    settings: Any,
    scored: Scored[Ledger],
    facts: Facts,
    decisions: twv.Decisions,
    tally: Tally,
    n_ties: int,
) -> tuple[Finding, ...]:
    """Findings about a cell that was scored."""
    findings = (*warnings(tally, facts.places, n_ties, decisions), *crowded(scored.total, scored.facts))
    nowhere = sorted(withdrawn(settings) - set(facts.queries))
    if nowhere:
        message = f"withdrawn queries are on no list: {', '.join(nowhere)}. Check their names."
        findings = (*findings, Finding("unknown_withdrawn", message, "kwlist"))
    return findings


def _of_whole(
    protocol: Protocol,
    scored: Scored[Ledger],
    survey: Mapping[str, Any],
    tally: Tally,
    unknown: Sequence[str],
    asked: Scope,
) -> Conclusion:
    """The figures of all trials, with what is only said of them."""
    made = _conclusion(protocol, scored, asked)
    counts = {
        "n_queries_unknown": len(unknown),
        "n_detections": survey.get("n_rows", math.nan),
        "n_outside_ecf": tally["outside_ecf"],
    }
    return replace(
        made, facts={**made.facts, **counts}, tables=calibration_tables(scored) if asked.measures is None else {}
    )


def whole(protocol: Protocol, partial: Outcomes, facts: Facts, survey: Mapping[str, Any]) -> Scored[Ledger]:
    """The cell as its measures see it; see ``Abilities.whole``."""
    settings = protocol.settings
    queries = listed(settings, facts, survey)
    ledger = merged_blocks(partial.ledger, survey.get("oov_count", {})).select(queries)
    point = operating_point(settings, facts.n_trials_exact, int(ledger.n_true.sum()))
    return _scored(protocol, ledger, replace(facts, queries=queries), point)


def _facts_of(selection: Selection, facts: Facts, queries: Sequence[str]) -> Facts:
    return replace(
        facts,
        t_audio_s=selection.t_audio_s,
        n_trials=selection.n_trials,
        n_trials_exact=selection.n_trials_exact,
        queries=tuple(queries),
    )


def _conclusion(protocol: Protocol, scored: Scored[Ledger], asked: Scope) -> Conclusion:
    """The conclusion of trials that are of one condition, or the part of it that is asked for."""
    full, names = asked.measures is None, asked.measures or ()
    return Conclusion(
        figures={measure.name: measure.of(scored) for measure in protocol.measures if full or measure.name in names},
        blocks=twv.blocks(scored) if full else (),
        curve=twv.curve_columns(scored) if full else {},
        facts=_facts(scored),
    )


def _scored(
    protocol: Protocol,
    ledger: Ledger,
    facts: Facts,
    point: OperatingPoint,
    ranked: Ledger | None = None,
    *,
    asked: Scope = EVERYTHING,
    pooled: bool | None = None,
) -> Scored[Ledger]:
    """A cell as its measures see it. Conditions are never pooled: KWSEval's -P is of the whole."""
    settings = protocol.settings
    if settings.pooled if pooled is None else pooled:
        ranked = None if ranked is None else pool(ranked, facts)[0]
        ledger, facts = pool(ledger, facts)
    rules = Rules(
        reject_all_point=settings.reject_all_point,
        include_no_targets=settings.include_no_targets,
        no_targets_trials=settings.no_targets_trials,
        skip_undefined_p_fa=settings.skip_undefined_p_fa,
        censor=settings.censor,
        load_lambda=settings.load_lambda,
        pooled=settings.pooled,
    )
    return Scored(ledger, facts, point, rules, ranked, asked.every_point)


def _facts(scored: Scored[Ledger]) -> dict[str, float | str]:
    facts, point, n_true = scored.facts, scored.point, scored.total.n_true[0]
    decisions = scored.once(twv.decisions)
    n_scored = int(np.count_nonzero(n_true))
    n_target = int(n_true.sum())
    trials = n_scored * facts.n_trials_exact
    enough = trials >= n_target > 0
    return {
        "t_audio_s": facts.t_audio_s,
        "n_trials": facts.n_trials,
        "n_queries": len(facts.queries),
        "n_queries_scored": n_scored,
        "n_target": n_target,
        "beta": point.beta,
        "p_target_effective": point.effective_prior,
        "threshold_bayes": point.threshold,
        "prior_empirical": n_target / trials if enough else math.nan,
        "miss_weight": (trials / n_target - 1.0) / point.beta if enough else math.nan,
        "decisions_consistent": "yes" if decisions.consistent else "no",
        "score_min_yes": decisions.min_yes,
        "score_max_no": decisions.max_no,
        **facts.counts,
    }


DERIVATION = (
    *("files", "noscore", "namefile", "t_audio", "excerpt_sum", "splitcts_sum", "trials_per_s", "trials_rule"),
    *("search", "word_gap_s", "character_split", "delete_hyphens", "condition", "repeated_groups", "source_type_of"),
    "repeated_texts",
    *("excluded_files", "ecf_filter"),
)
"""Settings that ``refer`` reads."""
CONCLUSION = (
    *("c_miss", "c_fa", "p_target", "p_target_effective", "fa_per_miss", "k_table", "reject_all_point"),
    *("include_no_targets", "no_targets_trials", "just_system_terms", "withdrawn", "pooled", "unknown_query"),
    *("censor", "load_lambda"),
)
"""Settings that only ``conclude`` reads: costs, priors, and how means are taken."""
TIMED = Kind(
    name="detections",
    to_dataset=dataset.to_dataset,
    from_dataset=dataset.from_dataset,
    timeline_parts=timeline_parts,
    key_columns=columns.to_columns,
    key_from_columns=columns.occurrences,
    timeline_columns=columns.to_columns,
    timeline_from_columns=columns.timeline,
    survey=survey,
)
DETECTIONS: Family[Trials, Occurrences, Timeline, Outcomes] = Family(
    name="detections",
    kind=TIMED,
    outputs=("output",),
    refer=refer,
    lay_out=lay_out,
    align=align,
    count=count,
    zero=Outcomes,
    conclude=conclude,
    reads=Reads(DERIVATION, CONCLUSION),
    boards=Boards(apart=True, identify=identify, standing=standing, name_slips=identifier_slips),
    can=Abilities(
        reader=reader,
        stand_ins=stand_ins,
        refused=frozenset({"unknown_query"}),
        by_buckets=by_buckets,
        blocks=QUERY_BLOCKS,
        curve=True,
        whole=whole,
        explain=explain,
        dispute=DISPUTE,
    ),
)
