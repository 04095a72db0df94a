"""Query by example search on speech, MediaEval QUESST 2014 and 2015: one score for each pair of query and document.

Official and plan are one mode: the organisers' tool computes what its description says, but for its faults. Those are
no mode. ``min_cnxe_pav`` pools ties and ``min_cnxe_pav_input_order`` does not; the script's truncated prior is
``p_target_effective=0.0741289``; the tool's threshold stands beside ours as ``jar_threshold``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pipeline.align.documents import align_documents, missing_ranks
from pipeline.align.labels import UNKNOWN_DOCUMENT, Labels, labelled, outcomes_of
from pipeline.errors import Finding, InputError
from pipeline.formats.kws.rttm import Rttm
from pipeline.formats.table import recode
from pipeline.metrics.entropy.ape import calibration_tables
from pipeline.metrics.entropy.calibration import min_cnxe_pav
from pipeline.metrics.kws import twv
from pipeline.metrics.measure import Rules, Scored
from pipeline.metrics.quesst import documents as measures
from pipeline.metrics.quesst.complete import complete, unscored
from pipeline.partials.document_outcomes import DocumentOutcomes
from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally
from pipeline.partials.tie_order import TieOrder
from pipeline.protocols.base import EVERYTHING, Abilities, Conclusion, Family, Kind, Protocol, Reads, Reference, Scope
from pipeline.protocols.blocks import QUERY_BLOCKS
from pipeline.protocols.kws.named import ROLES
from pipeline.protocols.kws.places import named_in, named_tally
from pipeline.protocols.kws.stand_ins import document_stand_ins
from pipeline.protocols.kws.warnings import UNSCORED, none_accepted
from pipeline.protocols.quesst.dispute import DISPUTE
from pipeline.protocols.settings import setting
from pipeline.terms import Facts, OperatingPoint
from pipeline.trials import columns, dataset, layout
from pipeline.trials.documents import DocumentKey, document_key, lay_out_documents
from pipeline.trials.duration import t_audio_s as audio_duration_s
from pipeline.trials.joined import Join, PlacedRows, file_finding, query_finding
from pipeline.trials.schema import Timeline, Trials

_TOOL = "QUESST 2015 scoring script"
FILLER = "NO_KEYWORD"
"""The token of documents that hold no query, in the organisers' keys."""


@dataclass(frozen=True)
class QuesstSettings:
    """Every setting of the family."""

    c_miss: float = setting(100.0, "cost of a miss", source=_TOOL, within="(0, inf)")
    c_fa: float = setting(1.0, "cost of a false alarm", source=_TOOL, within="(0, inf)")
    p_target: float = setting(
        8e-4, "prior probability of a target", source=_TOOL, within="(0, 1)", only={"p_target_effective": (None,)}
    )
    p_target_effective: float | None = setting(
        None,
        "effective prior; wins over costs and prior where given (0.0741289 as the script cuts it)",
        source=_TOOL,
        within="(0, 1)",
    )
    censor: Literal["error", "llr_min", "query"] | float = setting(
        "error",
        "score of pairs nobody submitted: a default score, or the lowest of all or of the query; error refuses them",
        source=f"{_TOOL}, default score",
    )
    t_audio: Literal["excerpts", "header"] | float = setting(
        "excerpts", "audio duration T of the Processing Load", source="plan 000 section 4.3", within="(0, inf)"
    )
    unknown_query: Literal["keep", "error"] = setting(
        "keep", "a query of the output that the list lacks: unscored with a warning, or refused", source="rescore"
    )
    unknown_document: Literal["error", "keep"] = setting(
        "error",
        "a document of the output that the ECF lacks: refused as by the tool, or unscored with a warning",
        source=_TOOL,
    )
    load_lambda: float = setting(
        0.1, "weight of indexing in the Processing Load", source="plan 000 eq 48", within="[0, 1]"
    )

    @property
    def point(self) -> OperatingPoint:
        """Costs and prior of these settings."""
        return OperatingPoint(self.c_miss, self.c_fa, self.p_target, self.p_target_effective)


