"""The record of stored arrays: every object of a Zarr store with its size and SHA-256, in ``<path>.json``.

It is written last. Objects are read whole through it, and what is not as recorded is a ``DamageError``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

from pipeline.errors import DamageError
from pipeline.store.blobs import Store
from pipeline.store.seal import unseal

Record = Mapping[str, tuple[int, str]]
"""Size in bytes and SHA-256 of each object, by its key."""

KIND = "arrays/1"
"""The form of stored arrays with their record."""
_READERS = 8


def record_path(path: str) -> str:
    """Where the record of the arrays at ``path`` is."""
    return f"{path}.json"


def write_record(store: Store, path: str, objects: Mapping[str, bytes]) -> None:
    """Record objects that have been written."""
    listed = {key: [len(data), sha256(data).hexdigest()] for key, data in objects.items()}
    record = json.dumps({"kind": KIND, "objects": listed}, sort_keys=True, separators=(",", ":"))
    store.put_sealed(record_path(path), record.encode())


def sealed_record(store: Store, path: str) -> bytes:
    """The record's bytes; ``DamageError`` where there are none."""
    where = record_path(path)
    if not store.exists(where):
        message = f"{store.url(where)}: there is no record, so the arrays were never finished. Run again to write them."
        raise DamageError(message)
    return store.get(where)


def parsed(data: bytes, where: str) -> Record:
    """The record that bytes hold; ``DamageError`` where they are not those of one. ``where`` is for messages."""
    record = json.loads(unseal(data, where))
    if record["kind"] != KIND:
        raise DamageError(f"{where}: this is {record['kind']!r}, not {KIND!r}. Remove it and run again.")
    return {key: (size, digest) for key, (size, digest) in record["objects"].items()}


def read_record(store: Store, path: str) -> Record:
    """The record of the arrays at ``path``; ``DamageError`` where there is none, or it is damaged."""
    return parsed(sealed_record(store, path), store.url(record_path(path)))


def lost(store: Store, path: str, record: Record) -> list[str]:
    """What is wrong with the objects of a record by their names and sizes, in words."""
    sizes = store.listing(path)
    found = {key: sizes.get(f"{path}/{key}") for key in record}
    return [
        f"{key} is lost" if found[key] is None else f"{key} has {found[key]} bytes, {record[key][0]} were written"
        for key in sorted(record)
        if found[key] != record[key][0]
    ]


def is_near(store: Store) -> bool:
    """Whether reading objects waits for no network."""
    return "://" not in store.root


def checked_object(store: Store, path: str, key: str, entry: tuple[int, str]) -> bytes:
    """The bytes of one recorded object; ``DamageError`` if it is missing or other bytes are there."""
    data = store.get(f"{path}/{key}")
    if (len(data), sha256(data).hexdigest()) != tuple(entry):
        raise DamageError(
            f"{store.url(path)}/{key}: the object is damaged ({len(data)} bytes, {entry[0]} were written; or their "
            "SHA-256 differs). Remove its record and run again."
        )
    return data


def checked_objects(store: Store, path: str, record: Record, keys: Sequence[str]) -> dict[str, bytes]:
    """The bytes of recorded objects by their keys, read several at once where that waits for a network."""
    if is_near(store) or len(keys) < 2:
        return {key: checked_object(store, path, key, record[key]) for key in keys}
    with ThreadPoolExecutor(_READERS) as pool:
        return dict(zip(keys, pool.map(lambda key: checked_object(store, path, key, record[key]), keys), strict=True))
