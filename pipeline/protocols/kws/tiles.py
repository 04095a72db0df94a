"""Detections: which rows take part, what each of them is, and the ledger of every condition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.align.excerpts import Places, at_places, first_inside, inside_excerpts
from pipeline.align.labels import EXCLUDED, OMITTED, OUTSIDE_ECF, Column, Labels, labelled, outcomes_of
from pipeline.align.occurrences import align_occurrences
from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.table import Array, recode, used_codes, wide
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.kws.conditions import in_namefile, own_excerpts, typed
from pipeline.protocols.kws.places import place_tally
from pipeline.protocols.kws.ranks import by_text, text_condition
from pipeline.protocols.kws.settings import KwsSettings, lines_of, type_rule
from pipeline.trials.blocks import block_name, block_of, occurrences_of_blocks
from pipeline.trials.schema import Excerpts, Occurrences, Timeline, Trials


@dataclass(frozen=True)
class TileAlignment:
    """The rows that take part, and how they are mapped. Rows are of the trials and ``occurrences`` at hand."""

    aligned: Aligned
    occurrences: Occurrences
    """As aligned: once for each block of their query where blocks are searched one by one."""
    origin: Ints
    """For each of them its row among the occurrences as they were given."""
    inside: Bools
    """For each trial whether the excerpts hold it."""


def align_tile(
    protocol: Protocol, trials: Trials, occurrences: Occurrences, reference: Reference[Occurrences, Timeline]
) -> TileAlignment:
    """Filter and align by the protocol's settings."""
    settings, excerpts = protocol.settings, reference.timeline.excerpts
    occurrences, origin = occurrences_of_blocks(occurrences, trials)
    trial_rows, reference_rows = np.ones(len(trials), np.bool_), np.ones(len(occurrences), np.bool_)
    if settings.ecf_filter != "none":
        trial_rows = _trials_inside(settings, excerpts, trials)
        reference_rows = _occurrences_inside(settings, excerpts, occurrences)
    inside = trial_rows.copy()
    if settings.excluded_files:
        trial_rows &= _not_excluded(settings, trials)
        reference_rows &= _not_excluded(settings, occurrences)
    if settings.namefile:
        trial_rows &= _named_trials(settings, trials, occurrences)
        reference_rows &= _named(settings, occurrences)
    aligned = align_occurrences(
        trials,
        occurrences,
        tolerance_s=settings.tolerance_s,
        score_range=score_range_of(settings, trials),
        floor=settings.score_range_floor,
        trial_rows=trial_rows,
        reference_rows=reference_rows,
    )
    return TileAlignment(aligned, occurrences, origin, inside)


def align(
    protocol: Protocol, trials: Trials, occurrences: Occurrences, reference: Reference[Occurrences, Timeline]
) -> Labels:
    """The outcome of every detection, and the occurrences that none is mapped to."""
    made = align_tile(protocol, trials, occurrences, reference)
    outcome, reference_row = outcomes_of(len(trials), made.aligned, trials.decision[made.aligned.kept], EXCLUDED)
    outcome[~made.inside] = OUTSIDE_ECF
    target = np.where(reference_row >= 0, made.origin[reference_row], -1) if len(made.occurrences) else reference_row
    omitted, block = omitted_of_blocks(made.occurrences, made.origin, made.aligned.omitted)
    return labelled(trials.offsets, occurrences.offsets, outcome, target, omitted, block)


def omitted_of_blocks(occurrences: Occurrences, origin: Ints, omitted: Ints) -> tuple[Ints, dict[str, Column]]:
    """Omitted occurrences as rows of those that were given, ascending, with the block of the query that omits each."""
    blocks = np.array([block_of(name) for name in occurrences.queries], np.int32)
    row, block = origin[omitted], blocks[occurrences.query[omitted]]
    order = np.lexsort((block, row))
    return row[order], {"omitted_block": Column(OMITTED, block[order].astype(np.int32))}


def count(
    protocol: Protocol,
    trials: Trials,
    labels: Labels,
    occurrences: Occurrences,
    reference: Reference[Occurrences, Timeline],
) -> Outcomes:
    """The ledger of all queries, listed or not, in every condition, and counts of odd rows."""
    ledger = _ledgers(trials, labels, occurrences, "all", None)
    for key, held in _parts(protocol.settings, reference).items():
        part = _Part(protocol.settings, reference.timeline.excerpts, held)
        ledger = ledger + _ledgers(trials, labels, occurrences, key, part)
    return Outcomes.of(ledger, _tally(trials, labels, reference.timeline))


