"""Inferred-segment scoring of keyword search (plan 004, section 5.2; KWSEval -g): segments are the trials.

STWV is TWV with segments in place of occurrences. Not what Kaldi calls STWV: that is ``stwv_supremum`` here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.align.labels import (
    FALSE_ALARM,
    HIT,
    KEY,
    OUTSIDE_ECF,
    STOOD_FOR,
    TRIAL,
    Column,
    Labels,
    labelled,
    outcomes_of,
)
from pipeline.align.segments import align_segments
from pipeline.arrays import Bools, Ints
from pipeline.errors import Finding
from pipeline.formats.kws.rttm import Rttm
from pipeline.formats.table import Array, Table, recode
from pipeline.metrics.kws import stwv
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols.base import Protocol, Reads, Reference
from pipeline.protocols.kws import detections
from pipeline.protocols.kws import refer as kws_refer
from pipeline.protocols.kws.conditions import BY_EXCERPT, in_namefile, own_excerpts, typed
from pipeline.protocols.kws.explain import aligned_rows
from pipeline.protocols.kws.named import OPENKWS13
from pipeline.protocols.kws.places import place_tally
from pipeline.protocols.kws.ranks import by_text, text_condition
from pipeline.protocols.kws.settings import KWSEVAL, PLAN_004, KwsSettings
from pipeline.protocols.kws.tiles import omitted_of_blocks, omitted_queries
from pipeline.protocols.settings import setting
from pipeline.trials.blocks import occurrences_of_blocks
from pipeline.trials.schema import Occurrences, Timeline, Trials
from pipeline.trials.segments import Segments, adapt_segments, find_segments, select_segments, target_segments


@dataclass(frozen=True)
class SegmentSettings(KwsSettings):
    """The settings of keyword search and what segments add.

    What counts seconds or maps occurrences plays no part: ``NO_PART``.
    """

    just_system_terms: bool = setting(
        False,
        "whether listed queries that the output has no block for are left out",
        source=f"{KWSEVAL} -j",
        only={"just_system_rule": ("apply",)},
    )
    just_system_rule: Literal["ignore", "apply"] = setting(
        "ignore", "whether just_system_terms is heeded, which the tool does not with -g", source=f"{KWSEVAL} -g"
    )

    segments_from: Literal["speaker", "speaker_or_segment"] = setting(
        "speaker",
        "records that are speech: SPEAKER, or SEGMENT where the transcript has no SPEAKER record at all",
        source=f"{KWSEVAL}; {PLAN_004} table C.2",
    )
    partial_records: Literal["drop", "clip"] = setting(
        "drop",
        "such a record that is not wholly inside an excerpt: no speech at all, or as far as it is",
        source=KWSEVAL,
    )
    crossing: Literal["drop", "extend", "merge"] = setting(
        "drop",
        "an occurrence across a border of segments: dropped (KWSEval), the border moved so that one speech segment "
        "holds it whole, or all segments that it touches made one",
        source=f"{KWSEVAL} KWSSegAlign; {PLAN_004} 5.2.1",
    )
    gap_rule: Literal["apply", "none"] = setting(
        "apply", "whether word_gap_s limits the gaps inside an occurrence", source=f"{KWSEVAL}; {PLAN_004} 3.2"
    )
    segment_decision: Literal["best", "any"] = setting(
        "best",
        "a segment's decision: that of its highest-scored detection (KWSEval), or YES if any detection in it says so",
        source=f"{KWSEVAL} KWSSegAlign; {PLAN_004} 5.2.1",
    )

    @property
    def submitted_only(self) -> bool:
        """Whether queries without a block of their own are left out."""
        return self.just_system_terms and self.just_system_rule == "apply"


NO_PART = (
    *("tolerance_s", "score_range", "score_range_floor", "ecf_filter", "trials_per_s", "trials_rule"),
    "namefile_detections",
)
"""Settings of keyword search that count seconds or map occurrences."""


def refer(protocol: Protocol, tables: Mapping[str, Any]) -> Reference[Occurrences, Timeline]:
    """ECF, transcript and query list → segments as the timeline's excerpts, target segments as its key, and facts."""
    settings: SegmentSettings = protocol.settings
    searched = replace(settings, word_gap_s=math.inf) if settings.gap_rule == "none" else settings
    found = kws_refer.refer(replace(protocol, settings=searched), tables)
    rttm: Rttm = tables["rttm"]
    excerpts = typed(found.timeline.excerpts, settings.source_type_of)
    segments = find_segments(excerpts, rttm, records=settings.segments_from, partial_records=settings.partial_records)
    if settings.crossing != "drop":
        segments = adapt_segments(excerpts, segments, found.key, crossing=settings.crossing)
    if settings.namefile:
        spans = segments.spans
        named = in_namefile(spans.files, spans.channels, settings.namefile)
        segments = select_segments(segments, named[spans.file, spans.channel])
    targets = target_segments(segments, found.key, rttm)
    findings = (*found.findings, *_findings(settings, found.key, targets, rttm))
    timeline = replace(found.timeline, excerpts=segments.spans)
    return replace(
        found, key=targets, timeline=timeline, facts=_facts(settings, found, segments), findings=tuple(findings)
    )


