"""Which detections may be mapped to which references, found without listing the pairs.

Within one query, file and channel the detections allowed for a reference are those whose mid point lies in one closed
interval. Sorted by mid point they are a stretch of the candidates, and memory grows with rows, not with pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pipeline.align.mapping.congruence import (
    Range,
    range_of_codes,
    range_of_runs,
    score_congruence,
    time_congruence,
    weight,
)
from pipeline.align.mapping.grouped import positions_within, run_starts
from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.errors import UsageError
from pipeline.formats.table import recode, wide
from pipeline.trials.schema import Occurrences, Trials

ScoreRange = str | tuple[float, float]
"""``"group"``, ``"keyword"``, or the lowest and highest score."""
_ROWS_AT_ONCE = 1 << 16
_PLACES = 1 << 20


@dataclass(frozen=True)
class Candidates:
    """Detections with a reference in reach and references with a detection in reach, both in an order of contents.

    ``trial`` and ``occurrence`` are rows of the tile. Detections are sorted by (group, mid point, …), references by
    (group, begin, end); reference i may be mapped to detections ``first[i]`` up to ``last[i]`` (exclusive), at least
    one. ``rank`` orders detections where weights are tied: the higher is preferred, equal ones are interchangeable.
    """

    trial: Ints
    begin_s: Floats
    end_s: Floats
    congruence: Floats
    rank: Ints
    occurrence: Ints
    reference_begin_s: Floats
    reference_end_s: Floats
    first: Ints
    last: Ints

    def weight(self, reference: Ints, detection: Ints) -> Ints:
        """The weights of pairs (reference, detection), in steps of 2**-60."""
        time = time_congruence(
            self.begin_s[detection],
            self.end_s[detection],
            self.reference_begin_s[reference],
            self.reference_end_s[reference],
        )
        return weight(time, self.congruence[detection])

    def only(self, references: Ints | Bools) -> Candidates:
        """Some of the references and all detections."""
        columns = ("occurrence", "reference_begin_s", "reference_end_s", "first", "last")
        return replace(self, **{name: getattr(self, name)[references] for name in columns})


def find_candidates(
    trials: Trials,
    references: Occurrences,
    *,
    trial_kept: Bools,
    reference_kept: Bools,
    tolerance_s: float,
    score_range: ScoreRange,
    floor: float,
) -> Candidates:
    """Everything that can be mapped in a tile, of the rows kept. Arguments as in ``align_occurrences``."""
    occurrence, wanted = sorted_references(references, trials, reference_kept)
    trial = rows_near_groups(trials, trial_kept, wanted)
    group = trial_groups(trials, trial)
    order = np.lexsort((_middle(trials, trial), group))
    trial, group = trial[order], group[order]
    first, last = _reach(_middle(trials, trial), group, references, occurrence, wanted, tolerance_s)
    reached = first < last
    occurrence, first, last = occurrence[reached], first[reached], last[reached]
    touched = covered(first, last, trial.size)
    lowest, highest = _score_bounds(trials, trial, group, trial_kept, score_range)
    position = np.concatenate(([0], np.cumsum(touched)))
    # Rows of equal mid point move within their stretch's borders only, so the stretches stay what they are.
    order = np.flatnonzero(touched)[_by_content(trials, trial[touched], group[touched])]
    trial, lowest, highest = trial[order], lowest[order], highest[order]
    return Candidates(
        trial=trial,
        begin_s=trials.begin_s[trial],
        end_s=trials.begin_s[trial] + trials.dur_s[trial],
        congruence=score_congruence(trials.score[trial], lowest, highest, floor),
        rank=_ranks(trials, trial),
        occurrence=occurrence,
        reference_begin_s=references.begin_s[occurrence],
        reference_end_s=references.end_s[occurrence],
        first=position[first].astype(np.int64),
        last=position[last].astype(np.int64),
    )


def _middle(trials: Trials, rows: Ints) -> Floats:
    return trials.begin_s[rows] + trials.dur_s[rows] / 2.0


def _reach(
    middle_s: Floats, group: Ints, references: Occurrences, occurrence: Ints, wanted: Ints, tolerance_s: float
) -> tuple[Ints, Ints]:
    """Per reference the stretch of detections with ``begin - tolerance <= mid point <= end + tolerance``."""
    first = np.searchsorted(group, wanted, "left")
    last = np.searchsorted(group, wanted, "right")
    earliest = references.begin_s[occurrence] - tolerance_s
    latest = references.end_s[occurrence] + tolerance_s
    return (
        positions_within(middle_s, first, last, earliest, after_equal=False),
        positions_within(middle_s, first, last, latest, after_equal=True),
    )


def covered(first: Ints, last: Ints, size: int) -> Bools:
    """Which positions lie in at least one of the stretches."""
    change = np.bincount(first, minlength=size + 1) - np.bincount(last, minlength=size + 1)
    covered: Bools = np.cumsum(change[:size]) > 0
    return covered


def _score_bounds(trials: Trials, rows: Ints, group: Ints, kept: Bools, score_range: ScoreRange) -> Range:
    """Per row the lowest and highest score it is measured against."""
    if score_range == "group":
        return range_of_runs(trials.score[rows], group)
    return bounds_of(trials, trials.query[rows], kept, score_range)


def bounds_of(trials: Trials, query: Codes | Ints, kept: Bools, score_range: ScoreRange) -> Range:
    """For queries the lowest and highest score that detections are measured against, if not by group."""
    if score_range == "keyword":
        lowest, highest = range_of_codes(trials.score[kept], trials.query[kept], len(trials.queries))
        return lowest[query], highest[query]
    if isinstance(score_range, str):
        raise UsageError(f"score_range is {score_range!r}, allowed: group | keyword | (lowest, highest).")
    return np.full(query.size, float(score_range[0])), np.full(query.size, float(score_range[1]))


def _by_content(trials: Trials, rows: Ints, group: Ints) -> Ints:
    """The order of rows by what they say: equal contents in, equal contents out, whatever the order of rows was."""
    undecided = ~trials.decision[rows]
    keys = (undecided, -trials.score[rows], trials.dur_s[rows], trials.begin_s[rows], _middle(trials, rows), group)
    return np.lexsort(keys)


def _ranks(trials: Trials, rows: Ints) -> Ints:
    """Preference among tied detections: higher score, earlier begin, shorter duration, YES before NO. From 1 up."""
    keys = (trials.decision[rows], -trials.dur_s[rows], -trials.begin_s[rows], trials.score[rows])
    order = np.lexsort(keys)
    starts = run_starts(*(key[order] for key in keys))
    rank = np.empty(rows.size, np.int64)
    rank[order] = np.repeat(np.arange(1, starts.size + 1), np.diff(starts, append=rows.size))
    return rank


def sorted_references(references: Occurrences, trials: Trials, kept: Bools) -> tuple[Ints, Ints]:
    """Kept reference rows of groups that the trials name, sorted by (group, begin, end), and the group of each."""
    group = _occurrence_groups(references, trials)
    rows = np.flatnonzero(kept & (group >= 0))
    rows = rows[np.lexsort((references.end_s[rows], references.begin_s[rows], group[rows]))]
    return rows, group[rows]


def trial_groups(trials: Trials, rows: Ints) -> Ints:
    """The number of each of ``rows``, in the trials' vocabularies."""
    query, file, channel = trials.query[rows].astype(np.int64), trials.file[rows], trials.channel[rows]
    return (query * len(trials.files) + file) * len(trials.channels) + channel


