"""Releases: a person lets the results of a run be seen, as preliminary, official or corrected ones.

The record of a release stands in the very reference that makes the run the latest: both happen, or neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.errors import UsageError
from pipeline.grid import Run, promote
from pipeline.season import ledger
from pipeline.season.ledger import LedgerRecord
from pipeline.season.times import now, stamp
from pipeline.store import manifest
from pipeline.store.blobs import Store

SEALED, DRY_RUN, DEV = "sealed", "dry_run", "dev"
PRELIMINARY, OFFICIAL, CORRECTED = "preliminary", "official", "corrected"
_NEXT = {
    SEALED: (PRELIMINARY, OFFICIAL),
    PRELIMINARY: (PRELIMINARY, OFFICIAL),
    OFFICIAL: (CORRECTED,),
    CORRECTED: (CORRECTED,),
    DRY_RUN: (DRY_RUN,),
    DEV: (DEV,),
}


@dataclass(frozen=True)
class Release:
    """One release of an evaluation's results."""

    number: int
    """Of the reference that made it."""
    run: str
    state: str
    at: str
    by: str
    reason: str


def released(store: Store, evaluation: str) -> tuple[Release, ...]:
    """Every release of an evaluation, oldest first."""
    history = manifest.history(store, evaluation)
    return tuple(
        Release(number, entry["run"], **{name: entry["release"][name] for name in ("state", "at", "by", "reason")})
        for number, entry in history.items()
        if entry.get("release")
    )


def state_of(store: Store, kind: str, evaluation: str) -> str:
    """The state of a phase of a kind (``dry_run``, ``dev`` or ``eval``)."""
    if kind != "eval":
        return kind
    found = released(store, evaluation)
    return found[-1].state if found else SEALED


def release(
    store: Store, season: str, kind: str, run: Run, state: str, *, by: str, reason: str, at: datetime | None = None
) -> Release:
    """Make a run the latest of its evaluation and say so, in one step.

    Raises ``UsageError`` for a state that cannot follow the present one, and for a run that was rejected, and
    ``DamageError`` where an object of the run is not what was written. Whatever fails changes nothing.
    """
    present = state_of(store, kind, run.evaluation)
    if state not in _NEXT[present]:
        allowed = ", ".join(_NEXT[present])
        raise UsageError(f"{run.evaluation} is {present}: it cannot become {state} (allowed: {allowed}).")
    for entry in rejections(ledger.entries(store, season)):
        if entry.body["run"] == run.id:
            raise UsageError(f"run {run.id} was rejected by {entry.by} ({entry.body['reason']}). Score it anew.")
    record = {"state": state, "by": by, "reason": reason, "at": stamp(at or now()), "season": season}
    promote(store, run.id, record)
    return released(store, run.evaluation)[-1]


def reject(store: Store, season: str, run: Run, *, by: str, reason: str, at: datetime | None = None) -> LedgerRecord:
    """Decide that a staged run is never to be seen; it stays where it is, and the decision stands in the ledger."""
    if any(one.run == run.id for one in released(store, run.evaluation)):
        raise UsageError(f"run {run.id} is released already: what was seen stays. Correct it by another run.")
    body: dict[str, Any] = {"decision": "rejected", "run": run.id, "evaluation": run.evaluation, "reason": reason}
    return ledger.append(store, season, ledger.DECISION, at or now(), by, lambda _: body)


def rejections(entries: tuple[LedgerRecord, ...]) -> tuple[LedgerRecord, ...]:
    """The entries that reject runs."""
    return tuple(one for one in entries if one.kind == ledger.DECISION and one.body["decision"] == "rejected")


def enter_key(
    store: Store, season: str, body: Mapping[str, Any], *, author: str, reason: str, at: datetime | None = None
) -> LedgerRecord:
    """Enter a version of a key: ``phase``, ``role``, ``dataset``, ``name``, ``sha256``, ``n_bytes``, and ``query_set``
    where each has its own.

    Its parent is the version before, of the same phase, role, dataset and query set. Raises ``UsageError`` where that
    has the same bytes.
    """

    def made(entries: Any) -> dict[str, Any]:
        same = ("phase", "role", "dataset", "query_set")
        earlier = [
            one
            for one in entries
            if one.kind == ledger.KEY and all(one.body.get(name, "") == body.get(name, "") for name in same)
        ]
        if earlier and earlier[-1].body["sha256"] == body["sha256"]:
            raise UsageError(f"{body['name']} has the bytes of version {earlier[-1].body['version']}.")
        parent = earlier[-1].body["sha256"] if earlier else None
        return {**body, "version": len(earlier) + 1, "parent": parent, "author": author, "reason": reason}

    return ledger.append(store, season, ledger.KEY, at or now(), author, made)
