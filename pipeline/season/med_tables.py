"""Checks of the tables of a MED run that need no key: trials, events, ranges (F4DE's checks 10 to 16)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import InputError
from pipeline.formats import READERS
from pipeline.formats.findings import quoted
from pipeline.formats.med.threshold import TIMES
from pipeline.protocols import find
from pipeline.protocols.med.submission import check_tables
from pipeline.season.verdict import ERROR, NOTE, Remarks

_SHOWN = 5
FULL = 10
"""Events of MEDFull in 2011."""
_FULL_OF = {"PS": 20, "AH": 5}
"""Events of MEDFull in 2012, by task."""


def check(
    protocol: str,
    experiment: str,
    fields: Mapping[str, str],
    files: Mapping[str, Path],
    index: Path | None,
    remarks: Remarks,
) -> None:
    """Note everything wrong with one run's tables; ``files`` are detection and threshold."""
    tables = {}
    for role, path in files.items():
        try:
            with path.open("rb") as stream:
                tables[role] = READERS[f"med_{role}"](stream, f"{experiment}.{role}.csv")
        except InputError as error:
            remarks.take(ERROR, error.findings)
    for table in tables.values():
        remarks.take(NOTE, [finding for finding in table.findings if finding.code != "bad_time"])
    if len(tables) < len(files):
        return
    try:
        check_tables(find(protocol).settings, tables["detection"], tables["threshold"])
    except InputError as error:
        remarks.take(ERROR, error.findings)
    _check_values(tables["threshold"], remarks)
    if index is None:
        remarks.note("no_index", experiment, "there is no trial index here, so that no trial was compared with it")
        return
    with index.open("rb") as stream:
        trials = READERS["med_index"](stream, "the trial index")
    _check_trials(experiment, fields, tables, trials, remarks)


def _check_values(threshold: Any, remarks: Remarks) -> None:
    """Times must be hours of 0 or more, and thresholds probabilities: the official checker asks neither."""
    for name in (*TIMES, "DetectionThreshold"):
        if name not in threshold.names:
            continue
        values, lines = threshold.table[name], threshold.table["line"]
        high = 1.0 if name == "DetectionThreshold" else math.inf
        for row in np.flatnonzero(~((values >= 0) & (values <= high))).tolist():
            allowed = "0 to 1" if high == 1.0 else "hours, 0 or more"
            seen = "no number" if math.isnan(values[row]) else f"{values[row]:g}"
            where = f"{threshold.where}:{lines[row]}"
            remarks.error("out_of_range", where, f"{name} is {seen} (allowed: {allowed})", "Write the number itself.")


def _check_trials(
    experiment: str, fields: Mapping[str, str], tables: Mapping[str, Any], trials: Any, remarks: Remarks
) -> None:
    event_of = dict(zip(trials.table.text("TrialID"), trials.table.text("EventID"), strict=True))
    given = tables["detection"].table.text("TrialID")
    listed = tables["threshold"].table.text("EventID")
    known, declared = set(event_of.values()), set(listed)
    scored = [trial for trial in given if event_of.get(trial) in declared]
    events = {event_of[trial] for trial in scored}
    if not events:
        remarks.error("no_events", experiment, "no trial is of a known event with a threshold", "Compare the spelling.")
        return
    _check_full(experiment, fields, len(events), remarks)
    missing = sorted({trial for trial, event in event_of.items() if event in events} - set(given))
    if missing:
        what = f"{len(missing)} trials of submitted events are not scored ({_some(missing)})"
        remarks.error("missing_trials", experiment, what, "Score every trial of an event.")
    unknown = sorted(set(given) - set(scored))
    if unknown:
        what = f"{len(unknown)} trials are not in the index, or of events without a threshold ({_some(unknown)})"
        remarks.error("unknown_trial", experiment, what, "Remove them, or add the thresholds.")
    idle = sorted(declared - events)
    if idle:
        why = "unknown, or without a scored trial" if set(idle) - known else "without a scored trial"
        what = f"{len(idle)} threshold rows are of events that are {why} ({_some(idle)})"
        remarks.error("unknown_event", experiment, what, "Remove the rows.")


def _check_full(experiment: str, fields: Mapping[str, str], n_events: int, remarks: Remarks) -> None:
    """MEDFull is all events, MEDPart fewer: they have boards of their own."""
    kind, data = fields.get("medtype"), fields.get("data", "")
    dry = data.endswith("DRYRUN")
    full = FULL if "task" not in fields else FULL if dry else _FULL_OF[fields["task"]]
    if kind == "MEDFull" and n_events < full:
        what = f"the run says MEDFull and has {n_events} events (allowed: {full} or more)"
        note = remarks.warning if dry else remarks.error
        note("not_full", experiment, what, "Call it MEDPart.")
    if kind == "MEDPart" and n_events >= full:
        what = f"the run says MEDPart and has {n_events} events (allowed: 1 to {full - 1})"
        remarks.error("not_part", experiment, what, "Call it MEDFull.")


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names[:_SHOWN])) + (" …" if len(names) > _SHOWN else "")
