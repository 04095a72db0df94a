"""The family of clips scored for events: how its tables become trials, tiles, ledgers and figures (TRECVID MED)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.align.identity import identify
from pipeline.align.labels import UNKEYED as WITHOUT_KEY
from pipeline.align.labels import Labels as TrialLabels
from pipeline.align.labels import labelled, outcomes_of
from pipeline.arrays import summed
from pipeline.errors import Finding, InputError, Problems
from pipeline.formats import numbers
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.med.csv import MedTable
from pipeline.metrics.measure import Scored
from pipeline.metrics.med.event_blocks import blocks, curve_columns, thinned
from pipeline.metrics.med.events import EventScored, EventTotals, n_scored_nontarget
from pipeline.partials.event_outcomes import Declared, EventOutcomes
from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally
from pipeline.partials.tie_order import TieOrder
from pipeline.protocols.base import (
    EVERYTHING,
    Abilities,
    Boards,
    Conclusion,
    Family,
    Kind,
    Protocol,
    Reads,
    Reference,
    Scope,
)
from pipeline.protocols.blocks import EVENT_BLOCKS
from pipeline.protocols.med import conditions as med_conditions
from pipeline.protocols.med import names as med_names
from pipeline.protocols.med.dispute import DISPUTE
from pipeline.protocols.med.stand_ins import stand_ins
from pipeline.protocols.med.submission import lay_out as lay_out_submission
from pipeline.store.address import digest_columns
from pipeline.terms import Facts
from pipeline.trials import clips, clipstore
from pipeline.trials.clips import LEFT_OUT, NONTARGET, TARGET, UNKEYED, ClipIndex, ClipKey, ClipTrials, Labels
from pipeline.trials.joined import Join

PART_OF_EVENTS = "part_of_events"
"""Status: the system did not process every event, so its means are over other events than those of a full run."""


def refer(protocol: Protocol, tables: Mapping[str, Any]) -> Reference[ClipKey, ClipIndex]:
    """Trial index, reference and the tables about clips and events → labels, index and facts."""
    settings, table = protocol.settings, tables["index"]
    trial_ids, clip_ids, event_ids = (table.table.text(name) for name in ("TrialID", "ClipID", "EventID"))
    index, order = clips.index_of(trial_ids, event_ids)
    label, notes = _labels(settings, tables["ref"], index)
    conditions = {
        name: med_conditions.members(condition, tables, clip_ids, event_ids)[order]
        for name, condition in med_conditions.parse(settings.conditions).items()
    }
    events = tuple(sorted(index.events))
    targets, trials = tables["ref"].table.text("Targ"), tables["ref"].table.text("TrialID")
    of_key = {trial for trial, text in zip(trials, targets, strict=True) if text == "y"}
    facts = Facts(
        t_audio_s=_video_s(tables.get("clipmd")),
        n_trials=float(len(trial_ids)),
        n_trials_exact=float(len(trial_ids)),
        queries=events,
        texts=_event_names(tables.get("eventdb"), events),
        counts={"n_clips": float(len(table.table.vocabularies["ClipID"]))},
        n_key_target=len(of_key),
        n_key_lost=len(of_key.difference(index.trial_ids)),
    )
    own = [tables[name] for name in sorted(tables) if name not in ("detection", "threshold")]
    read = [one for given in own if isinstance(given, MedTable) for one in given.findings]
    return Reference(clips.key_of(index, label, conditions), index, facts, (*read, *notes))


def _labels(settings: Any, ref: MedTable, index: ClipIndex) -> tuple[Labels, tuple[Finding, ...]]:
    """The label of every trial of the index; one without a key is a problem or a warning, as the settings say."""
    target = [text == "y" for text in ref.table.text("Targ")]
    keyed = dict(zip(ref.table.text("TrialID"), target, strict=True))
    values = {True: TARGET, False: NONTARGET, None: UNKEYED}
    label = np.array([values[keyed.get(trial)] for trial in index.trial_ids], np.int8)
    n_unkeyed, notices = int(np.count_nonzero(label == UNKEYED)), Notices(ref.where)
    if n_unkeyed:
        first = quoted(index.trial_ids[int(np.flatnonzero(label == UNKEYED)[0])])
        what = f"{n_unkeyed} of {label.size} trials of the index have no key (first {first})"
        if settings.unkeyed_trials == "refuse":
            mend = "Complete the reference, or choose unkeyed_trials=nontarget (as DEVA) or drop."
            raise InputError([Finding("unkeyed_trials", f"{what}. {mend}", ref.where)])
        how = (
            "where scored they count as non-targets" if settings.unkeyed_trials == "nontarget" else "they are left out"
        )
        notices.add("unkeyed_trials", None, f"{what}; {how}")
    if len(keyed) - (label.size - n_unkeyed):
        join = Join("the key", keyed, "the trial index", index.trial_ids)
        what = f"{join.told()}. {len(join.only_one)} keys are of trials that the index lacks; they have no effect"
        notices.add("key_without_trial", None, what)
        lost = sum(keyed[name] for name in join.only_one)
        if lost:
            what = f"{lost} of the key's {sum(target)} targets are lost: they are of trials that the index lacks"
            notices.add("targets_lost", None, what)
    return label, notices.findings()


def _video_s(clipmd: MedTable | None) -> float:
    """Seconds of video of the collection: the sum of DURATION; NaN where it is not known."""
    if clipmd is None or "DURATION" not in clipmd.names:
        return math.nan
    problems = Problems(clipmd.where)
    lines = clipmd.table["line"].tolist()
    durations = numbers.decimals(clipmd.table.text("DURATION"), "DURATION", lines, problems)
    problems.raise_if_any()
    return summed(durations)


def _event_names(eventdb: MedTable | None, events: tuple[str, ...]) -> dict[str, str]:
    known: dict[str, str] = {}
    if eventdb is not None and "EventName" in eventdb.names:
        known = dict(zip(eventdb.table.text("EventID"), eventdb.table.text("EventName"), strict=True))
    return {event: known.get(event, "") for event in events}


def lay_out(protocol: Protocol, tables: Mapping[str, Any], index: ClipIndex) -> tuple[ClipTrials, tuple[Finding, ...]]:
    """Detections and thresholds of one system on the trial index."""
    return lay_out_submission(protocol.settings, tables, index)


def timeline_parts(settings: Any, index: ClipIndex) -> dict[str, Any]:
    """The trial index, and the settings that decide which trials are scored and detected."""
    names = ("columns", "score_range", "scored_by", "decisions", "rank_limit", "missing_trials")
    laid = digest_columns({"events": index.events, "first": index.first, "trial_ids": index.trial_ids})
    return {**{name: getattr(settings, name) for name in names}, "index": laid}


def align(
    protocol: Protocol, trials: ClipTrials, key: ClipKey, _reference: Reference[ClipKey, ClipIndex]
) -> TrialLabels:
    """The outcome of every trial by the key, and the targets of submitted events without a trial."""
    found = identify(trials, key, keep_unkeyed=protocol.settings.unkeyed_trials == "nontarget")
    place = key.first[trials.event] + trials.item
    row = np.where(found.target, place[found.kept], -1)
    aligned = Aligned(found.kept, row, found.omitted)
    made = outcomes_of(len(trials), aligned, trials.decision[found.kept], WITHOUT_KEY)
    return labelled(trials.offsets, key.offsets, *made, found.omitted, {})


def count(
    protocol: Protocol, trials: ClipTrials, labels: TrialLabels, key: ClipKey, _reference: Reference[ClipKey, ClipIndex]
) -> EventOutcomes:
    """The outcomes of all trials, and of each condition's."""
    whole = _outcomes(protocol, trials, labels, key)
    hours, threshold = trials.hours.tolist(), trials.threshold.tolist()
    declared = {
        event: Declared(threshold[at], hours[at]) for at, event in enumerate(trials.events) if trials.submitted[at]
    }
    parts = {
        name: _outcomes(
            protocol, trials, labels, replace(key, label=np.where(key.member[at], key.label, np.int8(LEFT_OUT)))
        )
        for at, name in enumerate(key.conditions)
    }
    return replace(whole, declared=declared, conditions=parts)


