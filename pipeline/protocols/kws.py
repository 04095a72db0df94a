"""Keyword search and spoken term detection: OpenKWS13 and MediaEval SWS 2013.

One family of frozen values. Each difference between two protocols, or between the organisers' tool (``official``) and
the text (``plan``), is one field of ``KwsSettings``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pipeline.metrics import calibration, crossentropy, load, ranking, twv
from pipeline.protocols.base import Protocol, Role
from pipeline.protocols.detections import DETECTIONS
from pipeline.protocols.settings import setting
from pipeline.terms import OperatingPoint

KWSEVAL = "KWSEval (F4DE 3.5.0)"
PLAN_004 = "OpenKWS13 evaluation plan"
PLAN_000 = "SWS 2013 performance measures"


@dataclass(frozen=True)
class KwsSettings:
    """Every setting of the family, with OpenKWS13's official values as defaults."""

    c_miss: float = setting(
        1.0, "cost of a miss (value V of a correct detection)", source=f"{PLAN_004} 5.1.3", within="(0, inf)"
    )
    c_fa: float = setting(0.1, "cost of a false alarm (C)", source=f"{PLAN_004} 5.1.3", within="(0, inf)")
    p_target: float = setting(1e-4, "prior probability of a target", source=f"{PLAN_004} 5.1.3", within="(0, 1)")
    p_target_effective: float | None = setting(
        None, "effective prior; wins over costs and prior where given", source=f"{PLAN_000} eq 23", within="(0, 1)"
    )
    trials_per_s: float = setting(1.0, "trials per second of audio", source=f"{PLAN_004} 5.1.2", within="(0, inf)")
    trials_rule: Literal["kwseval", "stdeval", "exact"] = setting(
        "kwseval",
        "trials per query: round(T / r) as KWSEval, round(T r) as STDEval, or T r unrounded as the plans",
        source="KWSEval TrialsTWV; plan 000 section 2.2",
    )
    t_audio: Literal["excerpts", "header"] | float = setting(
        "excerpts",
        "audio duration T: from the ECF's excerpts, its header, or given in seconds",
        source="plan 000 eq 2",
        within="(0, inf)",
    )
    excerpt_sum: Literal["kwseval", "channel_1", "sum"] = setting(
        "kwseval",
        "how excerpts add up: per file over all channels without overlap, channel 1 only (STDEval), or every excerpt",
        source="KWSEval KWSecf; STDEval",
    )
    splitcts_sum: Literal["per_file", "per_channel"] = setting(
        "per_file", "what the factor 0.5 of splitcts excerpts applies to", source=f"{PLAN_004} 5.1.2.1"
    )
    ecf_filter: Literal["excerpt", "none"] = setting(
        "excerpt",
        "drop what does not lie wholly inside one excerpt (references: their first word)",
        source="KWSEval KWSAlignment; STDEval -E",
    )
    files: Literal["kwseval", "stdeval"] = setting(
        "kwseval", "how file names are reduced to recording names", source="KWSEval KWSList, KWSecf; STDEval"
    )
    search: Literal["kwseval", "stdeval", "plan"] = setting(
        "kwseval", "how occurrences are searched in the transcript", source=f"{PLAN_004} 3.2; KWSEval RTTMList; STDEval"
    )
    word_gap_s: float = setting(
        0.5, "largest gap between two words of an occurrence, seconds", source=f"{PLAN_004} 3.2", within="[0, inf)"
    )
    tolerance_s: float = setting(
        0.5, "how far a mid point may lie outside an occurrence, seconds", source=f"{PLAN_004} 5.1.1", within="[0, inf)"
    )
    score_range: Literal["group", "keyword", "list"] = setting(
        "group",
        "scores whose range scales score congruence: of query and file (or the header's), of the query, of the output",
        source="KWSEval KWSAlignment; STDEval",
    )
    reject_all_point: bool = setting(
        False, "whether the sweep ends with a point that accepts nothing", source="plan 000 section 2.3; STDEval"
    )
    include_no_targets: bool = setting(
        False, "whether queries without occurrences count in the means", source="KWSEval -inc"
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
    def point(self) -> OperatingPoint:
        """Costs and prior of these settings."""
        return OperatingPoint(self.c_miss, self.c_fa, self.p_target, self.p_target_effective)


ROLES = (
    Role("ecf", "ecf", option="-e"),
    Role("rttm", "rttm", option="-r"),
    Role("kwlist", "kwlist", option="-t"),
    Role("output", "kwslist", option="-s"),
    Role("queries", "queries", required=False),
    Role("resources", "resources", required=False),
)
MEASURES = (*twv.MEASURES, *ranking.MEASURES, *crossentropy.MEASURES, *calibration.MEASURES, *load.MEASURES)

OPENKWS13 = Protocol(
    name="openkws13",
    edition=1,
    mode="official",
    title="OpenKWS13 keyword search, occurrence scoring",
    family=DETECTIONS,
    roles=ROLES,
    settings=KwsSettings(),
    measures=MEASURES,
    primary="atwv",
)
SWS2013 = replace(
    OPENKWS13,
    name="sws2013",
    title="MediaEval SWS 2013, spoken web search",
    settings=replace(
        KwsSettings(),
        c_miss=100.0,
        c_fa=1.0,
        p_target=1.5e-4,
        trials_rule="stdeval",
        excerpt_sum="channel_1",
        ecf_filter="none",
        files="stdeval",
        search="stdeval",
        score_range="list",
        reject_all_point=True,
    ),
)
SWS2013_PLAN = replace(SWS2013, mode="plan", settings=replace(SWS2013.settings, trials_rule="exact", excerpt_sum="sum"))
PROTOCOLS = (OPENKWS13, SWS2013, SWS2013_PLAN)
