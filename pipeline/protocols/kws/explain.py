"""Outcomes of every detection and occurrence of a cell: the rows of KWSEval's ``alignment.csv``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.align.labels import Labels
from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.table import Array, Table, recode
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.kws.settings import lines_of
from pipeline.terms import Facts
from pipeline.trials.blocks import query_of
from pipeline.trials.schema import Occurrences, Timeline, Trials

OUTCOMES = ("CORR", "MISS", "FA", "CORR!DET")
CORR, MISS, FA, CORRECT_REJECTION = range(len(OUTCOMES))


def explain(
    _protocol: Protocol,
    trials: Trials,
    labels: Labels,
    occurrences: Occurrences,
    _reference: Reference[Occurrences, Timeline],
) -> Table:
    """One row per kept detection, and per occurrence that none is mapped to; see ``aligned_rows``."""
    aligned = labels.aligned()
    return aligned_rows(trials, occurrences, aligned, trials.decision[aligned.kept])


def aligned_rows(trials: Trials, targets: Occurrences, aligned: Aligned, decision: Bools) -> Table:
    """Columns query*, file*, channel*, outcome* (``OUTCOMES``), ref_begin_s, ref_end_s, begin_s, end_s and score (NaN
    where there is no such side), decision (False without a detection).

    A detection that is mapped is CORR if its decision is YES, else MISS; one that is not is FA or CORR!DET. A target
    without a detection is a MISS. ``decision`` holds one element per kept row.
    """
    kept, mapped = aligned.kept, aligned.target
    target = np.concatenate([aligned.reference, aligned.omitted])
    has_target, has_trial = target >= 0, np.arange(target.size) < kept.size
    trial = np.concatenate([kept, np.full(aligned.omitted.size, -1)])
    outcome = np.where(mapped, np.where(decision, CORR, MISS), np.where(decision, FA, CORRECT_REJECTION))
    columns: dict[str, Array] = {
        "outcome": np.concatenate([outcome, np.full(aligned.omitted.size, MISS)]).astype(np.int32),
        "ref_begin_s": _taken(targets.begin_s, target, has_target),
        "ref_end_s": _taken(targets.end_s, target, has_target),
        "begin_s": _taken(trials.begin_s, trial, has_trial),
        "end_s": _taken(trials.begin_s + trials.dur_s, trial, has_trial),
        "score": _taken(trials.score, trial, has_trial),
        "decision": np.concatenate([decision, np.zeros(aligned.omitted.size, np.bool_)]),
    }
    vocabularies: dict[str, tuple[str, ...]] = {"outcome": OUTCOMES}
    for name, plural in (("query", "queries"), ("file", "files"), ("channel", "channels")):
        vocabularies[name], columns[name] = _joint(
            (getattr(trials, plural), getattr(trials, name), trial),
            (getattr(targets, plural), getattr(targets, name), target),
            has_trial,
            blocks=name == "query",
        )
    return Table(columns, vocabularies)


def listed(settings: Any, facts: Facts, survey: Mapping[str, Any]) -> tuple[str, ...]:
    """The queries of the list that are scored: all that are not withdrawn, or those of them that the output has a block
    for (``just_system_terms``)."""
    gone = withdrawn(settings)
    kept = tuple(query for query in facts.queries if query not in gone)
    if not settings.submitted_only:
        return kept
    submitted = {query_of(name) for name in survey.get("oov_count", {})}
    return tuple(query for query in kept if query in submitted)


def withdrawn(settings: Any) -> set[str]:
    """The names that the setting ``withdrawn`` lists."""
    return set(lines_of(settings.withdrawn))


def _taken(values: Floats, rows: Ints, present: Bools) -> Floats:
    """``values[rows]`` where ``present``, NaN elsewhere."""
    taken = np.full(rows.size, np.nan)
    taken[present] = values[rows[present]]
    return taken


Side = tuple[tuple[str, ...], Codes, Ints]


def _joint(trials: Side, targets: Side, has_trial: Bools, *, blocks: bool) -> tuple[tuple[str, ...], Codes]:
    """One text column of both sides: sorted names and codes; names of later blocks are their query's."""
    named = [tuple(map(query_of, side[0])) if blocks else side[0] for side in (trials, targets)]
    names = tuple(sorted({*named[0], *named[1]}))
    codes = np.empty(has_trial.size, np.int32)
    for own, (_, column, rows), present in zip(named, (trials, targets), (has_trial, ~has_trial), strict=True):
        codes[present] = recode(own, names)[column[rows[present]]]
    return names, codes