def refer(protocol: Protocol, tables: Mapping[str, Any]) -> Reference[DocumentKey, Timeline]:
    """ECF, transcript and query list → target pairs, timeline and facts."""
    ecf, rttm, kwlist = tables["ecf"], tables["rttm"], tables["kwlist"]
    queries = tuple(kwlist.keywords.text("id"))
    key, repeated = document_key(ecf, rttm, queries, files="kwseval")
    timeline = layout.timeline(ecf, files="kwseval")
    t_audio_s, noted = audio_duration_s(
        timeline, t_audio=protocol.settings.t_audio, excerpt_sum="sum", splitcts_sum="per_file"
    )
    n_documents = float(len(key.files))
    facts = Facts(
        t_audio_s=t_audio_s,
        n_trials=n_documents,
        n_trials_exact=n_documents,
        queries=queries,
        texts=dict(zip(queries, kwlist.keywords.text("text"), strict=True)),
        places=tuple((name, "") for name in key.files),
    )
    facts, joined = _joined_with_lists(facts, rttm, key)
    read = (*ecf.findings, *rttm.findings, *kwlist.findings)
    return Reference(key, timeline, facts, (*read, *joined, *repeated, *noted))


def _joined_with_lists(facts: Facts, rttm: Rttm, key: DocumentKey) -> tuple[Facts, tuple[Finding, ...]]:
    """The key against query list and ECF: the facts with the targets that are lost, and findings."""
    kinds = rttm.records.vocabularies["kind"]
    said = rttm.records.take(np.flatnonzero(rttm.records["kind"] == recode(("LEXEME",), kinds)[0]))
    files, queries = said.text("file"), said.text("token")
    known, listed = set(key.files), set(facts.queries)
    unknown = {(query, file) for query, file in zip(queries, files, strict=True) if file not in known}
    rows = PlacedRows("the key", "rttm", "records", "they are passed over")
    found = file_finding(rows, sum(file not in known for file in files), Join("the key", files, "the ECF", key.files))
    lost = sum(query in listed for query, _ in unknown)
    if lost:
        what = f"{lost} of the key's {len(key) + lost} targets are lost: they name documents that the ECF lacks"
        found = (*found, Finding("targets_lost", f"{what}. Compare key and ECF.", "rttm"))
    strange = Join("the key", set(queries) - {FILLER}, "the query list", facts.queries)
    if strange.only_one:
        what = f"the key names {len(strange.only_one)} queries that the query list lacks; they are passed over"
        found = (*found, Finding("unknown_query", f"{what}: {strange.told()}. Compare the spelling.", "rttm"))
    return replace(facts, n_key_target=len(key) + lost, n_key_lost=lost), found


def lay_out(protocol: Protocol, tables: Mapping[str, Any], timeline: Timeline) -> tuple[Trials, tuple[Finding, ...]]:
    """An STDList with one detection a pair."""
    output = tables["output"]
    rule = protocol.settings.unknown_document
    return lay_out_documents(output, timeline, files="kwseval", unknown_document=rule), output.findings


def timeline_parts(settings: QuesstSettings, timeline: Timeline) -> dict[str, Any]:
    """The documents, and whether others are refused."""
    return {"documents": timeline.placed, "unknown_document": settings.unknown_document}


def align(
    _protocol: Protocol, trials: Trials, key: DocumentKey, _reference: Reference[DocumentKey, Timeline]
) -> Labels:
    """The outcome of every pair by the key, and the target pairs that nobody submitted."""
    aligned = align_documents(trials, key)
    found = outcomes_of(len(trials), aligned, trials.decision[aligned.kept], UNKNOWN_DOCUMENT)
    return labelled(trials.offsets, key.offsets, *found, aligned.omitted, {})


