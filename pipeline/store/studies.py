"""Where meta-analyses lie, and which are there: ``studies/<name>/<id>/``, numbered in ``studies/<name>/refs/<n>.json``.

The highest number is the latest. As with runs, what no reference names was never finished.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pipeline.errors import DamageError
from pipeline.store import chain, numbered
from pipeline.store.blobs import Store
from pipeline.store.paths import checked_name

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FOLDER = "studies"
REFS = "/refs/"
"""Is in the path of every reference, and of nothing else of a study: ids are hexadecimal."""


def folder_of(study: str, identifier: str) -> str:
    """Where a study's files lie."""
    return f"{FOLDER}/{checked_name(study)}/{identifier}"


def commit(store: Store, study: str, manifest: str) -> None:
    """Make the study of this manifest the latest one of its name, unless it is."""
    newest = max(numbered.numbers(store, _refs(study)), default=0)
    try:
        known = numbered.read(store, _refs(study), newest)["manifest"] if newest else None
    except DamageError:
        known = None
    if known != manifest:
        folder, payload = _refs(study), {"manifest": manifest, "sha256": store.describe(manifest)["sha256"]}
        numbered.append(store, folder, lambda n: chain.linked(store, folder, {"study": study}, n, payload))


def chain_faults(store: Store, study: str, key: Ed25519PublicKey | None = None) -> dict[str, str]:
    """What is wrong with the references of a study, by their paths: see ``chain.faults``."""
    return chain.faults(store, _refs(study), {"study": study}, key)


def latest(store: Store, study: str) -> dict[str, Any] | None:
    """The manifest of the latest study of a name; None before the first, ``DamageError`` where it is damaged."""
    newest = max(numbered.numbers(store, _refs(study)), default=0)
    if not newest:
        return None
    found: dict[str, Any] = json.loads(store.get_sealed(numbered.read(store, _refs(study), newest)["manifest"]))
    return found


def history(store: Store, study: str) -> dict[int, dict[str, Any]]:
    """Every reference of a study by its number, oldest first; ``DamageError`` where one is damaged."""
    return {number: chain.read(store, _refs(study), number) for number in sorted(numbered.numbers(store, _refs(study)))}


def path_of(study: str, number: int) -> str:
    """Where a reference lies."""
    return numbered.path_of(_refs(study), number)


def names(store: Store) -> tuple[str, ...]:
    """The names of all studies with a reference, sorted."""
    return tuple(sorted({path.split("/")[1] for path in store.listing(FOLDER) if REFS in path}))


def _refs(study: str) -> str:
    return f"{FOLDER}/{checked_name(study)}{REFS}".rstrip("/")
