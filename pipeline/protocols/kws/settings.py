"""The settings of keyword search: every difference between two protocols, or between tool and text, is a field here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipeline.protocols.kws.conditions import parse_conditions, parse_namefile
from pipeline.protocols.settings import setting

KWSEVAL = "KWSEval (F4DE 3.5.0)"
PLAN_000 = "SWS 2013 performance measures"
PLAN_002 = "SWS 2012 scoring description"
PLAN_004 = "OpenKWS13 evaluation plan"


def lines_of(text: str) -> frozenset[str]:
    """The names that a setting lists one a line."""
    return frozenset(line.strip() for line in text.splitlines() if line.strip())


def type_rule(settings: KwsSettings) -> str:
    """The rule of ``source_type_of``. Where nothing is filtered, a row has a file and channel and need be in none of
    their excerpts.
    """
    unfiltered = settings.source_type_of == "excerpt" and settings.ecf_filter == "none"
    return "first" if unfiltered else settings.source_type_of


_OF_COSTS = {"k_table": ("none",)}
_OF_PRIOR = {"k_table": ("none",), "p_target_effective": (None,)}
"""Beside which others the settings of the operating point have an effect."""


@dataclass(frozen=True)
class KwsSettings:
    """Every setting of the family, with OpenKWS13's official values as defaults."""

    c_miss: float = setting(
        1.0,
        "cost of a miss (value V of a correct detection)",
        source=f"{PLAN_004} 5.1.2.1",
        within="[1e-12, 1e12]",
        only=_OF_COSTS,
    )
    c_fa: float = setting(
        0.1, "cost of a false alarm (C)", source=f"{PLAN_004} 5.1.2.1", within="[1e-12, 1e12]", only=_OF_COSTS
    )
    p_target: float | Literal["empirical"] = setting(
        1e-4,
        "prior probability of a target; empirical: N_true / (n_tps T), where misses and false alarms weigh the same",
        source=f"{PLAN_004} 5.1.2.1; {PLAN_002} eq 2",
        within="[1e-12, 1)",
        only=_OF_PRIOR,
    )
    p_target_effective: float | None = setting(
        None,
        "effective prior; wins over costs and prior where given",
        source=f"{PLAN_000} eq 23",
        within="[1e-12, 1)",
        only=_OF_COSTS,
    )
    fa_per_miss: float = setting(
        1.0,
        "false alarms that weigh as much as one miss (alpha); only with p_target=empirical",
        source=f"{PLAN_002} section 2",
        within="[1e-12, 1e12]",
        only={"p_target": ("empirical",), **_OF_PRIOR},
    )
    k_table: Literal[
        "none",
        "indian_dev_dev",
        "indian_dev_eval",
        "indian_eval_dev",
        "indian_eval_eval",
        "african_dev_dev",
        "african_dev_eval",
        "african_eval_dev",
        "african_eval_eval",
    ] = setting(
        "none",
        "beta from the tables of parameter -k instead of the key: data, their part, the part of the queries",
        source=f"{PLAN_002} tables 2 and 3",
    )
    trials_per_s: float = setting(1.0, "trials per second of audio", source=f"{PLAN_004} 5.1.2.1", within="[1e-4, 1e4]")
    trials_rule: Literal["kwseval", "stdeval", "exact"] = setting(
        "kwseval",
        "trials per query that error rates divide by: round(T / r) as KWSEval, round(T r) as STDEval, or T r unrounded "
        "as the plans; the cross-entropy and beta of p_target=empirical have no tool that rounds, and take T r",
        source="KWSEval TrialsTWV; STDEval STDAlignment; plan 000 section 2.2, eq 18 and 41; plan 002 eq 2",
    )
    t_audio: Literal["excerpts", "header"] | float = setting(
        "excerpts",
        "audio duration T: from the ECF's excerpts, its header, or given in seconds; conditions always use excerpts",
        source="plan 000 eq 2",
        within="(0, 1e10]",
    )
    excerpt_sum: Literal["kwseval", "channel_1", "sum"] = setting(
        "kwseval",
        "how excerpts add up: per file over all channels without overlap, channel 1 only (STDEval), or every excerpt",
        source="KWSEval KWSecf; STDEval",
    )
    splitcts_sum: Literal["per_file", "per_channel"] = setting(
        "per_file", "what the factor 0.5 of splitcts excerpts applies to", source=f"{PLAN_004} 5.1.2.1"
    )
    ecf_filter: Literal["excerpt", "whole", "midpoint", "none"] = setting(
        "excerpt",
        "what is dropped: all that does not lie wholly inside one excerpt, of references the first word (excerpt) or "
        "the whole span (whole, STDEval -E); what has its mid point outside (midpoint); nothing",
        source=f"KWSEval KWSAlignment; STDEval -E; {PLAN_004} 3.4",
    )
    noscore: Literal["score", "cut"] = setting(
        "score",
        "NOSCORE regions of the transcript: scored like the rest, or cut out of the ECF's excerpts and of T",
        source=f"KWSEval; {PLAN_004} 3.4, 5.1.2.1",
    )
    files: Literal["kwseval", "stdeval"] = setting(
        "kwseval", "how file names are reduced to recording names", source="KWSEval KWSList, KWSecf; STDEval"
    )
    search: Literal["kwseval", "stdeval", "stdeval_0.6", "plan"] = setting(
        "kwseval",
        "how occurrences are searched in the transcript; STDEval 0.6 lowers the letters of ASCII only, 0.7 all",
        source=f"{PLAN_004} 3.2; KWSEval RTTMList; STDEval RTTMList",
    )
    word_gap_s: float = setting(
        0.5, "largest gap between two words of an occurrence, seconds", source=f"{PLAN_004} 3.2", within="[0, inf)"
    )
    character_split: Literal["none", "all", "not_ascii"] = setting(
        "none",
        "split words into characters: no, all, or all but runs of ASCII",
        source="KWSEval -x charsplit, notASCII",
    )
    delete_hyphens: bool = setting(
        False,
        "whether hyphens count as blanks where words are split into characters",
        source="KWSEval -x deleteHyphens",
        only={"character_split": ("all", "not_ascii")},
    )
    repeated_texts: Literal["once", "again"] = setting(
        "once",
        "queries that have one text: each has its occurrences, or has them once more for each such query before it",
        source="STDEval RefList",
    )
    tolerance_s: float = setting(
        0.5, "how far a mid point may lie outside an occurrence, seconds", source=f"{PLAN_004} 5.1.1", within="[0, inf)"
    )
    score_range: Literal["group", "keyword", "list"] = setting(
        "group",
        "scores whose range scales score congruence: of query and file (or the header's), of the query, of the output",
        source=f"KWSEval KWSAlignment; {PLAN_004} 5.1.1; STDEval",
    )
    score_range_floor: float = setting(
        1e-5,
        "least width of that range: 1e-5 in KWSEval, 1e-4 in the plan, 0 in STDEval",
        source=f"KWSEval KWSAlignment; {PLAN_004} 5.1.1; STDEval",
        within="[0, inf)",
    )
    reject_all_point: bool = setting(
        False, "whether the sweep ends with a point that accepts nothing", source="plan 000 section 2.3; STDEval"
    )
    include_no_targets: bool = setting(
        False, "whether queries without occurrences count in the means", source="KWSEval -inc"
    )
    no_targets_trials: Literal["once", "twice"] = setting(
        "once",
        "how often N_true is subtracted from the trials where queries without occurrences count (atwv_all, mtwv_all)",
        source=f"KWSEval MetricTWV; {PLAN_004} 5.1.3.3",
    )
    map_order: Literal["text", "number"] = setting(
        "text", "what ranks detections for average precision: scores as text (KWSEval) or as numbers", source="KWSEval"
    )
    skip_undefined_p_fa: bool = setting(
        False,
        "whether queries with as many occurrences as trials are left out of the mean P_fa, which else is undefined",
        source="KWSEval -g",
    )
    just_system_terms: bool = setting(
        False, "whether listed queries that the output has no block for are left out", source="KWSEval -j"
    )
    withdrawn: str = setting(
        "", "queries of the list that are not scored, one a line: withdrawn without another list", source="rescore"
    )
    excluded_files: str = setting(
        "",
        "recordings whose excerpts are not scored, one a line: they leave T, and what lies in them is dropped",
        source="rescore",
    )
    pooled: bool = setting(
        False, "whether all queries are scored as one; conditions are scored by query all the same", source="KWSEval -P"
    )
    duplicate_blocks: Literal["repeat", "merge", "last"] = setting(
        "repeat",
        "several blocks of one query: each searched for all its occurrences, taken as one block, or the last alone",
        source="KWSEval KWSList; STDEval",
    )
    namefile: str = setting(
        "", "recordings and channels scored, a pattern FILE/CHANNEL a line; empty: all", source="KWSEval -N"
    )
    namefile_detections: Literal["with_references", "all"] = setting(
        "with_references",
        "detections elsewhere that namefile drops: those where their query has an occurrence, or all",
        source="KWSEval KWSAlignment 226-250",
        only={"namefile": ()},
    )
    condition: str = setting(
        "",
        "parts scored beside the whole, one a line: source_type NAME:TYPE,… | speaker NAME:TYPE,… (SPKR-INFO) | "
        "query NAME:PATTERN,… | attribute NAME[:regex=PATTERN][ && …] | oov | has_targets",
        source="KWSEval -Y -T -q -w -G",
    )
    source_type_of: Literal["excerpt", "first", "last"] = setting(
        "excerpt",
        "source type of a row: that of the ECF's first excerpt that holds it (of a hit, of its occurrence), or of its "
        "file and channel that of the first excerpt (KWSEval -g) or of the last (STDEval)",
        source="KWSEval KWSAlignment, KWSSegAlign; STDEval",
    )
    repeated_groups: Literal["repeat", "once"] = setting(
        "repeat",
        "a group that several attribute lines name: its trials count once for each of them (KWSEval), or once",
        source="KWSEval -q",
        only={"condition": ()},
    )
    unknown_query: Literal["keep", "error"] = setting(
        "keep", "a query of the output that the list lacks: unscored with a warning, or refused", source="rescore"
    )
    censor: Literal["llr_min", "query", "error"] | float = setting(
        "llr_min", "score of trials that were not submitted", source=f"{PLAN_000} eq 42"
    )
    load_lambda: float = setting(
        0.1, "weight of indexing in the Processing Load", source=f"{PLAN_000} eq 48", within="[0, 1]"
    )

    @property
    def submitted_only(self) -> bool:
        """Whether queries without a block of their own are left out."""
        return self.just_system_terms

    def __post_init__(self) -> None:
        """Refuse malformed patterns where the setting is given, not where it is used."""
        parse_conditions(self.condition)
        parse_namefile(self.namefile)
