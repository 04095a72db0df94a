"""How a season stands: everything that follows from its ledger. Nothing here is stored; it is read off every time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from pipeline.errors import UsageError
from pipeline.season import ledger
from pipeline.season.beside import OUTPUTS
from pipeline.season.beside import RULES as BESIDE
from pipeline.season.ledger import LedgerRecord
from pipeline.season.roster import RosterTeam, teams_of
from pipeline.season.rules import SeasonRules, rules_of
from pipeline.season.times import parse
from pipeline.season.verdict import Verdict, verdict_of

COUNTS, REPLACED, REFUSED, WITHDRAWN, LATE = ("counts", "replaced", "refused", "withdrawn", "late")
"""What becomes of a run. ``late``: it is valid, and one that arrived in time counts instead."""


@dataclass(frozen=True)
class Output:
    """One file of a run: its cell, its role, and where it lies in the store."""

    query_set: str
    dataset: str
    role: str
    name: str
    path: str


@dataclass(frozen=True)
class SubmittedRun:
    """One run of a submission: all its files for one slot."""

    system: str
    slot: str
    primary: bool
    board: str
    version: int
    fields: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()
    kind: str = OUTPUTS
    """``outputs``, or the role of what stands beside them; of that ``system`` is "" where it is of all of a team's."""


@dataclass(frozen=True)
class Submission:
    """One upload and its receipt, whatever became of it."""

    number: int
    phase: str
    team: str
    arrival: str
    deadline: str
    late: bool
    accepted: bool
    verdict: Verdict
    files: tuple[Mapping[str, Any], ...]
    runs: tuple[SubmittedRun, ...]
    whole: bool = False
    """Whether it replaces all that the team handed in before, and not slot by slot."""

    @property
    def moment(self) -> datetime:
        """When it arrived."""
        return parse(self.arrival)

    @property
    def rank(self) -> tuple[bool, datetime, int]:
        """Of valid submissions the one with the highest counts: in time before late, then the latest."""
        return (not self.late, self.moment, self.number)


@dataclass(frozen=True)
class Fate:
    """The state of one run of one submission, and why."""

    submission: Submission
    run: SubmittedRun | None
    """None for a refused submission."""
    state: str
    reason: str


