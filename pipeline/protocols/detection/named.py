"""Labelled scores: any detector's trials with what each is, in one table; no key beside it.

Official and plan are one mode: there is no tool and no text but the definitions that every measure names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pipeline.align.labels import MISS, Labels, labelled, outcomes
from pipeline.errors import Finding
from pipeline.formats.labelled import Labelled
from pipeline.metrics.detection.labelled import (
    MEASURES,
    LabelledScored,
    LabelledTotals,
    pooled_cell,
    query_cell,
)
from pipeline.metrics.entropy.ape import calibration_tables
from pipeline.metrics.kws import twv
from pipeline.metrics.kws.counts import by_query
from pipeline.metrics.measure import Rules, Scored
from pipeline.partials.ledger import Ledger
from pipeline.protocols.base import (
    EVERYTHING,
    Abilities,
    Conclusion,
    Family,
    Findings,
    Kind,
    Protocol,
    Reads,
    Reference,
    Role,
    Scope,
)
from pipeline.protocols.blocks import QUERY_BLOCKS
from pipeline.protocols.settings import setting
from pipeline.terms import Facts, OperatingPoint
from pipeline.trials.labelled import LabelledTrials, NoKey, from_dataset, laid_out, to_dataset

_SRE = "NIST speaker recognition evaluation plans"


@dataclass(frozen=True)
class DetectionSettings:
    """Every setting of the family."""

    c_miss: float = setting(1.0, "cost of a miss", source=_SRE, within="(0, inf)")
    c_fa: float = setting(1.0, "cost of a false alarm", source=_SRE, within="(0, inf)")
    p_target: float = setting(
        0.5, "prior probability of a target", source=_SRE, within="(0, 1)", only={"p_target_effective": (None,)}
    )
    p_target_effective: float | None = setting(
        None, "effective prior; wins over costs and prior where given", source=_SRE, within="(0, 1)"
    )
    n_trials: Literal["rows"] | float = setting(
        "rows",
        "trials of each query in false-alarm rates over queries: those of the table, or a number (STDEval's n_tps T)",
        source="NIST STD 2006 plan, N_NT",
        within="(0, inf)",
    )
    decide: Literal["bayes"] | float = setting(
        "bayes",
        "threshold of decisions where the table has none: that of the costs for log-likelihood ratios, or a number",
        source="Brümmer and du Preez 2006",
    )

    @property
    def point(self) -> OperatingPoint:
        """Costs and prior of these settings."""
        return OperatingPoint(self.c_miss, self.c_fa, self.p_target, self.p_target_effective)


def refer(protocol: Protocol, tables: Mapping[str, Any]) -> Reference[NoKey, NoKey]:
    """Nothing: the table says what its trials are."""
    del protocol, tables
    return Reference(NoKey.empty(), NoKey.empty(), Facts(math.nan, math.nan, math.nan))


def lay_out(protocol: Protocol, tables: Mapping[str, Any], timeline: NoKey) -> tuple[LabelledTrials, Findings]:
    """A table of labelled scores."""
    del protocol, timeline
    output: Labelled = tables["output"]
    return laid_out(output), output.findings


def align(_protocol: Protocol, trials: LabelledTrials, key: NoKey, _reference: Reference[NoKey, NoKey]) -> Labels:
    """What the table says of every trial. Without decisions nothing is accepted: costs say what is, and come later."""
    none = np.full(len(trials), -1, np.int64)
    return labelled(
        trials.offsets,
        np.zeros_like(trials.offsets) + key.offsets[0],
        outcomes(trials.target, trials.decision),
        none,
        np.zeros(0, np.int64),
        {},
    )


def count(
    _protocol: Protocol, trials: LabelledTrials, labels: Labels, _key: NoKey, _reference: Reference[NoKey, NoKey]
) -> Ledger:
    """Counts by query and score."""
    used = np.unique(trials.query)
    queries = tuple(trials.queries[code] for code in used.tolist())
    place = np.searchsorted(used, trials.query).astype(np.int32)
    nothing = np.zeros(0, np.int32)
    return Ledger.of(queries, place, trials.score, trials.decision, labels["outcome"] <= MISS, nothing)


def survey(trials: LabelledTrials) -> dict[str, Any]:
    """Whether the output has queries and decisions of its own."""
    return {"has_queries": trials.has_queries, "has_decisions": trials.has_decisions}


def whole(protocol: Protocol, partial: Ledger, facts: Facts, survey: Mapping[str, Any]) -> LabelledScored:
    """The cell as its measures see it; see ``Abilities.whole``."""
    settings: DetectionSettings = protocol.settings
    threshold = settings.point.threshold if settings.decide == "bayes" else float(settings.decide)
    ledger = partial if survey["has_decisions"] else decided_at(partial, threshold)
    rows = (by_query(ledger, ledger.n_target) + by_query(ledger, ledger.n_nontarget)).astype(np.float64)
    n_trials = rows if settings.n_trials == "rows" else np.full(rows.size, float(settings.n_trials))
    own = replace(facts, queries=ledger.queries)
    return Scored(LabelledTotals(ledger, n_trials), own, settings.point, Rules(censor="error"))


def decided_at(ledger: Ledger, threshold: float) -> Ledger:
    """The counts where exactly the trials that score as much as a threshold are accepted."""
    yes = ledger.score >= threshold
    counts = np.concatenate([ledger.counts[:2], ledger.counts[:2] * yes])
    return replace(ledger, counts=counts)


def conclude(
    protocol: Protocol, partial: Ledger, facts: Facts, survey: Mapping[str, Any], asked: Scope = EVERYTHING
) -> Conclusion:
    """The figures of a cell from its merged ledger."""
    scored = replace(whole(protocol, partial, facts, survey), every_point=asked.every_point)
    queries, pooled = scored.once(query_cell), scored.once(pooled_cell)
    return Conclusion(
        figures={measure.name: measure.of(scored) for measure in protocol.measures},
        blocks=twv.blocks(queries),
        curve=twv.curve_columns(queries),
        tables=calibration_tables(pooled),
        facts=_facts(scored),
        findings=tuple(_warnings(protocol, scored, survey)),
    )


def _facts(scored: LabelledScored) -> dict[str, float | str]:
    ledger, point = scored.total.ledger, scored.point
    n_target, n_rows = int(ledger.n_true.sum()), int(ledger.counts[:2].astype(np.int64).sum())
    seen = twv.decisions(scored.once(pooled_cell))
    return {
        "n_trials": n_rows,
        "n_queries": len(ledger.queries),
        "n_queries_scored": int(np.count_nonzero(ledger.n_true[0])),
        "n_target": n_target,
        "beta": point.beta,
        "p_target_effective": point.effective_prior,
        "threshold_bayes": point.threshold,
        "prior_empirical": n_target / n_rows if n_rows else math.nan,
        "decisions_consistent": "yes" if seen.consistent else "no",
        "score_min_yes": seen.min_yes,
        "score_max_no": seen.max_no,
    }


def _warnings(protocol: Protocol, scored: LabelledScored, survey: Mapping[str, Any]) -> Iterator[Finding]:
    settings: DetectionSettings = protocol.settings
    if not survey["has_decisions"]:
        at = settings.point.threshold if settings.decide == "bayes" else float(settings.decide)
        message = (
            f"the table has no decisions: scored are those that accept what scores {at:.6g} or more (setting decide)."
        )
        yield Finding("no_decisions", message, "output")
    seen = twv.decisions(scored.once(pooled_cell))
    if not seen.consistent:
        message = (
            f"no single threshold gives these decisions (a NO scores {seen.max_no}, a YES {seen.min_yes}). Scored as "
            "submitted."
        )
        yield Finding("inconsistent_decisions", message, "output")
    ledger, n_trials = scored.total.ledger, scored.total.n_trials
    few = np.flatnonzero(n_trials < by_query(ledger, ledger.n_target) + by_query(ledger, ledger.n_nontarget))
    if few.size:
        message = f"{few.size} queries have more trials in the table than n_trials says ({settings.n_trials})."
        yield Finding("more_rows_than_trials", message, "output")


def _no_columns(_: NoKey) -> dict[str, Any]:
    return {}


def _no_key(_: Mapping[str, Any]) -> NoKey:
    return NoKey.empty()


def _no_parts(_settings: DetectionSettings, _timeline: NoKey) -> dict[str, object]:
    return {}


LABELLED: Family[LabelledTrials, NoKey, NoKey, Ledger] = Family(
    name="labelled",
    kind=Kind(
        name="labelled",
        to_dataset=to_dataset,
        from_dataset=from_dataset,
        timeline_parts=_no_parts,
        key_columns=_no_columns,
        key_from_columns=_no_key,
        timeline_columns=_no_columns,
        timeline_from_columns=_no_key,
        survey=survey,
    ),
    outputs=("output",),
    refer=refer,
    lay_out=lay_out,
    align=align,
    count=count,
    zero=Ledger.zero,
    conclude=conclude,
    reads=Reads((), ("c_miss", "c_fa", "p_target", "p_target_effective", "n_trials", "decide")),
    can=Abilities(blocks=QUERY_BLOCKS, curve=True, whole=whole),
)
DETECTION = Protocol(
    name="detection",
    edition=1,
    mode="official",
    title="Labelled scores of any detector",
    family=LABELLED,
    roles=(Role("output", "labelled", option="-s"),),
    settings=DetectionSettings(),
    measures=MEASURES,
    primary="c_det",
    leads=("min_c_det", "cnxe", "min_cnxe_pav", "atwv", "mtwv", "eer", "auc"),
)
PROTOCOLS = (DETECTION, replace(DETECTION, mode="plan"))
