"""Size and version of an object, as its place tells them without reading it."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """An object: its path in the store, its size, and when it was written by the place's own clock (since 1970)."""

    path: str
    n_bytes: int
    written_s: float


def written_s(entry: dict[str, Any]) -> float:
    """The time of writing in what an fsspec driver says about an object, since 1970; now where it does not say."""
    for name in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = entry.get(name)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, int | float):
            return float(value)
    return time.time()
