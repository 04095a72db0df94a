"""The ledger of a season: entries that are only ever added, ``seasons/<season>/<n>.json``.

What stands in it is history: rules and their changes, the roster, every upload whatever became of it, withdrawals,
versions of keys, decisions. Everything else is derived from it by reading it from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pipeline.errors import StoreError, UsageError
from pipeline.season.times import parse, stamp
from pipeline.store import chain, numbered
from pipeline.store.blobs import Store
from pipeline.store.paths import checked_name

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

RULES, ROSTER, SUBMISSION, WITHDRAWAL, KEY, DECISION, APPEAL, CHOICE = KINDS = (
    "rules",
    "roster",
    "submission",
    "withdrawal",
    "key",
    "decision",
    "appeal",
    "choice",
)
_FOLDER = "seasons"
_TRIES = 1000


@dataclass(frozen=True)
class LedgerRecord:
    """One record: its number, what kind it is, when and by whom it was made, and what it says."""

    number: int
    kind: str
    at: str
    """ISO 8601 with an offset."""
    by: str
    body: Mapping[str, Any]

    @property
    def moment(self) -> datetime:
        """``at`` as a time."""
        return parse(self.at)


def append(
    store: Store,
    season: str,
    kind: str,
    at: datetime,
    by: str,
    body: Callable[[Sequence[LedgerRecord]], dict[str, Any]],
) -> LedgerRecord:
    """Add an entry whose body is made from all entries before it.

    Where another writer was faster, the body is made again: what it says of the season holds when it is written.
    """
    for _ in range(_TRIES):
        before = entries(store, season)
        number = before[-1].number + 1 if before else 1
        made: dict[str, Any] = {"kind": kind, "at": stamp(at), "by": by, "body": body(before)}
        record = chain.linked(store, folder_of(season), {"season": season}, number, made)
        if numbered.create(store, folder_of(season), number, record):
            return LedgerRecord(number, kind, made["at"], by, made["body"])
    raise StoreError(f"{store.root}: {_TRIES} entries of {season} were lost to other writers. Try again.")


def entries(store: Store, season: str) -> tuple[LedgerRecord, ...]:
    """Every entry in order. Raises ``StoreError`` where one is damaged or missing: history has no holes."""
    known = sorted(numbered.numbers(store, folder_of(season)))
    if known != list(range(1, len(known) + 1)):
        raise StoreError(f"{store.url(folder_of(season))}: entries are missing (there are {len(known)}).")
    return tuple(LedgerRecord(number, **chain.read(store, folder_of(season), number)) for number in known)


def chain_faults(store: Store, season: str, key: Ed25519PublicKey | None = None) -> dict[str, str]:
    """What is wrong with the entries of a season, by their paths: see ``chain.faults``."""
    return chain.faults(store, folder_of(season), {"season": season}, key)


def seasons(store: Store) -> tuple[str, ...]:
    """The names of all seasons of a store, sorted."""
    return tuple(sorted({path.split("/")[1] for path in store.listing(_FOLDER)}))


def find_season(store: Store, name: str | None) -> str:
    """The season of a name, or the only one there is. Raises ``UsageError`` where that names none."""
    known = seasons(store)
    if name is None and len(known) == 1:
        return known[0]
    if name not in known:
        told = f"has no season {name!r}" if name else "holds no season" if not known else "holds several seasons"
        raise UsageError(
            f"{store.url('')} {told} (there: {', '.join(known) or 'none'}). `rescore season open` begins one."
        )
    return str(name)


def folder_of(season: str) -> str:
    """Where a season's entries lie."""
    return f"{_FOLDER}/{checked_name(season)}"