def count(
    _protocol: Protocol, trials: Trials, labels: Labels, key: DocumentKey, _reference: Reference[DocumentKey, Timeline]
) -> DocumentOutcomes:
    """Counts of all pairs, and their order; queries without targets have counts, but no order."""
    aligned = labels.aligned()
    referred = sorted({key.queries[code] for code in np.unique(key.query).tolist()})
    used = {trials.queries[code] for code in np.unique(trials.query).tolist()}
    queries = tuple(sorted({*used, *referred}))
    query, score = trials.query[aligned.kept], trials.score[aligned.kept]
    missed = recode(key.queries, queries)[key.query[aligned.omitted]]
    ledger = Ledger.of(
        queries, recode(trials.queries, queries)[query], score, trials.decision[aligned.kept], aligned.target, missed
    )
    with_targets = recode(trials.queries, tuple(referred))[query]
    rows = np.flatnonzero(with_targets >= 0)
    row = trials.row[aligned.kept][rows].astype(np.int32)
    order = TieOrder.of(tuple(referred), with_targets[rows], score[rows], row, aligned.target[rows])
    place = missing_ranks(trials, key, aligned.omitted).astype(np.int32)
    every = np.ones(place.size, np.bool_)
    missing = TieOrder.of(queries, missed, np.zeros(place.size), place, every)
    n_unknown = len(trials) - aligned.kept.size
    named = named_tally(trials.files, n_unknown)
    tally = Tally({"unknown_document": n_unknown, "n_rows": len(trials), **named})
    return DocumentOutcomes(ledger, order, missing, tally)


def conclude(
    protocol: Protocol, partial: DocumentOutcomes, facts: Facts, survey: Mapping[str, Any], asked: Scope = EVERYTHING
) -> Conclusion:
    """The figures of a cell from its merged partial."""
    unknown = _unknown(protocol, partial.ledger, facts)
    scored = replace(whole(protocol, partial, facts, survey), every_point=asked.every_point)
    made = _conclusion(protocol, scored, partial.tally, len(set(partial.ledger.queries) - set(facts.queries)))
    return replace(made, findings=(*unknown, *made.findings))


def _unknown(protocol: Protocol, ledger: Ledger, facts: Facts) -> tuple[Finding, ...]:
    """A finding, or a refusal, where the output has queries that are on no list."""
    answered = [ledger.queries[code] for code in np.unique(ledger.query).tolist()]
    found = query_finding(answered, facts.queries, UNSCORED)
    if found and protocol.settings.unknown_query == "error":
        raise InputError(query_finding(answered, facts.queries, "Leave them out of the output."))
    return found


def _conclusion(protocol: Protocol, scored: measures.DocumentScored, tally: Tally, n_unknown: int) -> Conclusion:
    cell = scored.once(measures.ledger_cell)
    decisions = twv.decisions(cell)
    return Conclusion(
        figures={measure.name: measure.of(scored) for measure in protocol.measures},
        blocks=twv.blocks(cell),
        curve=twv.curve_columns(cell),
        tables=calibration_tables(cell),
        facts={**_facts(scored, decisions), "n_queries_unknown": n_unknown, "n_detections": tally["n_rows"]},
        findings=tuple(_warnings(scored, tally, decisions)),
    )


def whole(
    protocol: Protocol, partial: DocumentOutcomes, facts: Facts, _survey: Mapping[str, Any]
) -> measures.DocumentScored:
    """The cell as its measures see it; see ``Abilities.whole``."""
    settings: QuesstSettings = protocol.settings
    submitted = partial.ledger.select(facts.queries)
    ledger = complete(submitted, round(facts.n_trials_exact), settings.censor)
    return _scored(protocol, measures.DocumentTotals(ledger, submitted, partial.order, partial.missing), facts)


def _scored(protocol: Protocol, total: measures.DocumentTotals, facts: Facts) -> measures.DocumentScored:
    settings: QuesstSettings = protocol.settings
    rules = Rules(censor=settings.censor, load_lambda=settings.load_lambda)
    return Scored(total, facts, settings.point, rules)