def _outcomes(protocol: Protocol, trials: ClipTrials, labels: TrialLabels, key: ClipKey) -> EventOutcomes:
    """Of the trials that a key does not leave out; what has no trial or no label is counted by the key itself."""
    settings, aligned = protocol.settings, labels.aligned()
    found = identify(trials, key, keep_unkeyed=settings.unkeyed_trials == "nontarget")
    held = key.label[key.first[trials.event[aligned.kept]] + trials.item[aligned.kept]] != LEFT_OUT
    kept, target = aligned.kept[held], aligned.target[held]
    missed = aligned.omitted[key.label[aligned.omitted] != LEFT_OUT]
    omitted = (np.searchsorted(key.first, missed, side="right") - 1).astype(np.int32)
    event, score = trials.event[kept], trials.score[kept]
    omitted = omitted if settings.missing_trials == "miss" else omitted[:0]
    ledger = Ledger.of(key.events, event, score, trials.decision[kept], target, omitted)
    ties = TieOrder()
    if settings.tie_order != "against":
        item = trials.item[kept]
        ties = TieOrder.of(key.events, event, score, item if settings.tie_order == "id" else -item, target)
    counts = {"n_unkeyed": int(found.n_unkeyed.sum()), "n_missing_target": int(found.n_missing_target.sum())}
    counts |= {f"missing_nontarget/{e}": int(n) for e, n in zip(key.events, found.n_missing_nontarget, strict=True)}
    return EventOutcomes(ledger, ties, Tally(counts))