def _facts(settings: SegmentSettings, found: Reference[Occurrences, Timeline], segments: Segments) -> Any:
    """Facts whose trials are segments, their own ones for conditions that pick some."""
    held = own_excerpts(settings.condition, found.facts.selections, segments.spans)
    selections = []
    for selection in found.facts.selections:
        n_trials = len(segments)
        if selection.kind in BY_EXCERPT:
            n_trials = int(np.count_nonzero(held[selection.ledger]))
        selections.append(replace(selection, n_trials=float(n_trials), n_trials_exact=float(n_trials)))
    n_speech = int(np.count_nonzero(segments.speech))
    return replace(
        found.facts,
        n_trials=float(len(segments)),
        n_trials_exact=float(len(segments)),
        selections=tuple(selections),
        counts={**found.facts.counts, "n_segments": len(segments), "n_segments_speech": n_speech},
    )


def _parts(settings: KwsSettings, reference: Reference[Occurrences, Timeline]) -> dict[str, Bools]:
    """Segments of the conditions that pick some, by their names in a ledger."""
    return own_excerpts(settings.condition, reference.facts.selections, reference.timeline.excerpts)


def _findings(settings: SegmentSettings, occurrences: Occurrences, targets: Occurrences, rttm: Rttm) -> list[Finding]:
    findings = []
    kinds = set(rttm.records.text("kind"))
    if "SPEAKER" not in kinds and "SEGMENT" in kinds and settings.segments_from == "speaker":
        message = (
            "the transcript has SEGMENT records and no SPEAKER record: as in the organisers' tool every excerpt is one "
            "non-speech segment. Use segments_from=speaker_or_segment."
        )
        findings.append(Finding("no_speaker_records", message, "rttm"))
    if len(occurrences) and not len(targets):
        message = f"none of {len(occurrences)} occurrences lies in a segment. Compare names of recordings and channels."
        findings.append(Finding("no_target_segments", message, "rttm"))
    return findings


def align(
    protocol: Protocol, trials: Trials, targets: Occurrences, reference: Reference[Occurrences, Timeline]
) -> Labels:
    """The outcome of every detection, the segment it stands for, and the target segments that none stands for.

    A detection on the border of two target segments may stand for both: ``also_trial`` has it once more.
    """
    named, origin = occurrences_of_blocks(targets, trials)
    segments = reference.timeline.excerpts
    made = align_segments(trials, named, segments, deciding=protocol.settings.segment_decision)
    kept, chosen = made.aligned.kept, made.aligned.reference
    row = np.where(chosen >= 0, origin[chosen], -1) if len(named) else chosen
    again = np.flatnonzero(kept[1:] == kept[:-1]) + 1
    first = np.setdiff1d(np.arange(kept.size), again)
    outcome, target = outcomes_of(
        len(trials), Aligned(kept[first], row[first], made.aligned.omitted), made.decision[first], STOOD_FOR
    )
    outcome[~made.inside] = OUTSIDE_ECF
    segment = np.full(len(trials), -1, np.int32)
    segment[kept[first]] = made.segment[first]
    omitted, block = omitted_of_blocks(named, origin, made.aligned.omitted)
    more = {
        "segment": Column(TRIAL, segment),
        "also_trial": Column("also", kept[again].astype(np.int32), TRIAL),
        "also_target": Column("also", row[again].astype(np.int32), KEY),
        "also_segment": Column("also", made.segment[again].astype(np.int32)),
    }
    found = labelled(trials.offsets, targets.offsets, outcome, target, omitted, {**block, **more})
    return replace(found, offsets={**found.offsets, "also": np.searchsorted(kept[again], trials.offsets)})


@dataclass(frozen=True)
class _Standing:
    """The detections that stand for a segment, for each the segment and what is decided there."""

    aligned: Aligned
    segment: Ints
    decision: Bools

    @classmethod
    def of(cls, labels: Labels) -> _Standing:
        """As ``align`` found them."""
        once, also = labels.aligned(), labels["also_trial"].astype(np.int64)
        kept = np.concatenate([once.kept, also])
        row = np.concatenate([once.reference, labels["also_target"].astype(np.int64)])
        segment = np.concatenate([labels["segment"][once.kept], labels["also_segment"]])
        order = np.lexsort((row, kept))
        decision = np.isin(labels["outcome"][kept[order]], (HIT, FALSE_ALARM))
        return cls(Aligned(kept[order], row[order], once.omitted), segment[order], decision)


def explain(
    _protocol: Protocol,
    trials: Trials,
    labels: Labels,
    targets: Occurrences,
    _reference: Reference[Occurrences, Timeline],
) -> Table:
    """One row per segment with a detection, and per target segment without; see ``kws_explain.aligned_rows``."""
    made = _Standing.of(labels)
    return aligned_rows(trials, targets, made.aligned, made.decision)


