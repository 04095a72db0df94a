"""Contents of a MED submission, by year, and what becomes of trials it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.arrays import Bools, Floats, Ints
from pipeline.errors import Finding, InputError, Problems
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.med.csv import MedTable
from pipeline.trials.clips import ClipIndex, ClipTrials, trials_of
from pipeline.trials.joined import Join


@dataclass(frozen=True)
class Demands:
    """The columns one year's tables must have, and the ranges of their values (F4DE DEVA/data/DEVAcli_pfs_*)."""

    detection: tuple[str, ...]
    threshold: tuple[str, ...]
    threshold_in_unit: bool = False
    times_not_negative: bool = False


_TIMES_13 = ("EAGTPT", "EMDTPT", "EBGMDTPT", "SEARCHMDTPT")
DEMANDS: Mapping[str, Demands] = {
    "none": Demands(("TrialID",), ("EventID",)),
    "med11": Demands(("Score",), ("DetectionThreshold", "DetectionTPT")),
    "med12": Demands(("Score",), ("DetectionThreshold", "DetectionTPT", "EAGTPT")),
    "med13": Demands(("Score",), ("DetectionThreshold", "DetectionTPT", *_TIMES_13), True, True),
    "med14": Demands(
        ("Score", "Rank"), ("DetectionThreshold", "RankThreshold", "DetectionTPT", *_TIMES_13), True, True
    ),
    "med15": Demands(("Rank",), ("DetectionTPT", "SEARCHMDTPT"), False, True),
}


def check_tables(settings: Any, detection: MedTable, threshold: MedTable) -> None:
    """Raise ``InputError`` with every demand of the year that the two tables miss."""
    demands = DEMANDS[settings.columns]
    found = list[Finding]()
    for table, names in ((detection, demands.detection), (threshold, demands.threshold)):
        problems = Problems(table.where)
        missing = [name for name in names if name not in table.names]
        if missing:
            what = f"the header has no column {', '.join(missing)} (it has {', '.join(table.names)})"
            problems.add("bad_header", 1, what, f"{settings.columns.upper()} asks for it.")
        found += problems.findings
    if settings.score_range == "unit":
        found += _outside(detection, "Score", 0.0, 1.0)
    if demands.threshold_in_unit:
        found += _outside(threshold, "DetectionThreshold", 0.0, 1.0)
    if demands.threshold_in_unit or demands.times_not_negative:
        found += _outside(threshold, "RankThreshold", 1.0, np.inf)
    if demands.times_not_negative:
        for name in ("DetectionTPT", *_TIMES_13):
            found += _outside(threshold, name, 0.0, np.inf)
    if found:
        raise InputError(found)


def _outside(table: MedTable, name: str, low: float, high: float) -> list[Finding]:
    if name not in table.names:
        return []
    problems = Problems(table.where)
    values = table.table[name]
    for row in np.flatnonzero((values < low) | (values > high)).tolist():
        bounds = f"{low:g} to {high:g}" if np.isfinite(high) else f"{low:g} or more"
        line = int(table.table["line"][row])
        problems.add("out_of_range", line, f"{name} is {values[row]:g} (allowed: {bounds})", "Write it on that scale.")
    return problems.findings


@dataclass(frozen=True)
class _ClipRows:
    """The rows of a detection table on the index: place (-1 where unknown), event (-1), score, decision."""

    place: Ints
    event: Ints
    score: Floats
    decision: Bools
    usable: Bools