@dataclass(frozen=True)
class _Part:
    """Excerpts of one condition, and which rows are theirs."""

    settings: KwsSettings
    excerpts: Excerpts
    held: Bools

    def rows(self, trials: Trials, aligned: Aligned, occurrences: Occurrences) -> tuple[Bools, Bools]:
        """Which of the kept detections and of the omitted occurrences; a hit is where its occurrence is."""
        of_trials = self._of(trials, *_trial_span(self.settings, trials))[aligned.kept]
        of_occurrences = self._of(occurrences, *_occurrence_span(self.settings, occurrences))
        of_trials[aligned.target] = of_occurrences[aligned.reference[aligned.target]]
        return of_trials, of_occurrences[aligned.omitted]

    def _of(self, rows: Trials | Occurrences, begin_s: Floats, end_s: Floats) -> Bools:
        if type_rule(self.settings) != "excerpt":
            return _at_places(self.excerpts.take(self.held), rows)
        return first_inside(self.excerpts, self.held, Places.of(rows), begin_s, end_s)


def _ledgers(trials: Trials, labels: Labels, occurrences: Occurrences, condition: str, part: _Part | None) -> Ledger:
    """The ledger of a condition, and where scores are ranked as text the one of their ranks."""
    ledger = _ledger(trials, labels, occurrences, condition, part)
    ranks = by_text(trials)
    return ledger if ranks is None else ledger + _ledger(ranks, labels, occurrences, text_condition(condition), part)


def _ledger(trials: Trials, labels: Labels, occurrences: Occurrences, condition: str, part: _Part | None) -> Ledger:
    aligned, block = labels.aligned(), labels["omitted_block"]
    kept, target, omitted = aligned.kept, aligned.target, aligned.omitted
    if part is not None:
        held, missed = part.rows(trials, aligned, occurrences)
        kept, target = kept[held], target[held]
        omitted, block = omitted[missed], block[missed]
    used, referred = used_codes(trials.queries, trials.query), used_codes(occurrences.queries, occurrences.query)
    queries = tuple(sorted({trials.queries[q] for q in used} | {occurrences.queries[q] for q in referred}))
    whole = kept.size == len(trials)
    return Ledger.of(
        queries,
        _recoded(trials.query if whole else trials.query[kept], trials.queries, used, queries),
        trials.score if whole else trials.score[kept],
        trials.decision if whole else trials.decision[kept],
        target,
        omitted_queries(occurrences, omitted, block, queries),
        condition,
    )


def omitted_queries(occurrences: Occurrences, omitted: Ints, block: Array, queries: tuple[str, ...]) -> Codes:
    """For each omitted occurrence its query, or the later block of it that omits it, as codes of ``queries``."""
    codes = recode(occurrences.queries, queries)[occurrences.query[omitted]]
    for at in np.flatnonzero(block > 1).tolist():
        codes[at] = queries.index(block_name(queries[codes[at]], int(block[at])))
    return codes


def _recoded(query: Codes, names: tuple[str, ...], used: list[int], queries: tuple[str, ...]) -> Codes:
    """Codes of ``names``, of which some are used, as codes of ``queries``."""
    position = {name: code for code, name in enumerate(queries)}
    codes = np.full(len(names), -1, np.int32)
    codes[used] = [position[names[code]] for code in used]
    return codes[wide(query)]


def _tally(trials: Trials, labels: Labels, timeline: Timeline) -> Tally:
    """Rows that a participant should hear of, by what is odd about them."""
    return Tally(
        {
            "outside_ecf": int(np.count_nonzero(labels["outcome"] == OUTSIDE_ECF)),
            "identical": _n_identical(trials),
            **place_tally(trials, timeline.files, _at_places(timeline.excerpts, trials)),
        }
    )


def _n_identical(trials: Trials) -> int:
    """Rows that say the same as the one before, but for score and decision."""
    rows = np.flatnonzero(trials.begin_s[1:] == trials.begin_s[:-1])  # the column that tells most apart
    same = np.ones(rows.size, np.bool_)
    for column in (trials.query, trials.file, trials.channel, trials.dur_s):
        same &= column[rows + 1] == column[rows]
    return int(np.count_nonzero(same))


