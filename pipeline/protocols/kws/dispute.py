"""Why a detection or occurrence became what it is: the pairs it could be in, what each is worth, the rule that decided.

Nothing is decided here: the mapping is the aligner's own, and the pairs are its own candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.align.mapping.candidates import find_candidates
from pipeline.align.mapping.congruence import SCORE_WEIGHT, TIME_WEIGHT, WEIGHT_STEP, time_congruence
from pipeline.align.mapping.grouped import expand
from pipeline.align.occurrences import align_occurrences
from pipeline.arrays import Bools, Ints
from pipeline.errors import UsageError
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.disputes import Dispute
from pipeline.protocols.kws.tiles import align_tile, score_range_of
from pipeline.trials.blocks import query_of
from pipeline.trials.schema import Occurrences, Timeline, Trials

RULES: Mapping[str, str] = {
    "only": "nothing else is in reach of either",
    "score": "the pair with the higher score is worth more (ScrCgr)",
    "overlap": "the pair with the larger overlap is worth more (TmCgr)",
    "most_pairs": "another pair would be worth more, but fewer pairs could be made then",
    "largest_sum": "another pair would be worth more, but all pairs together less",
    "tie_score": "the pairs are worth the same: the higher score is preferred",
    "tie_begin": "the pairs are worth the same: the earlier begin is preferred",
    "tie_duration": "the pairs are worth the same: the shorter one is preferred",
    "tie_decision": "the pairs are worth the same: YES is preferred to NO",
    "tie_reference": "both occurrences are worth the same to the detection",
    "identical": "the rows are equal in all that counts: they are interchangeable",
    "out_of_reach": "its mid point lies farther than the tolerance from every occurrence",
    "none_in_reach": "no detection's mid point lies within the tolerance",
    "no_occurrence": "its query has no occurrence in this recording and channel",
    "no_detection": "the output has no detection of its query in this recording and channel",
    "outside_ecf": "no excerpt of the ECF holds it (of an occurrence: its first word): it is not scored",
    "outside_namefile": "its recording or channel is not among those that are scored",
}
"""Every rule that can decide (KWSEval, KWSAlignment.pm; OpenKWS13 plan, section 5.1.1), in words."""
DROPPED = "dropped"
PAIRS_AT_MOST = 1_000_000
"""Of a query, beyond which nobody would read them."""


@dataclass(frozen=True)
class Pair:
    """A detection and an occurrence in reach of each other, and what they are worth together."""

    begin_s: float
    end_s: float
    score: float
    decision: bool
    reference_begin_s: float
    reference_end_s: float
    time_congruence: float
    score_congruence: float
    kernel: float
    """``1 + 1e-8 TmCgr + 1e-6 ScrCgr``."""
    mapped: bool


@dataclass(frozen=True)
class Explained:
    """One detection or occurrence of a query, what became of it and why."""

    kind: str
    """``detection`` or ``occurrence``."""
    file: str
    channel: str
    begin_s: float
    end_s: float
    score: float
    """NaN for an occurrence."""
    decision: bool
    outcome: str
    """CORR, MISS, FA, CORR!DET or ``dropped``."""
    rule: str
    pairs: tuple[Pair, ...] = field(default=())

    @property
    def why(self) -> str:
        """The rule in words."""
        return RULES[self.rule]


def explain_query(
    protocol: Protocol,
    trials: Trials,
    occurrences: Occurrences,
    reference: Reference[Occurrences, Timeline],
    query: str,
) -> tuple[Explained, ...]:
    """Every detection and every occurrence of one query of a tile, by file, channel and begin."""
    return tuple(_Query(protocol, trials, occurrences, reference, query).explained())


class _Query:
    """One query of an aligned tile."""

    def __init__(
        self,
        protocol: Protocol,
        trials: Trials,
        occurrences: Occurrences,
        reference: Reference[Occurrences, Timeline],
        query: str,
    ) -> None:
        made = align_tile(protocol, trials, occurrences, reference)
        self.settings, self.trials, self.occurrences = protocol.settings, trials, made.occurrences
        self.aligned, self.inside = made.aligned, made.inside
        named = [query_of(name) == query for name in trials.queries]
        self.own = np.flatnonzero(np.array([*named, False])[trials.query])
        named = [query_of(name) == query for name in self.occurrences.queries]
        self.own_occurrences = np.flatnonzero(np.array([*named, False])[self.occurrences.query])
        self.of_trial = dict(zip(self.aligned.kept.tolist(), self.aligned.reference.tolist(), strict=True))
        self.of_occurrence = {row: at for at, row in self.of_trial.items() if row >= 0}
        self.trial_kept = _mask(self.aligned.kept, len(trials))
        taking = np.concatenate([self.aligned.reference[self.aligned.target], self.aligned.omitted])
        self.occurrence_kept = _mask(taking, len(self.occurrences))

    def explained(self) -> Iterator[Explained]:
        rows = [(*self._key(self.trials, row), 0, row) for row in self.own.tolist()]
        rows += [(*self._key(self.occurrences, row), 1, row) for row in self.own_occurrences.tolist()]
        for *_, kind, row in sorted(rows):
            yield self._occurrence(row) if kind else self._detection(row)

    @staticmethod
    def _key(side: Trials | Occurrences, row: int) -> tuple[str, str, float]:
        return side.files[side.file[row]], side.channels[side.channel[row]], float(side.begin_s[row])

    @cached_property
    def pairs(self) -> dict[tuple[int, int], tuple[int, float]]:
        """Worth (in steps of 2**-60) and ScrCgr of every allowed pair (trial row, occurrence row) of the query."""
        own = self.occurrence_kept & _mask(self.own_occurrences, len(self.occurrences))
        found = find_candidates(
            self.trials,
            self.occurrences,
            trial_kept=self.trial_kept,
            reference_kept=own,
            tolerance_s=self.settings.tolerance_s,
            score_range=score_range_of(self.settings, self.trials),
            floor=self.settings.score_range_floor,
        )
        n_pairs = int((found.last - found.first).sum())
        if n_pairs > PAIRS_AT_MOST:
            what = f"{n_pairs} pairs of its detections and occurrences are in reach of each other"
            raise UsageError(f"the query is not explained: {what} (allowed: {PAIRS_AT_MOST}).")
        reference, detection = expand(found.first, found.last)
        worth = found.weight(reference, detection)
        keys = zip(found.trial[detection].tolist(), found.occurrence[reference].tolist(), strict=True)
        values = zip(worth.tolist(), found.congruence[detection].tolist(), strict=True)
        return dict(zip(keys, values, strict=True))

    @cached_property
    def occurrences_of(self) -> Mapping[int, Sequence[int]]:
        """The occurrences in reach of each detection that has any."""
        return _grouped(self.pairs)

    @cached_property
    def trials_of(self) -> Mapping[int, Sequence[int]]:
        """The detections in reach of each occurrence that has any."""
        return _grouped((other, trial) for trial, other in self.pairs)

    def _detection(self, row: int) -> Explained:
        trials = self.trials
        file, channel, begin = self._key(trials, row)
        decision, kept = bool(trials.decision[row]), bool(self.trial_kept[row])
        target = self.of_trial.get(row, -1)
        outcome = (("MISS", "CORR") if target >= 0 else ("CORR!DET", "FA"))[decision] if kept else DROPPED
        rule = self._detection_rule(row, target)
        end, score = begin + float(trials.dur_s[row]), float(trials.score[row])
        pairs = tuple(self._pair(row, other) for other in self.occurrences_of.get(row, ()))
        return Explained("detection", file, channel, begin, end, score, decision, outcome, rule, pairs)

    def _occurrence(self, row: int) -> Explained:
        file, channel, begin = self._key(self.occurrences, row)
        kept, trial = bool(self.occurrence_kept[row]), self.of_occurrence.get(row, -1)
        hit = trial >= 0 and bool(self.trials.decision[trial])
        outcome = DROPPED if not kept else "CORR" if hit else "MISS"
        pairs = tuple(self._pair(one, row) for one in self.trials_of.get(row, ()))
        rule = self._occurrence_rule(row, trial)
        end = float(self.occurrences.end_s[row])
        return Explained("occurrence", file, channel, begin, end, float("nan"), hit, outcome, rule, pairs)

    def _pair(self, trial: int, occurrence: int) -> Pair:
        trials, targets = self.trials, self.occurrences
        begin, dur = float(trials.begin_s[trial]), float(trials.dur_s[trial])
        worth, congruence = self.pairs[trial, occurrence]
        ends = (targets.begin_s[[occurrence]], targets.end_s[[occurrence]])
        time = float(time_congruence(np.array([begin]), np.array([begin + dur]), *ends)[0])
        return Pair(
            begin,
            begin + dur,
            float(trials.score[trial]),
            bool(trials.decision[trial]),
            float(ends[0][0]),
            float(ends[1][0]),
            time,
            congruence,
            1.0 + worth * WEIGHT_STEP,
            self.of_trial.get(trial, -1) == occurrence,
        )

    def _detection_rule(self, row: int, target: int) -> str:
        if not self.trial_kept[row]:
            return "outside_namefile" if self.inside[row] else "outside_ecf"
        reach = self.occurrences_of.get(row, ())
        if not reach:
            near = self._same_place(self.trials, row, self.occurrences, self.occurrence_kept)
            return "out_of_reach" if near else "no_occurrence"
        if target >= 0:
            return self._mapped_rule(row, target)
        wanted = max(reach, key=lambda other: (self.pairs[row, other][0], -other))
        return self._against(self.of_occurrence[wanted], row, wanted)

    def _occurrence_rule(self, row: int, trial: int) -> str:
        if not self.occurrence_kept[row]:
            return "outside_namefile" if self.settings.namefile else "outside_ecf"
        reach = self.trials_of.get(row, ())
        if not reach:
            near = self._same_place(self.occurrences, row, self.trials, self.trial_kept)
            return "none_in_reach" if near else "no_detection"
        if trial >= 0:
            return self._mapped_rule(trial, row)
        wanted = max(reach, key=lambda one: (self.pairs[one, row][0], -one))
        taken = self.of_trial[wanted]
        return "overlap" if self.pairs[wanted, taken][0] != self.pairs[wanted, row][0] else "tie_reference"

    def _mapped_rule(self, trial: int, occurrence: int) -> str:
        """Why these two are a pair: against what each of them could have had instead."""
        worth = self.pairs[trial, occurrence][0]
        rivals = [one for one in self.trials_of[occurrence] if one != trial]
        others = [other for other in self.occurrences_of[trial] if other != occurrence]
        better = [(one, occurrence) for one in rivals if self.pairs[one, occurrence][0] > worth]
        better += [(trial, other) for other in others if self.pairs[trial, other][0] > worth]
        if better:
            return "most_pairs" if self._costs_a_pair(*better[0]) else "largest_sum"
        if rivals:
            return self._against(trial, max(rivals, key=lambda one: self.pairs[one, occurrence][0]), occurrence)
        if others:
            second = max(others, key=lambda other: self.pairs[trial, other][0])
            return "overlap" if self.pairs[trial, second][0] < worth else "tie_reference"
        return "only"

    def _against(self, winner: int, loser: int, occurrence: int) -> str:
        """The advantage of one detection over another for an occurrence that both could have."""
        trials, (won, lost) = self.trials, (self.pairs[winner, occurrence], self.pairs[loser, occurrence])
        if won[0] == lost[0]:
            rows = np.array([winner, loser])
            for rule, column in (("score", trials.score), ("begin", trials.begin_s), ("duration", trials.dur_s)):
                if column[rows[0]] != column[rows[1]]:
                    return f"tie_{rule}"
            return "identical" if trials.decision[winner] == trials.decision[loser] else "tie_decision"
        by_score = SCORE_WEIGHT * (won[1] - lost[1])
        by_time = TIME_WEIGHT * (
            self._pair(winner, occurrence).time_congruence - self._pair(loser, occurrence).time_congruence
        )
        return "score" if by_score > by_time else "overlap"

    def _costs_a_pair(self, trial: int, occurrence: int) -> bool:
        """Whether fewer pairs can be made where these two are one."""
        same_trials = self._place_of(self.trials, trial, self.trials) & self.trial_kept
        same = self._place_of(self.trials, trial, self.occurrences) & self.occurrence_kept
        n_now = int(np.count_nonzero(self.aligned.target & same_trials[self.aligned.kept]))
        same_trials[trial] = same[occurrence] = False
        rest: Aligned = align_occurrences(
            self.trials,
            self.occurrences,
            tolerance_s=self.settings.tolerance_s,
            score_range="group",
            trial_rows=same_trials,
            reference_rows=same,
        )
        return int(np.count_nonzero(rest.target)) + 1 < n_now

    def _same_place(self, side: Trials | Occurrences, row: int, other: Trials | Occurrences, kept: Bools) -> bool:
        return bool(np.any(self._place_of(side, row, other) & kept))

    @staticmethod
    def _place_of(side: Trials | Occurrences, row: int, other: Trials | Occurrences) -> Bools:
        """The rows of ``other`` that have the query, file and channel of a row."""
        found = np.ones(len(other), np.bool_)
        for names, column in (("queries", "query"), ("files", "file"), ("channels", "channel")):
            wanted = getattr(side, names)[getattr(side, column)[row]]
            known = np.array([*(name == wanted for name in getattr(other, names)), False])
            found &= known[getattr(other, column)]
        return found


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """The second ones of each first."""
    groups: dict[int, list[int]] = {}
    for one, other in pairs:
        groups.setdefault(one, []).append(other)
    return groups


def _mask(rows: Ints, size: int) -> Bools:
    mask = np.zeros(size, np.bool_)
    mask[rows] = True
    return mask


DISPUTE = Dispute(explain_query)