def _facts(scored: measures.DocumentScored, decisions: twv.Decisions) -> dict[str, float | str]:
    facts, point, n_true = scored.facts, scored.point, scored.total.ledger.n_true[0]
    n_scored, n_target = int(np.count_nonzero(n_true)), int(n_true.sum())
    n_pairs = n_scored * round(facts.n_trials_exact)
    return {
        "t_audio_s": facts.t_audio_s,
        "n_trials": facts.n_trials,
        "n_documents": facts.n_trials,
        "n_pairs": n_pairs,
        "n_default": int(sum(map(np.sum, unscored(scored.total.submitted, round(facts.n_trials_exact))))),
        "n_queries": len(facts.queries),
        "n_queries_scored": n_scored,
        "n_target": n_target,
        "beta": point.beta,
        "p_target_effective": point.effective_prior,
        "threshold_bayes": point.threshold,
        "prior_empirical": n_target / n_pairs if n_pairs else math.nan,
        "decisions_consistent": "yes" if decisions.consistent else "no",
        "score_min_yes": decisions.min_yes,
        "score_max_no": decisions.max_no,
    }


def _warnings(scored: measures.DocumentScored, tally: Tally, decisions: twv.Decisions) -> Iterator[Finding]:
    if tally["unknown_document"]:
        told = Join("the output", named_in(tally), "the ECF", [file for file, _ in scored.facts.places]).told()
        message = f"{tally['unknown_document']} pairs name documents that the ECF lacks; they are not scored: {told}."
        yield Finding("unknown_document", message, "output")
    without = _silent(scored.total.submitted)
    silent = [query for query in scored.facts.queries if query in without]
    if silent:
        shown = ", ".join(map(repr, silent[:5])) + (", …" if len(silent) > 5 else "")
        message = f"{len(silent)} queries with targets have no score at all ({shown}): their pairs take the default."
        yield Finding("query_not_scored", message, "output")
    if not decisions.consistent:
        yield Finding(
            "inconsistent_decisions",
            f"no single threshold gives these decisions (a NO scores {decisions.max_no}, a YES {decisions.min_yes}). "
            "Scored as submitted; the actual value may exceed the maximum.",
            "output",
        )
    yield from none_accepted(decisions)
    tied = scored.once(measures.ledger_cell).once(min_cnxe_pav).detail.get("tied_mass", 0.0)
    if tied > _TIES_NOTED:
        message = f"{tied:.1%} of all trials share one score: min_cnxe_pav_input_order depends on the output's order."
        yield Finding("tied_scores", message, "output")


_TIES_NOTED = 0.01


def _silent(submitted: Ledger) -> set[str]:
    """Queries with targets and without any score."""
    seen = np.bincount(submitted.query, minlength=len(submitted.queries)) > 0
    return {submitted.queries[code] for code in np.flatnonzero((submitted.n_true[0] > 0) & ~seen).tolist()}


DOCUMENTS: Family[Trials, DocumentKey, Timeline, DocumentOutcomes] = Family(
    name="documents",
    kind=Kind(
        name="documents",
        to_dataset=dataset.to_dataset,
        from_dataset=dataset.from_dataset,
        timeline_parts=timeline_parts,
        key_columns=DocumentKey.to_columns,
        key_from_columns=DocumentKey.from_columns,
        timeline_columns=columns.to_columns,
        timeline_from_columns=columns.timeline,
    ),
    outputs=("output",),
    refer=refer,
    lay_out=lay_out,
    align=align,
    count=count,
    zero=DocumentOutcomes,
    conclude=conclude,
    reads=Reads(
        ("t_audio",), ("c_miss", "c_fa", "p_target", "p_target_effective", "censor", "unknown_query", "load_lambda")
    ),
    can=Abilities(stand_ins=document_stand_ins, blocks=QUERY_BLOCKS, curve=True, whole=whole, dispute=DISPUTE),
)
QUESST = Protocol(
    name="quesst",
    edition=2,
    mode="official",
    title="MediaEval QUESST 2014-2015, query by example search on speech",
    family=DOCUMENTS,
    roles=ROLES,
    settings=QuesstSettings(),
    measures=measures.MEASURES,
    primary="cnxe",
    leads=("min_cnxe_pav", "calibration_loss", "lb_cnxe", "atwv", "mtwv", "ub_twv", "map"),
)
PROTOCOLS = (QUESST, replace(QUESST, mode="plan"))
