"""TRECVID Multimedia Event Detection, 2011 to 2017: one family of frozen values.

``official`` gives the figures of DEVA (F4DE 3.5.0), ``plan`` those of the text. Official mode differs from DEVA in one
thing: an incomplete submission is refused unless ``missing_trials`` says otherwise, since DEVA drops its targets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pipeline.metrics.med import average_precision, ndc, ro, rtf
from pipeline.protocols.base import Protocol, Role
from pipeline.protocols.med.family import EVENTS
from pipeline.protocols.settings import setting
from pipeline.terms import OperatingPoint

DEVA = "DEVA (F4DE 3.5.0)"
PLAN = "TRECVID MED 2011 plan"


@dataclass(frozen=True)
class MedSettings:
    """Every setting of the family, with MED 2011's official values as defaults."""

    c_miss: float = setting(80.0, "cost of a missed detection", source=f"{PLAN} 4.2", within="(0, inf)")
    c_fa: float = setting(1.0, "cost of a false alarm", source=f"{PLAN} 4.2", within="(0, inf)")
    p_target: float = setting(1e-3, "prior probability of a target", source=f"{PLAN} 4.2", within="(0, 1)")
    ter: float | None = setting(
        None, "target error ratio; that of costs and prior where none", source=f"{PLAN} 4.2", within="(0, inf)"
    )
    ro_weight: float = setting(
        12.5, "m, the weight of the percent rank in Ro", source="F4DE MetricRo", within="(0, inf)"
    )
    missing_trials: Literal["refuse", "drop", "miss"] = setting(
        "refuse",
        "trials that a system leaves out of an event it processes: the submission is refused, they are dropped with "
        "their targets as DEVA does, or their targets count as misses",
        source="rescore; DEVAcli_filter; TV11MED-SubmissionChecker",
    )
    unkeyed_trials: Literal["nontarget", "drop", "refuse"] = setting(
        "nontarget", "scored trials without a key: non-targets as in DEVA, left out, or refused", source=DEVA
    )
    p_fa_trials: Literal["scored", "index"] = setting(
        "scored",
        "denominator of P_FA: the scored non-targets of the event, or those of the index",
        source=f"{DEVA}; {PLAN} 4.1",
    )
    empty_point: bool = setting(
        False, "whether a sweep has the point P_MD 1, P_FA 0, where nothing is detected", source="F4DE DETCurve"
    )
    tie_order: Literal["id", "id_descending", "against"] = setting(
        "id",
        "equal scores in average precision: by TrialID (DEVA), by TrialID descending (trec_eval), non-targets first",
        source="F4DE TrialsFuncs; trec_eval",
    )
    scored_by: Literal["score", "rank"] = setting("score", "what orders the trials of an event", source=DEVA)
    decisions: Literal["threshold", "rank_threshold", "rank_limit", "file"] = setting(
        "threshold",
        "what is detected: score >= DetectionThreshold, rank < RankThreshold, rank < rank_limit, or Decision y",
        source=f"{PLAN} 4.1; F4DE TrialsFuncs",
    )
    rank_limit: float = setting(
        5.0,
        "limit of the rank where it is fixed",
        source=f"{DEVA}, MED15",
        within="(0, inf)",
        only={"decisions": ("rank_limit",)},
    )
    score_range: Literal["unit", "any"] = setting(
        "unit", "whether scores must lie between 0 and 1", source=f"{PLAN} 2.2.2"
    )
    columns: Literal["med11", "med12", "med13", "med14", "med15", "none"] = setting(
        "med11", "the year whose columns a submission must have", source="F4DE DEVA/data/DEVAcli_pfs_*"
    )
    conditions: str = setting(
        "", "parts of the trials to score beside the whole: NAME: TABLE.COLUMN < VALUE and …; …", source="DEVA_filter"
    )

    @property
    def point(self) -> OperatingPoint:
        """Costs and prior of these settings."""
        return OperatingPoint(self.c_miss, self.c_fa, self.p_target)


ROLES = (
    Role("ref", "med_ref", option="-r"),
    Role("index", "med_index"),
    Role("detection", "med_detection", option="-s"),
    Role("threshold", "med_threshold"),
    Role("clipmd", "med_clipmd", required=False),
    Role("eventdb", "med_eventdb", required=False),
    Role("judgement", "med_judgement", required=False),
    Role("resources", "resources", required=False),
)
MEASURES = (*ndc.MEASURES, *average_precision.MEASURES, *ro.MEASURES, *rtf.MEASURES)

_RANKED = replace(MedSettings(), scored_by="rank", decisions="rank_limit", score_range="any", columns="med15")
_BY_YEAR = {
    "med11": ("TRECVID MED 2011", MedSettings(), "ndc"),
    "med12": ("TRECVID MED 2012", replace(MedSettings(), columns="med12"), "ndc"),
    "med13": ("TRECVID MED 2013", replace(MedSettings(), columns="med13"), "ap"),
    "med13aladdin": ("TRECVID MED 2013, ALADDIN", replace(MedSettings(), columns="med13"), "ap"),
    "med14": (
        "TRECVID MED 2014",
        replace(_RANKED, decisions="rank_threshold", columns="med14", score_range="unit"),
        "ap",
    ),
    "med15": ("TRECVID MED 2015", _RANKED, "ap"),
    "med16": ("TRECVID MED 2016", _RANKED, "ap"),
    "med17": ("TRECVID MED 2017", _RANKED, "ap"),
}

# MED 2011 and 2012 name two primary measures, P_MD and P_FA (4.1): neither alone ranks, since who detects everything
# misses nothing. NDC weighs them at the required costs.
_LEADS = {
    "ndc": ("p_md", "p_fa", "min_ndc", "ndc_at_ter", "ap", "ro", "rtf_execution"),
    "ap": ("ap_prime", "ro", "max_ro", "ndc", "min_ndc", "p_md", "p_fa"),
}


def _plan(settings: MedSettings) -> MedSettings:
    return replace(settings, unkeyed_trials="refuse", p_fa_trials="index", empty_point=True)


PROTOCOLS = tuple(
    Protocol(
        name=name,
        edition=2,
        mode=mode,
        title=f"{title}, multimedia event detection",
        family=EVENTS,
        roles=ROLES,
        settings=settings if mode == "official" else _plan(settings),
        measures=MEASURES,
        primary=primary,
        leads=_LEADS[primary],
        tool="DEVA",
    )
    for name, (title, settings, primary) in _BY_YEAR.items()
    for mode in ("official", "plan")
)
