"""What is written meanwhile, as a manifest lists it: by the bytes that were given, not by what a reading says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256

Described = dict[str, str | int]
_NOTED: ContextVar[dict[str, Described] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[dict[str, Described]]:
    """``sha256`` and ``n_bytes`` by path of each object that this thread writes while the context lasts."""
    noted: dict[str, Described] = {}
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def note(path: str, parts: Iterable[bytes | memoryview]) -> None:
    """An object was written."""
    noted = _NOTED.get()
    if noted is not None:
        digest, n_bytes = sha256(), 0
        for part in parts:
            digest.update(part)
            n_bytes += memoryview(part).nbytes
        noted[path] = {"sha256": digest.hexdigest(), "n_bytes": n_bytes}
