"""One tile of detections: which rows take part, their alignment, and the ledger of every condition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.align.excerpts import at_places, first_inside, inside_excerpts
from pipeline.align.occurrences import align_occurrences
from pipeline.formats.table import recode, used_codes, wide
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.kws_conditions import excerpts_where, in_namefile, own_excerpts, typed
from pipeline.protocols.kws_ranks import by_text, text_condition
from pipeline.protocols.kws_settings import KwsSettings, lines_of, type_rule
from pipeline.store.address import digest_columns
from pipeline.trials.blocks import occurrences_of_blocks
from pipeline.trials.schema import Bools, Codes, Excerpts, Floats, Ints, Occurrences, Timeline, Trials


@dataclass(frozen=True)
class TileAlignment:
    """The rows of a tile that take part, and how they are mapped. Rows are of the tile's own trials and occurrences."""

    aligned: Aligned
    occurrences: Occurrences
    """As aligned: once for each block of their query where blocks are searched one by one."""
    inside: Bools
    """For each trial whether the excerpts hold it."""


def align_tile(protocol: Protocol, trials: Trials, occurrences: Occurrences, reference: Reference) -> TileAlignment:
    """Filter and align one tile by the protocol's settings."""
    settings, excerpts = protocol.settings, reference.timeline.excerpts
    occurrences = occurrences_of_blocks(occurrences, trials)
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
    return TileAlignment(aligned, occurrences, inside)


def tile(protocol: Protocol, trials: Trials, occurrences: Occurrences, reference: Reference) -> Outcomes:
    """Align one tile: the ledger of all its queries, listed or not, in every condition, and counts of odd rows."""
    made = align_tile(protocol, trials, occurrences, reference)
    ledger = _ledgers(trials, made, "all", None)
    for key, held in _parts(protocol.settings, reference).items():
        part = _Part(protocol.settings, reference.timeline.excerpts, held)
        ledger = ledger + _ledgers(trials, made, key, part)
    return Outcomes.of(ledger, _tally(trials, made, reference.timeline))


@dataclass(frozen=True)
class _Part:
    """Excerpts of one condition, and which rows are theirs."""

    settings: KwsSettings
    excerpts: Excerpts
    held: Bools

    def rows(self, trials: Trials, made: TileAlignment) -> tuple[Bools, Bools]:
        """Which of the kept detections and of the omitted occurrences; a hit is where its occurrence is."""
        aligned, occurrences = made.aligned, made.occurrences
        of_trials = self._of(trials, *_trial_span(self.settings, trials))[aligned.kept]
        of_occurrences = self._of(occurrences, *_occurrence_span(self.settings, occurrences))
        of_trials[aligned.target] = of_occurrences[aligned.reference[aligned.target]]
        return of_trials, of_occurrences[aligned.omitted]

    def _of(self, rows: Trials | Occurrences, begin_s: Floats, end_s: Floats) -> Bools:
        if type_rule(self.settings) != "excerpt":
            return _at_places(excerpts_where(self.excerpts, self.held), rows)
        place = (rows.files, rows.channels, rows.file, rows.channel)
        return first_inside(self.excerpts, self.held, *place, begin_s, end_s)


def _ledgers(trials: Trials, made: TileAlignment, condition: str, part: _Part | None) -> Ledger:
    """The ledger of a condition, and where scores are ranked as text the one of their ranks."""
    ledger = _ledger(trials, made, condition, part)
    ranks = by_text(trials)
    return ledger if ranks is None else ledger + _ledger(ranks, made, text_condition(condition), part)


def _ledger(trials: Trials, made: TileAlignment, condition: str, part: _Part | None) -> Ledger:
    aligned, occurrences = made.aligned, made.occurrences
    kept, target, omitted = aligned.kept, aligned.target, aligned.omitted
    if part is not None:
        held, missed = part.rows(trials, made)
        kept, target, omitted = kept[held], target[held], omitted[missed]
    used, referred = used_codes(trials.queries, trials.query), used_codes(occurrences.queries, occurrences.query)
    queries = tuple(sorted({trials.queries[q] for q in used} | {occurrences.queries[q] for q in referred}))
    whole = kept.size == len(trials)
    return Ledger.of(
        queries,
        _recoded(trials.query if whole else trials.query[kept], trials.queries, used, queries),
        trials.score if whole else trials.score[kept],
        trials.decision if whole else trials.decision[kept],
        target,
        _recoded(occurrences.query[omitted], occurrences.queries, referred, queries),
        condition,
    )


def _recoded(query: Codes, names: tuple[str, ...], used: list[int], queries: tuple[str, ...]) -> Codes:
    """Codes of ``names``, of which some are used, as codes of ``queries``."""
    position = {name: code for code, name in enumerate(queries)}
    codes = np.full(len(names), -1, np.int32)
    codes[used] = [position[names[code]] for code in used]
    return codes[wide(query)]