def lay_out(settings: Any, tables: Mapping[str, Any], index: ClipIndex) -> tuple[ClipTrials, tuple[Finding, ...]]:
    """A submission as trials on the index, with its warnings.

    Raises ``InputError`` for tables that miss what their year asks for, for a submission that scores nothing, and
    under ``missing_trials=refuse`` for one that leaves out trials of an event it processes.
    """
    detection, threshold = tables["detection"], tables["threshold"]
    check_tables(settings, detection, threshold)
    notices = Notices(detection.where)
    limits, hours, listed = _declared(settings, threshold, index)
    rows = _rows(settings, detection, index, limits, listed)
    _note_unknown(detection, rows, index, notices)
    declared = listed | (np.bincount(rows.event[rows.place >= 0], minlength=len(index.events)) > 0)
    n_scored = np.bincount(rows.event[rows.usable], minlength=len(index.events))
    unusable = (rows.place >= 0) & ~rows.usable
    if not n_scored.any():
        _refuse_empty(detection, rows, index)
    if settings.missing_trials == "refuse":
        _refuse_missing(detection, index, rows, declared, limits if _needs_limit(settings) else np.zeros(limits.size))
    _note_missing(settings, index, n_scored, declared, unusable, notices)
    findings = (*notices.findings(), *_threshold_notices(settings, threshold, index))
    if settings.scored_by == "rank":
        findings += _tied_ranks(detection, rows)
    used = np.flatnonzero(rows.usable)
    trials = trials_of(
        index,
        rows.place[used],
        rows.score[used],
        rows.decision[used],
        detection.table["line"][used].astype(np.int64),
        {
            "submitted": declared if settings.missing_trials == "miss" else n_scored > 0,
            "threshold": limits,
            "hours": hours,
        },
    )
    return trials, (*detection.findings, *threshold.findings, *findings)


def _needs_limit(settings: Any) -> bool:
    return settings.decisions in ("threshold", "rank_threshold")


def _declared(settings: Any, threshold: MedTable, index: ClipIndex) -> tuple[Floats, Floats, Bools]:
    """Per event of the index: the limit of its decisions, hours of execution, and whether it has a row."""
    place = {event: at for at, event in enumerate(index.events)}
    limits, hours = np.full(len(place), np.nan), np.full(len(place), np.nan)
    listed = np.zeros(len(place), np.bool_)
    name = "RankThreshold" if settings.decisions == "rank_threshold" else "DetectionThreshold"
    for row, event in enumerate(threshold.table.text("EventID")):
        at = place.get(event)
        if at is None:
            continue
        listed[at] = True
        if settings.decisions in ("threshold", "rank_threshold") and name in threshold.names:
            limits[at] = threshold.table[name][row]
        if "DetectionTPT" in threshold.names and threshold.table["DetectionTPT"][row] >= 0:
            hours[at] = threshold.table["DetectionTPT"][row]
    if settings.decisions == "rank_limit":
        limits[:] = settings.rank_limit
    return limits, hours, listed


def _rows(settings: Any, detection: MedTable, index: ClipIndex, limits: Floats, listed: Bools) -> _ClipRows:
    table = detection.table
    position = {trial: at for at, trial in enumerate(index.trial_ids)}
    named = np.array([position.get(trial, -1) for trial in table.vocabularies["TrialID"]], np.int64)
    place = named[table["TrialID"]]
    event = np.where(place >= 0, np.searchsorted(index.first, place, side="right") - 1, -1).astype(np.int64)
    rank = settings.scored_by == "rank"
    if ("Rank" if rank else "Score") not in detection.names:
        raise InputError([Finding("bad_header", f"there is no column {'Rank' if rank else 'Score'}.", detection.where)])
    score = -table["Rank"] if rank else table["Score"]
    limit = np.append(limits, np.nan)[event]
    if settings.decisions == "file":
        if "Decision" not in detection.names:
            raise InputError([Finding("bad_header", "there is no column Decision.", detection.where)])
        decision = np.array([text == "y" for text in table.vocabularies["Decision"]], np.bool_)[table["Decision"]]
    else:
        decision = -score < limit if rank else score >= limit  # NaN decides no
    usable = place >= 0
    if _needs_limit(settings):
        usable = usable & np.append(listed, False)[event]
    return _ClipRows(place, event, score, decision, usable)


def _note_unknown(detection: MedTable, rows: _ClipRows, index: ClipIndex, notices: Notices) -> None:
    unknown = np.flatnonzero(rows.place < 0)
    if unknown.size:
        table = detection.table
        first = table.vocabularies["TrialID"][int(table["TrialID"][unknown[0]])]
        told = Join("the output", table.vocabularies["TrialID"], "the trial index", index.trial_ids).told()
        message = f"{told}. TrialID {quoted(first)} is not in the trial index; such rows are not scored"
        notices.add("unknown_trial", int(table["line"][unknown[0]]), message, unknown.size)