@dataclass(frozen=True)
class Standing:
    """A season as its entries have it."""

    season: str
    rules: SeasonRules
    teams: Mapping[str, RosterTeam]
    submissions: tuple[Submission, ...]
    entries: tuple[LedgerRecord, ...]

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """Every run of every submission, in the order of the ledger, with what became of it."""
        found = []
        for submission in self.submissions:
            if not submission.accepted:
                n = len(submission.verdict.of("error"))
                found.append(Fate(submission, None, REFUSED, f"{n} problem{'s' * (n != 1)}"))
            found += [Fate(submission, run, *self._fate(submission, run)) for run in submission.runs]
        return tuple(found)

    def counting(self, phase: str) -> tuple[Fate, ...]:
        """The runs that count in a phase."""
        return tuple(
            fate for fate in self._valid(phase) if fate.state == COUNTS and fate.run and fate.run.kind == OUTPUTS
        )

    def beside(self, phase: str, team: str, system: str) -> Mapping[str, Output]:
        """What counts beside the outputs of a system, by role: its own, else what its team has for all of its systems,
        else what lies in the folder of its run."""
        found: dict[str, tuple[int, Output]] = {}
        for fate in self._valid(phase):
            run = fate.run
            if run is None or fate.state != COUNTS or fate.submission.team != team or run.system not in ("", system):
                continue
            for output in run.outputs:
                worth = 0 if not run.system else 1 if run.kind == OUTPUTS else 2
                if output.role in BESIDE and worth >= found.get(output.role, (0, output))[0]:
                    found[output.role] = worth, output
        return {role: output for role, (_, output) in found.items()}

    def _valid(self, phase: str) -> Iterable[Fate]:
        return (fate for fate in self.fates if fate.submission.phase == phase)

    def competing(self, phase: str) -> tuple[Fate, ...]:
        """The runs that a phase's evaluation scores: those that count, and where the best of several does, what they
        replaced."""
        states = (COUNTS, REPLACED) if self.rules.phase(phase).counts == "best" else (COUNTS,)
        return tuple(
            fate for fate in self._valid(phase) if fate.state in states and fate.run and fate.run.kind == OUTPUTS
        )

    def withdrawal(self, submission: Submission, run: SubmittedRun) -> LedgerRecord | None:
        """The entry that withdraws a run, None where there is none."""
        for entry in self.entries:
            if entry.kind == ledger.WITHDRAWAL and _withdraws(entry, submission, run):
                return entry
        return None

    def _fate(self, submission: Submission, run: SubmittedRun) -> tuple[str, str]:
        if not submission.accepted:
            return REFUSED, "the submission is refused"
        entry = self.withdrawal(submission, run)
        if entry is not None:
            return WITHDRAWN, str(entry.body["reason"])
        rivals = list(self._rivals(submission, run))
        best = self._chosen(rivals) or max(rivals, key=lambda rival: rival.rank)
        if best.number == submission.number:
            return COUNTS, "late" if submission.late else ""
        if self._chosen(rivals) is not None:
            return REPLACED, f"no. {best.number} is chosen"
        if submission.late and not best.late:
            return LATE, f"no. {best.number} arrived in time and counts"
        return REPLACED, f"no. {best.number} came later"

    def _chosen(self, rivals: Sequence[Submission]) -> Submission | None:
        """The submission that its team has chosen, where the phase lets it."""
        phase = self.rules.phase(rivals[0].phase)
        numbers = {
            entry.body["submission"]: entry.number
            for entry in self.entries
            if entry.kind == ledger.CHOICE and phase.counts == "chosen"
        }
        found = [rival for rival in rivals if rival.number in numbers]
        return max(found, key=lambda rival: numbers[rival.number], default=None)

    def _rivals(self, submission: Submission, run: SubmittedRun) -> Iterable[Submission]:
        """Valid submissions of which one counts, this one included."""
        for other in self._by_team.get((submission.phase, submission.team), ()):
            if any(
                (other.whole or theirs.slot == run.slot) and self.withdrawal(other, theirs) is None
                for theirs in other.runs
            ):
                yield other

    @cached_property
    def _by_team(self) -> Mapping[tuple[str, str], list[Submission]]:
        found: dict[tuple[str, str], list[Submission]] = {}
        for submission in self.submissions:
            if submission.accepted:
                found.setdefault((submission.phase, submission.team), []).append(submission)
        return found

    def missing_boards(self, phase_name: str) -> tuple[tuple[str, str], ...]:
        """Required boards (conditions) that a team has no primary run in, as (team, board)."""
        phase = self.rules.phase(phase_name)
        entered = {
            (fate.submission.team, fate.run.board)
            for fate in self.counting(phase.name)
            if fate.run is not None and fate.run.primary
        }
        return tuple(
            (team.id, required.board)
            for team in self.teams.values()
            for required in phase.required
            if (required.of == "all" or team.performer) and (team.id, required.board) not in entered
        )


def _withdraws(entry: LedgerRecord, submission: Submission, run: SubmittedRun) -> bool:
    body = entry.body
    return (
        entry.number > submission.number
        and body["team"] == submission.team
        and body["phase"] == submission.phase
        and body.get("submission") in (None, submission.number)
        and body.get("system") in (None, run.system)
    )


def standing(store: Any, season: str) -> Standing:
    """The season as it stands now. Raises ``UsageError`` where it has no rules yet."""
    return standing_of(season, ledger.entries(store, season))


def standing_of(season: str, entries: Sequence[LedgerRecord]) -> Standing:
    """The standing after all entries."""
    rules = [entry for entry in entries if entry.kind == ledger.RULES]
    if not rules:
        raise UsageError(f"season {season} has no rules. Begin it with `rescore season open`.")
    rosters = [entry for entry in entries if entry.kind == ledger.ROSTER]
    return Standing(
        season=season,
        rules=rules_of(rules[-1].body["rules"]),
        teams=teams_of(rosters[-1].body) if rosters else {},
        submissions=tuple(submission_of(entry) for entry in entries if entry.kind == ledger.SUBMISSION),
        entries=tuple(entries),
    )


def submission_of(entry: LedgerRecord) -> Submission:
    """A submission's entry as a value."""
    body = dict(entry.body)
    runs = tuple(
        SubmittedRun(**{**run, "outputs": tuple(Output(**output) for output in run["outputs"])})
        for run in body.pop("runs")
    )
    return Submission(
        number=entry.number, verdict=verdict_of(body.pop("remarks")), files=tuple(body.pop("files")), runs=runs, **body
    )