def _occurrence_groups(references: Occurrences, trials: Trials) -> Ints:
    """The number that trials of the same names have; -1 where the trials lack one of the names."""
    query = recode(references.queries, trials.queries)[references.query].astype(np.int64)
    file = recode(references.files, trials.files)[references.file]
    channel = recode(references.channels, trials.channels)[references.channel]
    group = (query * len(trials.files) + file) * len(trials.channels) + channel
    return np.where((query >= 0) & (file >= 0) & (channel >= 0), group, -1)


def rows_near_groups(trials: Trials, kept: Bools, wanted: Ints) -> Ints:
    """The kept rows, ascending, whose group is one of ``wanted``, and now and then one of another group.

    Groups share the places of a table of fixed size, so that names without end cost no memory; a row that comes along
    for another's sake meets no reference later.
    """
    table = np.zeros(_PLACES, np.bool_)
    table[wanted & (_PLACES - 1)] = True
    found = [np.zeros(0, np.int64)]
    for begin in range(0, len(trials), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        found.append(np.flatnonzero(table[_table_places(trials, rows)] & kept[rows]) + begin)
    return np.concatenate(found)


def _table_places(trials: Trials, rows: slice) -> Ints:
    """The last bits of the number of each row's group: narrow numbers, which overflow, have them too."""
    group = trials.query[rows].view(np.uint32) * np.uint32(len(trials.files))
    group += trials.file[rows].view(np.uint32)
    if len(trials.channels) > 1:
        group *= np.uint32(len(trials.channels))
        group += trials.channel[rows].view(np.uint32)
    group &= np.uint32(_PLACES - 1)
    return wide(group)