def score_range_of(settings: KwsSettings, trials: Trials) -> Any:
    """The range of scores for ScrCgr, as ``align_occurrences`` takes it."""
    if settings.score_range == "list":
        low, high = trials.score_range
        return (0.0, 0.0) if math.isnan(low) else (low, high)
    if settings.score_range == "group" and trials.header_range is not None:
        return trials.header_range
    return settings.score_range


def _parts(settings: KwsSettings, reference: Reference[Occurrences, Timeline]) -> Mapping[str, Bools]:
    """Excerpts of the conditions that pick some, by their names in a ledger."""
    excerpts = typed(reference.timeline.excerpts, type_rule(settings))
    return own_excerpts(settings.condition, reference.facts.selections, excerpts)


def _trials_inside(settings: KwsSettings, excerpts: Excerpts, trials: Trials) -> Bools:
    """Whether excerpts hold each trial by the rule of ``ecf_filter``."""
    return inside_excerpts(excerpts, Places.of(trials), *_trial_span(settings, trials))


def lost_occurrences(settings: KwsSettings, excerpts: Excerpts, occurrences: Occurrences) -> tuple[Bools, Bools]:
    """For each occurrence whether the excerpts have its recording and channel, and whether it counts for nothing: the
    filter drops it, or without one, no detection can be where it is.
    """
    there = _at_places(excerpts, occurrences)
    return there, ~there if settings.ecf_filter == "none" else ~_occurrences_inside(settings, excerpts, occurrences)


def _occurrences_inside(settings: KwsSettings, excerpts: Excerpts, occurrences: Occurrences) -> Bools:
    """Whether excerpts hold each occurrence by the rule of ``ecf_filter``."""
    return inside_excerpts(excerpts, Places.of(occurrences), *_occurrence_span(settings, occurrences))


def _trial_span(settings: KwsSettings, trials: Trials) -> tuple[Floats, Floats]:
    """Of each trial what must lie in an excerpt: begin and end."""
    if settings.ecf_filter == "midpoint":
        mid_s = trials.begin_s + trials.dur_s / 2.0
        return mid_s, mid_s
    return trials.begin_s, trials.begin_s + trials.dur_s


def _occurrence_span(settings: KwsSettings, occurrences: Occurrences) -> tuple[Floats, Floats]:
    """Of each occurrence what must lie in an excerpt: begin and end."""
    if settings.ecf_filter == "excerpt":
        return occurrences.begin_s, occurrences.first_end_s
    if settings.ecf_filter == "midpoint":
        mid_s = (occurrences.begin_s + occurrences.end_s) / 2.0
        return mid_s, mid_s
    return occurrences.begin_s, occurrences.end_s


def _at_places(excerpts: Excerpts, rows: Trials | Occurrences) -> Bools:
    """For each row whether an excerpt has its file and channel, wherever it begins and ends."""
    return at_places(_places(excerpts), excerpts, Places.of(rows))


@lru_cache(maxsize=32)
def _places(excerpts: Excerpts) -> Bools:
    """For each file and channel whether an excerpt has them, and False once more of each for unknown ones."""
    known = np.zeros((len(excerpts.files) + 1, len(excerpts.channels) + 1), np.bool_)
    known[excerpts.file, excerpts.channel] = True
    return known


def _not_excluded(settings: KwsSettings, rows: Trials | Occurrences) -> Bools:
    """For each row whether its recording is scored, whatever the ECF filters."""
    excluded = lines_of(settings.excluded_files)
    kept: Bools = np.array([name not in excluded for name in rows.files] + [True], np.bool_)[rows.file]
    return kept


def _named(settings: KwsSettings, rows: Trials | Occurrences) -> Bools:
    named: Bools = in_namefile(rows.files, rows.channels, settings.namefile)[rows.file, rows.channel]
    return named


def _named_trials(settings: KwsSettings, trials: Trials, occurrences: Occurrences) -> Bools:
    """Detections that ``namefile`` keeps. KWSEval drops others only where their query has an occurrence at all."""
    named = _named(settings, trials)
    if settings.namefile_detections == "all":
        return named
    n_files, n_channels = len(trials.files) + 1, len(trials.channels) + 1

    def group(rows: Trials | Occurrences) -> Ints:
        query = recode(rows.queries, trials.queries)[rows.query].astype(np.int64)
        file = recode(rows.files, trials.files)[rows.file]
        return (query * n_files + file) * n_channels + recode(rows.channels, trials.channels)[rows.channel]

    return named | ~np.isin(group(trials), group(occurrences))