def count(
    protocol: Protocol,
    trials: Trials,
    labels: Labels,
    targets: Occurrences,
    reference: Reference[Occurrences, Timeline],
) -> Outcomes:
    """The ledger of all queries, listed or not, in every condition, and counts of odd rows."""
    made, block = _Standing.of(labels), labels["omitted_block"]
    segments = reference.timeline.excerpts
    counted = {"all": np.ones(segments.file.size, np.bool_)}
    counted |= _parts(protocol.settings, reference)
    ledger, ranks = Ledger.zero(), by_text(trials)
    for name, held in counted.items():
        ledger = ledger + _ledger(trials, targets, made, block, name, held)
        if ranks is not None:
            ledger = ledger + _ledger(ranks, targets, made, block, text_condition(name), held)
    return Outcomes.of(ledger, _tally(trials, labels, reference.timeline))


def _ledger(
    trials: Trials, targets: Occurrences, made: _Standing, block: Array, condition: str, counted: Bools
) -> Ledger:
    """The ledger of the segments that ``counted`` marks."""
    aligned = made.aligned
    held = counted[made.segment]
    missed = counted[targets.row[aligned.omitted]]
    used, referred = np.unique(trials.query).tolist(), np.unique(targets.query).tolist()
    queries = tuple(sorted({*(trials.queries[q] for q in used), *(targets.queries[q] for q in referred)}))
    kept = aligned.kept[held]
    return Ledger.of(
        queries,
        recode(trials.queries, queries)[trials.query[kept]],
        trials.score[kept],
        made.decision[held],
        aligned.target[held],
        omitted_queries(targets, aligned.omitted[missed], block[missed], queries),
        condition,
    )


def _tally(trials: Trials, labels: Labels, timeline: Timeline) -> Tally:
    segments = timeline.excerpts
    places = np.zeros((len(segments.files) + 1, len(segments.channels) + 1), np.bool_)
    places[segments.file, segments.channel] = True
    file, channel = recode(trials.files, segments.files), recode(trials.channels, segments.channels)
    placed = places[file[trials.file], channel[trials.channel]]
    outside = int(np.count_nonzero(labels["outcome"] == OUTSIDE_ECF))
    return Tally({"outside_ecf": outside, **place_tally(trials, timeline.files, placed)})


SEGMENTS = replace(
    detections.DETECTIONS,
    name="segments",
    refer=refer,
    align=align,
    count=count,
    reads=Reads(
        (*detections.DERIVATION, "segments_from", "partial_records", "crossing", "gap_rule"),
        (*detections.CONCLUSION, "just_system_rule"),
        NO_PART,
    ),
    can=replace(detections.DETECTIONS.can, explain=explain),
)

_OFFICIAL = SegmentSettings(skip_undefined_p_fa=True, source_type_of="first")
OPENKWS13_SEGMENTS = replace(
    OPENKWS13,
    name="openkws13-segments",
    title="OpenKWS13 keyword search, inferred-segment scoring",
    family=SEGMENTS,
    settings=_OFFICIAL,
    measures=stwv.MEASURES,
    primary="stwv",
    leads=("max_stwv", "p_miss", "p_fa"),
)
"""KWSEval -g. ``skip_undefined_p_fa``: a query whose segments are all targets has no P_FA and is left out of the mean;
``source_type_of=first``: a file and channel has the source type of its first excerpt in the ECF.
``just_system_rule=ignore``: with -g the tool does not heed -j. Two of its faults are not taken over: with -N it dies,
here ``namefile`` works as elsewhere, and ``oov`` conditions tell queries apart (the tool puts all into IV)."""

OPENKWS13_SEGMENTS_PLAN = replace(
    OPENKWS13_SEGMENTS,
    mode="plan",
    settings=replace(
        _OFFICIAL,
        search="plan",
        gap_rule="none",
        segments_from="speaker_or_segment",
        crossing="extend",
        partial_records="clip",
        segment_decision="any",
        reject_all_point=True,
        noscore="cut",
        files="stdeval",
        duplicate_blocks="merge",
        repeated_groups="once",
        map_order="number",
        just_system_rule="apply",
    ),
)
"""The text of section 5.2. Against the tool: ``search=plan`` and ``gap_rule=none`` (3.2: rules 1-3 only),
``crossing=extend`` (segments are adapted to keywords; ``merge`` is the other reading), ``segment_decision=any`` (one
mid point is enough), ``segments_from=speaker_or_segment`` (table C.2), ``partial_records=clip``; ``noscore``,
``files``, ``duplicate_blocks``, ``repeated_groups`` and ``reject_all_point`` as in the plan mode of ``openkws13``."""

PROTOCOLS = (OPENKWS13_SEGMENTS, OPENKWS13_SEGMENTS_PLAN)
