"""What became of single trials where trials are not detections in time: documents, clips, segments, words, and why.

Nothing is decided here: outcomes are the aligners' own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pipeline.align.documents import align_documents
from pipeline.align.identity import identify
from pipeline.align.token_graph import gap_cost, pair_cost
from pipeline.align.tokens import FORGIVEN_OUTPUT, FORGIVEN_REFERENCE, align_tokens
from pipeline.formats.lre_names import OOS, REMOVED
from pipeline.metrics.multiclass import log_posterior
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.lre import class_of_label, given_classes
from pipeline.protocols.stt_family import rules_of
from pipeline.protocols.stt_tables import LETTERS
from pipeline.trials.clips import LEFT_OUT, NONTARGET, TARGET, UNKEYED, ClipKey, ClipTrials
from pipeline.trials.documents import DocumentKey
from pipeline.trials.schema import Trials
from pipeline.trials.score_matrix import ScoreMatrix, SegmentLabels
from pipeline.trials.token_schema import MARKED, SCORED, Segments, Words

RULES: Mapping[str, str] = {
    "target_yes": "the key has it and the system said YES: a hit",
    "target_no": "the key has it and the system said NO: a miss; its score counts all the same",
    "nontarget_yes": "the key does not have it and the system said YES: a false alarm",
    "nontarget_no": "the key does not have it and the system said NO",
    "no_score": "the output has no row for it: it takes the default score (setting censor) and counts as NO",
    "no_targets": "the query has no target: none of its trials enters a figure",
    "unlisted": "the list of queries does not have it: it is not scored",
    "not_submitted": "the system did not process the event: nothing of it is scored",
    "missing_refused": "the output has no row for it: such a submission is refused (missing_trials)",
    "missing_dropped": "the output has no row for it: it is left out of every figure (missing_trials=drop)",
    "missing_missed": "the output has no row for it: a target counts as a miss (missing_trials=miss)",
    "unkeyed": "the key does not name it: unkeyed_trials says what it counts as",
    "left_out": "it is not among the trials that are scored",
    "largest": "the class with the largest log-likelihood is decided (flat prior; of equal ones the first)",
    "no_class": "its label is of no class of this task: it enters no figure",
    "cheapest": "of all alignments the cheapest; where costs tie a substitution or match wins, then an insertion "
    "unless a deletion is cheaper",
    "segment_ignored": "the reference marks the segment as not to be scored: its words count nowhere",
    "segment_untimed": "the segment has no times: it is not scored",
}
"""Every rule that can decide, in words."""
_YES_NO = {(True, True): ("CORR", "target_yes"), (True, False): ("MISS", "target_no"),
           (False, True): ("FA", "nontarget_yes"), (False, False): ("CORR!DET", "nontarget_no")}  # fmt: skip
_UNSCORED = "not scored"


@dataclass(frozen=True)
class Decided:
    """One trial, what became of it and why."""

    trial: str
    """Its name, such as a document, a clip, a segment."""
    outcome: str
    rule: str
    details: Mapping[str, Any] = field(default_factory=dict)
    """What was decided from: scores, threshold, label, steps."""
    file: str = ""
    """Where a recording is named: that, else the trial itself."""
    begin_s: float = math.nan
    end_s: float = math.nan
    """Seconds in the recording; NaN where times play no part."""

    @property
    def why(self) -> str:
        """The rule in words."""
        return RULES[self.rule]


def documents(
    protocol: Protocol, trials: Trials, key: DocumentKey, reference: Reference, query: str
) -> Iterator[Decided]:
    """Every document for one query (QUESST)."""
    own = [at for at, code in enumerate(trials.query.tolist()) if trials.queries[code] == query]
    rows = {trials.files[trials.file[at]]: at for at in own}
    aligned, pairs = align_documents(trials, key), list(zip(key.query.tolist(), key.file.tolist(), strict=True))
    mapped = aligned.reference[aligned.reference >= 0].tolist()
    named = [pairs[row] for row in (*mapped, *aligned.omitted.tolist())]
    wanted = {key.files[file] for code, file in named if key.queries[code] == query}
    for document in sorted({*key.files, *rows}):
        at = rows.get(document)
        details: dict[str, Any] = {"target": document in wanted}
        if at is not None:
            details |= {"score": float(trials.score[at]), "decision": _word(bool(trials.decision[at]))}
        outcome, rule = _YES_NO[document in wanted, at is not None and bool(trials.decision[at])]
        if query not in reference.facts.queries:
            outcome, rule = _UNSCORED, "unlisted"
        elif document not in key.files:
            outcome, rule = _UNSCORED, "left_out"
        elif not wanted:
            outcome, rule = _UNSCORED, "no_targets"
        elif at is None:
            rule, details = "no_score", {**details, "censor": protocol.settings.censor}
        yield Decided(document, outcome, rule, details, document)


def events(protocol: Protocol, trials: ClipTrials, key: ClipKey, reference: Reference, event: str) -> Iterator[Decided]:
    """Every clip for one event (MED)."""
    index, settings = reference.timeline, protocol.settings
    at_index, at = index.events.index(event), key.events.index(event)
    names = index.trial_ids[int(index.first[at_index]) : int(index.first[at_index + 1])]
    begin = int(key.first[at])
    found = identify(trials, key, keep_unkeyed=settings.unkeyed_trials == "nontarget")
    kept = dict(zip(found.kept.tolist(), found.target.tolist(), strict=True))
    place = key.first[trials.event] + trials.item
    rows = {int(where): row for row, where in enumerate(place.tolist())}
    for where, name in enumerate(names, begin):
        label, row = int(key.label[where]), rows.get(where)
        details: dict[str, Any] = {
            "judgement": {TARGET: "target", NONTARGET: "non-target", UNKEYED: "none", LEFT_OUT: "left out"}[label],
            "sets": [
                "all",
                *(set_ for set_, member in zip(key.conditions, key.member[:, where], strict=True) if member),
            ],
            "threshold": float(trials.threshold[at]),
        }
        if not trials.submitted[at]:
            yield Decided(name, _UNSCORED, "not_submitted", details, name)
        elif row is None:
            rule = {"refuse": "missing_refused", "drop": "missing_dropped", "miss": "missing_missed"}
            missed = settings.missing_trials == "miss" and label == TARGET
            yield Decided(name, "MISS" if missed else _UNSCORED, rule[settings.missing_trials], details, name)
        else:
            details |= {"score": float(trials.score[row]), "decision": _word(bool(trials.decision[row]))}
            outcome, rule_ = _YES_NO[kept[row], bool(trials.decision[row])] if row in kept else (_UNSCORED, "left_out")
            yield Decided(name, outcome, "unkeyed" if label == UNKEYED else rule_, details, name)


def language(
    protocol: Protocol, trials: ScoreMatrix, key: SegmentLabels, _reference: Reference, segment: str
) -> Iterator[Decided]:
    """One segment: its label, the posteriors of all classes, and which is decided (LRE)."""
    at = trials.segments.index(segment)
    label, classes = key.labels[key.label[at]], trials.classes
    truth = class_of_label(protocol.settings, trials.task).get(label)
    given = [name for name in given_classes(trials.task, trials.chosen_set) if name in classes]
    llh = trials.scores[[at]][:, [classes.index(name) for name in given]]
    posterior = np.exp(log_posterior(llh, [1.0 / len(given)] * len(given)))[0]
    decided = given[int(llh[0].argmax())]
    details = {
        "label": label,
        "class": truth or "none",
        "decided": decided,
        "log_likelihoods": dict(zip(given, llh[0].tolist(), strict=True)),
        "posteriors": dict(zip(given, posterior.tolist(), strict=True)),
    }
    if truth is None or truth not in given:
        removed = {REMOVED: "removed from the test", OOS: "out of the closed set"}
        yield Decided(
            segment, _UNSCORED, "no_class", {**details, "why_none": removed.get(label, "other task")}, segment
        )
        return
    details["cost_nats"] = -math.log(posterior[given.index(truth)]) if posterior[given.index(truth)] else math.inf
    yield Decided(segment, "right" if decided == truth else "wrong", "largest", details, segment)


def tokens(
    protocol: Protocol, words: Words, segments: Segments, reference: Reference, recording: str
) -> Iterator[Decided]:
    """Every segment of a recording with its steps and what each costs (STT)."""
    settings = protocol.settings
    rules = rules_of(protocol)
    aligned = align_tokens(words, segments, rules, reference.timeline, segment_end=settings.segment_end)
    for row in range(len(segments)):
        file, channel = segments.files[segments.file[row]], segments.channels[segments.channel[row]]
        if file != recording:
            continue
        speaker = segments.speakers[segments.speaker[row]]
        named = (f"{file} {channel} {speaker}", float(segments.begin_s[row]), float(segments.end_s[row]))
        state = int(segments.state[row])
        if state != SCORED:
            rule = "segment_ignored" if state == MARKED else "segment_untimed"
            yield Decided(named[0], _UNSCORED, rule, {}, channel, *named[1:])
            continue
        steps = [_step(aligned, at) for at in np.flatnonzero(aligned.segment == row).tolist()]
        counts = {letter: sum(step[0] == letter for step in steps) for letter in "CSDI"}
        outcome = ", ".join(f"{n} {letter}" for letter, n in counts.items())
        details = {"cost": math.fsum(step[-1] for step in steps), "steps": steps}
        yield Decided(named[0], outcome, "cheapest", details, channel, *named[1:])


def _step(aligned: Any, at: int) -> list[Any]:
    """Letter, reference, output, confidence, cost; a forgiven side is the empty string, an absent one None."""
    kind, ref, out = int(aligned.step[at]), int(aligned.reference[at]), int(aligned.output[at])
    both = ref >= 0 and out >= 0
    token = aligned.vocabulary
    cost = pair_cost(token[ref], token[out]) if both else gap_cost(token[ref if ref >= 0 else out])
    confidence = float(aligned.confidence[at])
    return [
        LETTERS[kind],
        token[ref].shown if ref >= 0 else "" if kind == FORGIVEN_OUTPUT else None,
        token[out].shown if out >= 0 else "" if kind == FORGIVEN_REFERENCE else None,
        None if math.isnan(confidence) else confidence,
        cost,
    ]


def _word(decision: bool) -> str:
    return "YES" if decision else "NO"
