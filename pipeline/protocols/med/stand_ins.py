"""What stands in for the reference that a participant has not: a target for every event of the trial index."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipeline.protocols.base import Protocol, StandIn

_OF_INDEX = frozenset({"missing_trials", "missing_threshold", "unknown_trial", "unknown_event", "no_trials"})


def stand_ins(_protocol: Protocol, tables: Mapping[str, Any]) -> dict[str, StandIn]:
    """Reference and, where the events of trials can be read off their names, trial index."""
    made: dict[str, StandIn] = {}
    trials = _trials(tables)
    if "index" not in tables and trials:
        rows = ((trial, trial, event) for trial, event in trials)
        made["index"] = StandIn(_csv(("TrialID", "ClipID", "EventID"), rows), _OF_INDEX)
    if "ref" not in tables and trials:
        first = {event: trial for trial, event in reversed(trials)}
        keyed = ((trial, "y" if first[event] == trial else "n") for trial, event in trials)
        made["ref"] = StandIn(_csv(("TrialID", "Targ"), keyed))
    return made


def _trials(tables: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Trials with their events: those of the index, or of the output where its events end the trials' names."""
    if "index" in tables:
        table = tables["index"].table
        return list(zip(table.text("TrialID"), table.text("EventID"), strict=True))
    if not {"detection", "threshold"} <= tables.keys():
        return []
    events = sorted(set(tables["threshold"].table.text("EventID")), key=len, reverse=True)
    found = []
    for trial in dict.fromkeys(tables["detection"].table.text("TrialID")):
        event = next((event for event in events if trial.endswith(event)), None)
        if event is None:
            return []
        found.append((trial, event))
    return found


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()
