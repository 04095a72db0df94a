"""Beginning a season, and changing its rules or its roster: each version is an entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

from pipeline.season import ledger
from pipeline.season.ledger import LedgerRecord
from pipeline.season.roster import RosterTeam, register
from pipeline.season.rules import SeasonRules
from pipeline.season.times import now
from pipeline.store.blobs import Store


def enter(
    store: Store,
    rules: SeasonRules,
    teams: Sequence[RosterTeam],
    contacts: Mapping[str, Mapping[str, str]],
    *,
    at: datetime | None = None,
    by: str = "organiser",
) -> tuple[LedgerRecord, ...]:
    """Enter rules and roster where they differ from the last versions; returns the entries made."""
    moment, made = at or now(), list[LedgerRecord]()
    before = ledger.entries(store, rules.name)
    document = {"rules": _jsonable(rules.document())}
    if _last(before, ledger.RULES) != document:
        made.append(ledger.append(store, rules.name, ledger.RULES, moment, by, lambda _: document))
    if teams and _last(before, ledger.ROSTER) != {"teams": [asdict(team) for team in teams]}:
        made.append(register(store, rules.name, teams, contacts, at=moment, by=by))
    return tuple(made)


def _last(entries: Sequence[LedgerRecord], kind: str) -> Mapping[str, object] | None:
    return next((entry.body for entry in reversed(entries) if entry.kind == kind), None)


def _jsonable(value: object) -> object:
    """A value as it comes back from JSON: lists for tuples."""
    if isinstance(value, Mapping):
        return {name: _jsonable(item) for name, item in value.items()}
    return [_jsonable(item) for item in value] if isinstance(value, list | tuple) else value
