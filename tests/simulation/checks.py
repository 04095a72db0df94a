"""What must be so whatever happened: every reference is whole, and nothing that it reaches is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from pipeline.errors import RescoreError
from pipeline.grid import integrity
from pipeline.store.blobs import Store
from tests.simulation.faulty import Objects
from tests.simulation.seams import ROOT

_SOUND: set[tuple[str, bytes]] = set()
"""Objects that were read and found to be what was written, by path and digest."""
_MOST = 200_000


def forget() -> None:
    """What was found sound."""
    _SOUND.clear()


class BadEndError(Exception):
    """Something that must never be. ``kind`` says what, for making histories smaller."""

    def __init__(self, kind: str, told: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {told}")


def references(objects: Objects) -> list[str]:
    """Every reference that there is."""
    return sorted(path for path in objects.data if path.startswith("refs/"))


def whole(objects: Objects, reference: str) -> None:
    """Raise ``BadEndError`` where a reference is not whole, but for objects that were spoiled where they lie."""
    _check_link(objects, reference)
    for path, digest in reached(objects, reference):
        if path in objects.rotten:
            continue
        data = objects.data.get(path)
        if data is None:
            raise BadEndError("lost", f"{reference} reaches {path}, which is not there")
        found = sha256(data).digest()
        if digest is not None and found.hex() != digest:
            raise BadEndError("other", f"{reference} reaches {path}, whose digest is another")
        if (path, found) not in _SOUND and not _is_sound(path):
            raise BadEndError("damaged", f"{reference} reaches {path}, which is not what was written")
        _SOUND.add((path, found))
    if len(_SOUND) > _MOST:
        _SOUND.clear()


def _check_link(objects: Objects, reference: str) -> None:
    """Raise where a reference names another one before it than there is; it may be gone, or spoiled where it lies."""
    chain, (folder, _, number) = _body(objects, reference).get("chain"), reference.rpartition("/")
    before = f"{folder}/{int(number.removesuffix('.json')) - 1:08d}.json"
    if chain is None or before not in objects.data or before in objects.rotten:
        return
    if chain["before"] != sha256(objects.data[before]).hexdigest():
        raise BadEndError("link", f"{reference} does not follow from {before}")


def reached(objects: Objects, reference: str) -> Iterator[tuple[str, str | None]]:
    """Every object that a reference stands on, with its SHA-256 where the run's manifest names it."""
    yield reference, None
    commit = _body(objects, reference)
    manifest = commit.get("manifest")
    if manifest is None:
        return
    yield manifest, None
    run = _body(objects, manifest)
    for path, about in run.get("objects", {}).items():
        yield path, about["sha256"]
    for address in run.get("results", {}).values():
        for path in _body(objects, f"results/{address}.json").get("made_from", ()):
            yield path, None
            below = f"{path}/"
            yield from ((part, None) for part in list(objects.data) if part.startswith(below))


def _body(objects: Objects, path: str) -> dict[str, Any]:
    """A sealed document; {} where it is lost, which ``whole`` tells of, or was spoiled where it lies."""
    if path in objects.rotten:
        return {}
    try:
        found: dict[str, Any] = json.loads(objects.data[path])["body"]
    except (KeyError, ValueError, TypeError):
        return {}
    return found


def _is_sound(path: str) -> bool:
    """As ``rescore show --verify`` looks at what results were made from; other objects have digests in the manifest."""
    if path.partition("/")[0] in ("reports", "performance"):
        return True
    store = Store(ROOT)
    try:
        integrity._check(path)(store, path)
    except RescoreError:
        return False
    return True
