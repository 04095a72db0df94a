"""What a place says of an object without reading it."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """An object: its path in the store, its size, and when it was written by the place's own clock (since 1970)."""

    path: str
    n_bytes: int
    written_s: float
