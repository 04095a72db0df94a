"""Commits: numbered references, each created exclusively, that make finished work visible.

``refs/<evaluation>/<n>.json``, n = 1, 2, … The highest number is current. A reference is never changed. Each names the
digest of the one before it and of the manifest that it makes visible, and is signed where there is a key: who changes
anything must change every reference after it, and cannot sign them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from pipeline.errors import DamageError
from pipeline.store import chain, numbered
from pipeline.store.address import digest_bytes
from pipeline.store.blobs import Store
from pipeline.store.paths import checked_name
from pipeline.store.seal import unseal

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def commit(store: Store, evaluation: str, payload: dict[str, Any]) -> int:
    """Make ``payload`` the current state of ``evaluation``; returns its number.

    Of writers racing for a number one gets it, the others take the next. ``payload`` must be JSON without NaN. Raises
    ``DamageError`` where the commit before is not read as it was written: nothing may follow from that.
    """

    folder = _folder(evaluation)
    return numbered.append(store, folder, lambda n: chain.linked(store, folder, {"evaluation": evaluation}, n, payload))


def latest(store: Store, evaluation: str) -> dict[str, Any] | None:
    """The payload last committed, None before the first; ``StoreError`` if it is damaged."""
    numbers = _numbers(store, evaluation)
    return _payload(store, evaluation, max(numbers)) if numbers else None


def history(store: Store, evaluation: str) -> dict[int, dict[str, Any]]:
    """Every payload committed by its number, oldest first; ``StoreError`` if one is damaged."""
    return {number: _payload(store, evaluation, number) for number in sorted(_numbers(store, evaluation))}


def sound_history(store: Store, evaluation: str) -> dict[int, dict[str, Any]]:
    """``history`` without the commits that are damaged: for looking, never for deciding what may be removed."""
    payloads = {}
    for number in sorted(_numbers(store, evaluation)):
        try:
            payloads[number] = _payload(store, evaluation, number)
        except DamageError:
            continue
    return payloads


def discard_damaged(store: Store, evaluation: str) -> list[str]:
    """Remove the commits that are damaged, which say nothing and would keep collections away; returns their paths.

    Each is read twice: one that came meanwhile, or that a network spoiled on its way, is no damage.
    """
    paths = [path_of(evaluation, number) for number in _numbers(store, evaluation)]
    damaged = [path for path in paths if _is_damaged(store, path) and _is_damaged(store, path)]
    for path in damaged:
        store.remove(path)
    return damaged


def _is_damaged(store: Store, path: str) -> bool:
    try:
        store.get_sealed(path)
    except DamageError:
        return store.exists(path)
    return False


def named(*histories: Mapping[int, Mapping[str, Any]]) -> dict[str, set[str]]:
    """The SHA-256 of manifests by their paths, as the last commit of each history says that names one.

    A manifest is made anew where what it names was lost, and committed once more: what an earlier commit says of it is
    of the past. Commits of before there were links say none.
    """
    found = dict[str, set[str]]()
    for payloads in histories:
        last = {entry["manifest"]: entry.get("sha256") for _, entry in sorted(payloads.items())}
        for path, digest in last.items():
            if digest is not None:
                found.setdefault(path, set()).add(digest)
    return found


def read(store: Store, path: str, digests: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """A manifest. Raises ``DamageError`` where it is lost, damaged, or not one of those that ``named`` knows for it."""
    data = store.get(path)
    if path in digests and digest_bytes(data) not in digests[path]:
        raise DamageError(f"{store.url(path)}: the manifest is not the one that was committed. Run again to mend it.")
    found: dict[str, Any] = json.loads(unseal(data, store.url(path)))
    return found


def chain_faults(store: Store, evaluation: str, key: Ed25519PublicKey | None = None) -> dict[str, str]:
    """What is wrong with the commits of an evaluation, by their paths: see ``chain.faults``."""
    return chain.faults(store, _folder(evaluation), {"evaluation": evaluation}, key)


def evaluations(store: Store) -> tuple[str, ...]:
    """The names of all evaluations with a commit, sorted."""
    return tuple(sorted({path.split("/")[1] for path in store.listing("refs")}))


def path_of(evaluation: str, number: int) -> str:
    """Where a commit lies."""
    return numbered.path_of(_folder(evaluation), number)


def _folder(evaluation: str) -> str:
    return f"refs/{checked_name(evaluation)}"


def _numbers(store: Store, evaluation: str) -> list[int]:
    return numbered.numbers(store, _folder(evaluation))


def _payload(store: Store, evaluation: str, number: int) -> dict[str, Any]:
    return chain.read(store, _folder(evaluation), number)
