"""The rules of a season as values: phases with their deadlines, what a submission must be, and the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

from pipeline.errors import StoreError, UsageError
from pipeline.season.times import parse

KEY_ROLES = frozenset({"rttm", "ref", "key", "stm", "trn", "judgement"})
"""Inputs that participants do not get before the results."""


@dataclass(frozen=True)
class Required:
    """A board that teams must enter: all of them, or performers only."""

    board: str
    of: str = "all"
    """``all`` or ``performers``."""


@dataclass(frozen=True)
class SeasonPhase:
    """One part of a season with a deadline: what is handed in there, and the evaluation that scores it."""

    name: str
    kind: str
    evaluation: str
    """The name under which its runs are published."""
    deadline: str
    late: str = "mark"
    """What becomes of late submissions: ``mark`` (they count where a team has nothing in time) or ``refuse``."""
    query_sets: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    """What participants have of the organiser's files, as URLs by role; no key is among them."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """What fields of an identifier must be here, such as ``partition: conv-eval``."""
    descriptions: str = "optional"
    """Whether a system must come with its description: ``required`` or ``optional``."""
    resources: str = "optional"
    """Whether it must come with a resources file."""
    counts: str = "last"
    """Which of several submissions of one system counts: the ``last`` one, the ``best`` on each board, or the one that
    its team has ``chosen`` (the last where it chose none)."""
    most_runs: int | None = None
    """Systems of one team that count at most."""
    required: tuple[Required, ...] = ()
    disclosure: str = "named"
    """What a team sees of the others once results are released: ``named`` boards, which are public, ``anonymous`` ones,
    which are in its packet only, or nothing (``own``)."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The (query set, dataset) pairs that are asked for; empty: all are."""

    @property
    def cells(self) -> tuple[tuple[str, str], ...]:
        """The (query set, dataset) pairs that are asked for."""
        return self.pairs or tuple((query_set, dataset) for query_set in self.query_sets for dataset in self.datasets)

    @property
    def ends(self) -> datetime:
        """The deadline: what arrives at this moment is in time."""
        return parse(self.deadline)


@dataclass(frozen=True)
class Gate:
    """When a run waits for a person: canaries by the figure they must keep, and how much may change at once."""

    canaries: Mapping[str, float | None] = field(default_factory=dict)
    """Systems made by the organiser, by name: the value the primary measure must have, or None for that of the run
    before."""
    tolerance: float = 0.0
    """How far a canary may move."""
    most_shrunk: float = 0.1
    """Share of a key's targets that may be gone since the run before."""
    most_changed: float = 0.5
    """Share of figures that may differ from the run before."""


@dataclass(frozen=True)
class SeasonRules:
    """A season's rules, one version of them."""

    name: str
    protocol: str
    mode: str
    naming: str
    phases: tuple[SeasonPhase, ...]
    pattern: str = ""
    """The names of files where ``naming`` is ``pattern``: placeholders team, system, query_set and dataset."""
    settings: Mapping[str, str] = field(default_factory=dict)
    gate: Gate | None = None

    def phase(self, name: str | None) -> SeasonPhase:
        """The phase of a name, or the only one. Raises ``UsageError`` where that is none."""
        for phase in self.phases:
            if phase.name == name or (name is None and len(self.phases) == 1):
                return phase
        known = ", ".join(phase.name for phase in self.phases)
        what = f"has {len(self.phases)} phases, and none is named" if name is None else f"has no phase {name!r}"
        raise UsageError(f"season {self.name} {what} (allowed: {known}). Name one by --phase.")

    def document(self) -> dict[str, Any]:
        """The rules as JSON may carry them."""
        return asdict(self)


def rules_of(stored: Mapping[str, Any]) -> SeasonRules:
    """The inverse of ``Rules.document``. Raises ``StoreError`` where it is something else."""
    try:
        gate = stored.get("gate")
        return SeasonRules(
            **{
                **{entry.name: stored[entry.name] for entry in fields(SeasonRules)},
                "phases": tuple(_phase(phase) for phase in stored["phases"]),
                "gate": None if gate is None else Gate(**gate),
            }
        )
    except (KeyError, TypeError) as error:
        raise StoreError(f"the rules in a season's ledger are damaged ({error}).") from error


def _phase(stored: Mapping[str, Any]) -> SeasonPhase:
    lists: dict[str, tuple[Any, ...]] = {name: tuple(stored[name]) for name in ("query_sets", "datasets")}
    lists["pairs"] = tuple((query_set, dataset) for query_set, dataset in stored.get("pairs", ()))
    return SeasonPhase(**{**stored, **lists, "required": tuple(Required(**entry) for entry in stored["required"])})
