"""Who takes part. How to reach them is kept apart: no board, receipt, packet or archive has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pipeline.season import ledger
from pipeline.store.blobs import Store

CONTACTS = "contacts"
"""The folder of contact data: its own, so that access to it can be given apart from all else."""


@dataclass(frozen=True)
class RosterTeam:
    """One team as boards may name it."""

    id: str
    name: str = ""
    institution: str = ""
    performer: bool = False
    """Whether the programme pays for its work: such teams have more conditions to enter."""


def register(
    store: Store,
    season: str,
    teams: Sequence[RosterTeam],
    contacts: Mapping[str, Mapping[str, str]],
    *,
    at: datetime,
    by: str,
) -> ledger.LedgerRecord:
    """Put the roster into the ledger, and contact data by team where only the organiser reads."""
    body = {"teams": [asdict(team) for team in teams]}
    entry = ledger.append(store, season, ledger.ROSTER, at, by, lambda _: body)
    if contacts:
        kept = json.dumps({team: dict(data) for team, data in contacts.items()}, sort_keys=True).encode()
        store.put_sealed(f"{CONTACTS}/{season}/{entry.number:08d}.json", kept)
    return entry


def teams_of(body: Mapping[str, Any]) -> dict[str, RosterTeam]:
    """The teams of a roster entry by id."""
    return {entry["id"]: RosterTeam(**entry) for entry in body["teams"]}