def _tally(trials: Trials, made: TileAlignment, timeline: Timeline) -> Tally:
    """Rows that a participant should hear of, by what is odd about them."""
    known_files = recode(trials.files, timeline.files)[:-1] >= 0
    known = np.ones(len(trials), np.bool_) if known_files.all() else known_files[wide(trials.file)]
    places = _at_places(timeline.excerpts, trials)
    return Tally(
        {
            "outside_ecf": len(trials) - int(np.count_nonzero(made.inside)),
            "unknown_file": int(np.count_nonzero(~known)),
            "unknown_channel": int(np.count_nonzero(known & ~places)),
            "identical": _n_identical(trials),
        }
    )


def _n_identical(trials: Trials) -> int:
    """Rows that say the same as the one before, but for score and decision."""
    rows = np.flatnonzero(trials.begin_s[1:] == trials.begin_s[:-1])  # the column that tells most apart
    same = np.ones(rows.size, np.bool_)
    for column in (trials.query, trials.file, trials.channel, trials.dur_s):
        same &= column[rows + 1] == column[rows]
    return int(np.count_nonzero(same))


def tile_parts(protocol: Protocol, trials: Trials, reference: Reference) -> dict[str, Any]:
    """Settings and outside facts that a tile's ledger depends on."""
    settings = protocol.settings
    score_range = score_range_of(settings, trials)
    conditions = _parts(settings, reference)
    filtered = settings.ecf_filter != "none" or bool(conditions)
    return {
        "tolerance_s": settings.tolerance_s,
        "score_range": list(score_range) if isinstance(score_range, tuple) else score_range,
        "score_range_floor": settings.score_range_floor,
        "ecf_filter": settings.ecf_filter,
        "excerpts": _excerpts_digest(reference.timeline.excerpts, places_only=not filtered),
        "conditions": {name: digest_columns({"held": held}) for name, held in conditions.items()},
        **({"source_type_of": type_rule(settings)} if conditions else {}),
        "namefile": [settings.namefile, settings.namefile_detections] if settings.namefile else [],
        **({"excluded_files": settings.excluded_files} if settings.excluded_files else {}),
    }


@lru_cache(maxsize=32)
def _excerpts_digest(excerpts: Excerpts, *, places_only: bool) -> str:
    """Excerpts by what tiles read of them: names of files and channels at least."""
    columns: dict[str, Any] = {"files": excerpts.files, "channels": excerpts.channels}
    if places_only:
        places = excerpts.file.astype(np.int64) * len(excerpts.channels) + excerpts.channel
        return digest_columns({**columns, "places": np.unique(places)})
    names = ("file", "channel", "begin_s", "end_s", "source_type")
    return digest_columns({**columns, **{name: getattr(excerpts, name) for name in names}})


def score_range_of(settings: KwsSettings, trials: Trials) -> Any:
    """What ScrCgr measures scores against, as ``align_occurrences`` takes it."""
    if settings.score_range == "list":
        low, high = trials.score_range
        return (0.0, 0.0) if math.isnan(low) else (low, high)
    if settings.score_range == "group" and trials.header_range is not None:
        return trials.header_range
    return settings.score_range


def _parts(settings: KwsSettings, reference: Reference) -> Mapping[str, Bools]:
    """Excerpts of the conditions that pick some, by their names in a ledger."""
    excerpts = typed(reference.timeline.excerpts, type_rule(settings))
    return own_excerpts(settings.condition, reference.facts.selections, excerpts)


def _trials_inside(settings: KwsSettings, excerpts: Excerpts, trials: Trials) -> Bools:
    """Whether excerpts hold each trial by the rule of ``ecf_filter``."""
    place = (trials.files, trials.channels, trials.file, trials.channel)
    return inside_excerpts(excerpts, *place, *_trial_span(settings, trials))


def _occurrences_inside(settings: KwsSettings, excerpts: Excerpts, occurrences: Occurrences) -> Bools:
    """The same for occurrences."""
    place = (occurrences.files, occurrences.channels, occurrences.file, occurrences.channel)
    return inside_excerpts(excerpts, *place, *_occurrence_span(settings, occurrences))


def _trial_span(settings: KwsSettings, trials: Trials) -> tuple[Floats, Floats]:
    """Of each trial what must lie in an excerpt: begin and end."""
    if settings.ecf_filter == "midpoint":
        mid_s = trials.begin_s + trials.dur_s / 2.0
        return mid_s, mid_s
    return trials.begin_s, trials.begin_s + trials.dur_s


def _occurrence_span(settings: KwsSettings, occurrences: Occurrences) -> tuple[Floats, Floats]:
    """The same for occurrences."""
    if settings.ecf_filter == "excerpt":
        return occurrences.begin_s, occurrences.first_end_s
    if settings.ecf_filter == "midpoint":
        mid_s = (occurrences.begin_s + occurrences.end_s) / 2.0
        return mid_s, mid_s
    return occurrences.begin_s, occurrences.end_s


def _at_places(excerpts: Excerpts, rows: Trials | Occurrences) -> Bools:
    """For each row whether an excerpt has its file and channel, wherever it begins and ends."""
    return at_places(_places(excerpts), excerpts, (rows.files, rows.channels), rows.file, rows.channel)


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
