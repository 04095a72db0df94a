"""Why the clips of an event became what they are (MED)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipeline.align.identity import identify
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.disputes import OUTCOMES, UNSCORED, Decided, Dispute, yes_or_no
from pipeline.trials.clips import LEFT_OUT, NONTARGET, TARGET, UNKEYED, ClipKey, ClipTrials


def _clips(protocol: Protocol, trials: ClipTrials, key: ClipKey, reference: Reference, event: str) -> Iterator[Decided]:
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
            yield Decided(name, UNSCORED, "not_submitted", details, name)
        elif row is None:
            rule = {"refuse": "missing_refused", "drop": "missing_dropped", "miss": "missing_missed"}
            missed = settings.missing_trials == "miss" and label == TARGET
            yield Decided(name, "MISS" if missed else UNSCORED, rule[settings.missing_trials], details, name)
        else:
            details |= {"score": float(trials.score[row]), "decision": yes_or_no(bool(trials.decision[row]))}
            outcome, rule_ = OUTCOMES[kept[row], bool(trials.decision[row])] if row in kept else (UNSCORED, "left_out")
            yield Decided(name, outcome, "unkeyed" if label == UNKEYED else rule_, details, name)


def _events(_reference: Reference, _trials: ClipTrials, key: ClipKey) -> tuple[str, ...]:
    return tuple(key.events)


DISPUTE = Dispute(_clips, "event", _events)