def conclude(
    protocol: Protocol, partial: EventOutcomes, facts: Facts, survey: Mapping[str, Any], asked: Scope = EVERYTHING
) -> Conclusion:
    """The figures of a cell from its merged outcomes, of all trials and of each condition."""
    named = {"all": partial, **partial.conditions}
    parts = {name: _conclusion(protocol, part, partial, facts, survey) for name, part in named.items()}
    if not asked.every_point:
        parts = {name: replace(part, curve=thinned(part.curve)) for name, part in parts.items()}
    return replace(parts.pop("all"), conditions=parts)


def whole(protocol: Protocol, partial: EventOutcomes, facts: Facts, _survey: Mapping[str, Any]) -> EventScored:
    """The cell as its measures see it; see ``Abilities.whole``."""
    return _scored(protocol, partial, partial, facts)


def _scored(protocol: Protocol, part: EventOutcomes, whole: EventOutcomes, facts: Facts) -> EventScored:
    return Scored(_totals(protocol.settings, part, whole, facts), facts, protocol.settings.point)


def _conclusion(
    protocol: Protocol, part: EventOutcomes, whole: EventOutcomes, facts: Facts, survey: Mapping[str, Any]
) -> Conclusion:
    scored = _scored(protocol, part, whole, facts)
    figures = {measure.name: measure.of(scored) for measure in protocol.measures}
    if not scored.total.submitted.all():
        figures = {n: f if f.reason or f.status else replace(f, status=PART_OF_EVENTS) for n, f in figures.items()}
    return Conclusion(
        figures=figures,
        blocks=blocks(scored),
        curve=curve_columns(scored),
        facts=_facts(scored, part, facts, survey),
    )


def _totals(settings: Any, part: EventOutcomes, whole: EventOutcomes, facts: Facts) -> EventTotals:
    ledger = part.ledger.select(facts.queries)
    n_nontarget = n_scored_nontarget(ledger)
    if settings.p_fa_trials == "index":
        missing = [part.tally[f"missing_nontarget/{event}"] for event in ledger.queries]
        n_nontarget = n_nontarget + np.array(missing, np.int64)
    nothing = Declared(math.nan, math.nan)
    declared = [whole.declared.get(event, nothing) for event in ledger.queries]
    return EventTotals(
        ledger=ledger,
        n_nontarget=n_nontarget,
        submitted=np.array([event in whole.declared for event in ledger.queries], np.bool_),
        threshold=np.array([entry.threshold for entry in declared], np.float64),
        hours=np.array([entry.hours for entry in declared], np.float64),
        ties=None if settings.tie_order == "against" else part.ties,
        ter=settings.point.beta if settings.ter is None else settings.ter,
        ro_weight=settings.ro_weight,
        empty_point=settings.empty_point,
    )


def _facts(scored: EventScored, part: EventOutcomes, facts: Facts, survey: Mapping[str, Any]) -> dict[str, float | str]:
    total = scored.total
    n_true = total.ledger.n_true[0]
    n_submitted = int(np.count_nonzero(total.submitted))
    return {
        "video_hours": facts.t_audio_s / 3600.0,
        "n_trials": facts.n_trials,
        "n_events": len(facts.queries),
        "n_events_submitted": n_submitted,
        "n_events_scored": int(np.count_nonzero(n_true)),
        "submission": "MEDFull" if n_submitted == len(facts.queries) else "MEDPart",
        "n_target": int(n_true.sum()),
        "n_nontarget": int(total.n_nontarget.sum()),
        "n_detections": float(survey.get("n_rows", math.nan)),
        "n_unkeyed": part.tally["n_unkeyed"],
        "n_missing_target": part.tally["n_missing_target"],
        "beta": scored.point.beta,
        "ter": total.ter,
        **facts.counts,
    }


CLIPS = Kind(
    name="clips",
    to_dataset=clipstore.to_dataset,
    from_dataset=clipstore.from_dataset,
    timeline_parts=timeline_parts,
    key_columns=clips.to_columns,
    key_from_columns=clips.key_from_columns,
    timeline_columns=clips.to_columns,
    timeline_from_columns=clips.index_from_columns,
)
EVENTS: Family[ClipTrials, ClipKey, ClipIndex, EventOutcomes] = Family(
    name="events",
    kind=CLIPS,
    outputs=("detection", "threshold"),
    refer=refer,
    lay_out=lay_out,
    align=align,
    count=count,
    zero=EventOutcomes,
    conclude=conclude,
    reads=Reads(
        ("unkeyed_trials", "conditions"),
        ("c_miss", "c_fa", "p_target", "ter", "ro_weight", "p_fa_trials", "empty_point"),
    ),
    boards=Boards(apart=True, identify=med_names.identify, standing=med_names.standing),
    can=Abilities(stand_ins=stand_ins, blocks=EVENT_BLOCKS, curve=True, whole=whole, dispute=DISPUTE),
)