def _refuse_empty(detection: MedTable, rows: _ClipRows, index: ClipIndex) -> None:
    unknown = int(np.count_nonzero(rows.place < 0))
    what = f"no trial can be scored: {unknown} of {rows.place.size} rows name trials that the index lacks, "
    what += f"{rows.place.size - unknown} are of events without a threshold"
    told = Join("the output", detection.table.vocabularies["TrialID"], "the trial index", index.trial_ids).told()
    what += f": {told}." if unknown else "."
    mend = "Compare the spelling, case and blanks of TrialID and EventID."
    raise InputError([Finding("no_trials", f"{what} {mend}", detection.where)])


def _refuse_missing(detection: MedTable, index: ClipIndex, rows: _ClipRows, declared: Bools, limits: Floats) -> None:
    """Refuse an incomplete submission: leaving out a trial would take its target out of the count."""
    problems = Problems(detection.where)
    scored = np.zeros(len(index.trial_ids), np.bool_)
    scored[rows.place[rows.place >= 0]] = True
    policy = "Score every trial, or choose a policy: missing_trials=drop (as DEVA) or miss."
    for event in np.flatnonzero(declared).tolist():
        begin, end = int(index.first[event]), int(index.first[event + 1])
        missing = np.flatnonzero(~scored[begin:end])
        name = quoted(index.events[event])
        if missing.size:
            first = quoted(index.trial_ids[begin + int(missing[0])])
            what = f"{missing.size} of {end - begin} trials of event {name} are not scored (first {first})"
            problems.add("missing_trials", None, what, policy)
        if np.isnan(limits[event]):
            problems.add("missing_threshold", None, f"event {name} has trials and no threshold row", policy)
    problems.raise_if_any()


def _note_missing(
    settings: Any, index: ClipIndex, n_scored: Ints, declared: Bools, unusable: Bools, notices: Notices
) -> None:
    n_missing = int((np.diff(index.first) - n_scored)[declared].sum())
    how = "their targets count as misses" if settings.missing_trials == "miss" else "they are left out, targets too"
    notices.add("missing_trials", None, f"trials of processed events are not scored; {how}", n_missing)
    n = int(np.count_nonzero(unusable))
    notices.add("missing_threshold", None, "trials are of events without a threshold row; they are not scored", n)


def _threshold_notices(settings: Any, threshold: MedTable, index: ClipIndex) -> tuple[Finding, ...]:
    notices = Notices(threshold.where)
    events, join = set(index.events), Join("the output", threshold.table.text("EventID"), "the index", index.events)
    for event, line in zip(threshold.table.text("EventID"), threshold.table["line"].tolist(), strict=True):
        if event not in events:
            message = f"{join.told()}. Event {quoted(event)} is not in the trial index; the row has no effect"
            notices.add("unknown_event", line, message)
    if settings.decisions == "threshold" and settings.score_range == "unit":
        values = threshold.table["DetectionThreshold"]
        for row in np.flatnonzero((values < 0) | (values > 1)).tolist():
            line = int(threshold.table["line"][row])
            notices.add("threshold_out_of_range", line, f"DetectionThreshold is {values[row]:g}, no probability")
    return notices.findings()


def _tied_ranks(detection: MedTable, rows: _ClipRows) -> tuple[Finding, ...]:
    used = np.flatnonzero(rows.usable)
    order = used[np.lexsort((rows.score[used], rows.event[used]))]
    same = (rows.event[order][1:] == rows.event[order][:-1]) & (rows.score[order][1:] == rows.score[order][:-1])
    notices = Notices(detection.where)
    if same.any():
        row = int(order[1:][same].min())
        message = "a rank is given twice in one event; such trials are ties"
        notices.add("tied_ranks", int(detection.table["line"][row]), message, int(np.count_nonzero(same)))
    return notices.findings()
