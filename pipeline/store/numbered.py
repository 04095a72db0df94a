"""Numbered records that are only ever added: 1, 2, … in a folder, each created exclusively and never changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pipeline.errors import StoreError
from pipeline.store.blobs import Store
from pipeline.store.seal import seal

DIGITS = 8
_TRIES = 1000


def path_of(folder: str, number: int) -> str:
    """Where a record lies."""
    return f"{folder}/{number:0{DIGITS}d}.json"


def numbers(store: Store, folder: str) -> list[int]:
    """The numbers of all records, in no order."""
    names = (path.rsplit("/", 1)[1] for path in store.listing(folder))
    return [int(name.removesuffix(".json")) for name in names if name.removesuffix(".json").isdecimal()]


def create(store: Store, folder: str, number: int, payload: dict[str, Any]) -> bool:
    """Write a record unless the number is taken: True for exactly one of any number of racing callers.

    ``payload`` must be JSON without NaN.
    """
    return store.create(path_of(folder, number), seal(json.dumps(payload, sort_keys=True, allow_nan=False).encode()))


def append(store: Store, folder: str, payload: dict[str, Any] | Callable[[int], dict[str, Any]]) -> int:
    """Write a record under the next number that is free; returns the number. ``payload`` may be made for a number.

    Of writers racing for a number one gets it, the others take the next. Raises ``StoreError`` after very many losses.
    """
    number = max(numbers(store, folder), default=0) + 1
    for candidate in range(number, number + _TRIES):
        if create(store, folder, candidate, payload(candidate) if callable(payload) else payload):
            return candidate
    raise StoreError(f"{store.root}: {_TRIES} records of {folder} were lost to other writers. Run again.")


def read(store: Store, folder: str, number: int) -> dict[str, Any]:
    """A record's payload; ``StoreError`` if it is missing or damaged."""
    payload = json.loads(store.get_sealed(path_of(folder, number)))
    if not isinstance(payload, dict):
        raise StoreError(f"{store.url(path_of(folder, number))}: a record is a JSON object. Remove it.")
    return payload
