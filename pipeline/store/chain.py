"""Numbered records of which each follows from the one before it, and is signed where there is a key.

A record says what it is of (an evaluation, a season, a study), its number, and the SHA-256 of the record before it: who
changes one must change every one after it, and cannot sign them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline.errors import DamageError
from pipeline.store import numbered, signing
from pipeline.store.address import digest_bytes
from pipeline.store.blobs import Store
from pipeline.store.seal import unseal

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_CHAIN, _SIGNATURE = "chain", "signature"
"""Fields of a record that are its own and no part of what was recorded."""


def linked(
    store: Store, folder: str, subject: Mapping[str, str], number: int, payload: Mapping[str, Any]
) -> dict[str, Any]:
    """The record of ``payload`` under a number of a folder; ``subject`` says what the folder is of.

    Raises ``DamageError`` where the record before is not read as it was written: nothing may follow from that.
    """
    before = _link(store, numbered.path_of(folder, number - 1)) if number > 1 else None
    chain = {**subject, "number": number, "before": before}
    record = {**payload, _CHAIN: chain}
    signature = signing.signature_of(_signed(record))
    return record if signature is None else {**record, _SIGNATURE: signature}


def read(store: Store, folder: str, number: int) -> dict[str, Any]:
    """What was recorded under a number; ``StoreError`` if it is missing or damaged."""
    record = numbered.read(store, folder, number)
    return {name: value for name, value in record.items() if name not in (_CHAIN, _SIGNATURE)}


def faults(
    store: Store, folder: str, subject: Mapping[str, str], key: Ed25519PublicKey | None = None
) -> dict[str, str]:
    """What is wrong with the records of a folder, by their paths: damage, gaps, links that do not fit.

    With a ``key`` also what its owner did not sign. Records from before there were links have none, and none may
    follow one that has. The first ones may be gone: `rescore gc --keep` removes them.
    """
    found, is_linked = dict[str, str](), False
    numbers = sorted(numbered.numbers(store, folder))
    for number in range(min(numbers, default=1), max(numbers, default=0) + 1):
        path = numbered.path_of(folder, number)
        try:
            record = numbered.read(store, folder, number)
        except DamageError:
            found[path] = "is damaged" if number in numbers else "is missing"
            continue
        chain = record.get(_CHAIN)
        is_first = number == numbers[0]
        before = (chain or {}).get("before") if is_first else _digest(store, numbered.path_of(folder, number - 1))
        if chain != {**subject, "number": number, "before": before} and (chain is not None or is_linked):
            found[path] = "does not follow from the one before it"
        elif key is not None and not signing.is_signed(_signed(record), record.get(_SIGNATURE), key):
            found[path] = "is not signed by the owner of the key"
        is_linked = is_linked or chain is not None
    return found


def _link(store: Store, path: str) -> str | None:
    """The SHA-256 of a record, None where there is none. Raises ``DamageError`` where what was read is not whole."""
    if not store.exists(path):
        return None
    data = store.get(path)
    unseal(data, store.url(path))
    return digest_bytes(data)


def _digest(store: Store, path: str) -> str | None:
    """The SHA-256 of a record's bytes, None where there is none."""
    try:
        return digest_bytes(store.get(path))
    except DamageError:
        return None


def _signed(record: dict[str, Any]) -> bytes:
    """What a signature is of: all of a record but itself, in one spelling."""
    bare = {name: value for name, value in record.items() if name != _SIGNATURE}
    return json.dumps(bare, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
