"""What an execution made and what it found: the objects by their paths, never part of any result's bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

RINGS = ("references", "trials", "partials", "totals", "results")
"""Folders of the store that a run adds to. Totals are sums of partials, kept so that they need not be added again."""


@dataclass(frozen=True)
class Work:
    """Objects made, found and found damaged, with the bytes of input files that were read to make them.

    Sets of paths, so that adding is the same in any order and an object that two tasks raced for counts once.
    """

    made: Mapping[str, int] = field(default_factory=dict)
    """Path of each object made → bytes of input files read for it."""
    reused: frozenset[str] = frozenset()
    damaged: frozenset[str] = frozenset()
    """Objects that were lost or not what had been written; each was discarded and made again."""

    @classmethod
    def of_made(cls, path: str, bytes_read: int = 0) -> Work:
        """One object, made now."""
        return cls({path: bytes_read})

    @classmethod
    def of_reused(cls, *paths: str) -> Work:
        """Objects that were there."""
        return cls(reused=frozenset(paths))

    @classmethod
    def of_damaged(cls, path: str) -> Work:
        """One object that could not be used."""
        return cls(damaged=frozenset((path,)))

    def __add__(self, other: Work) -> Work:
        made = {**self.made, **other.made}
        for path in self.made.keys() & other.made.keys():
            made[path] = max(self.made[path], other.made[path])
        reused = (self.reused | other.reused) - made.keys()
        return Work(made, reused, self.damaged | other.damaged)

    def __bool__(self) -> bool:
        return bool(self.made or self.reused or self.damaged)

    def document(self) -> dict[str, Any]:
        """Counts by ring, bytes read and the damaged objects, as JSON carries them."""
        counts = {ring: {"made": _count(self.made, ring), "reused": _count(self.reused, ring)} for ring in RINGS}
        return {**counts, "bytes_read": sum(self.made.values()), "damaged": sorted(self.damaged)}


def total(parts: Iterable[Work]) -> Work:
    """All of ``parts`` together."""
    made: dict[str, int] = {}
    reused, damaged = set[str](), set[str]()
    for part in parts:
        for path, bytes_read in part.made.items():
            made[path] = max(bytes_read, made.get(path, 0))
        reused |= part.reused
        damaged |= part.damaged
    return Work(made, frozenset(reused - made.keys()), frozenset(damaged))


def _count(paths: Iterable[str], ring: str) -> int:
    return sum(path.partition("/")[0] == ring for path in paths)


WORDS = {"references": "references", "trials": "outputs read", "partials": "tiles", "results": "cells"}


def work_text(work: Mapping[str, Any]) -> str:
    """A record of an execution in one line: what was made and what was reused, and how much was read."""
    if "results" not in work:
        return "nothing was recorded"
    parts = [f"{WORDS[ring]} {work[ring]['made']} made, {work[ring]['reused']} reused" for ring in reversed(WORDS)]
    parts.append(f"{_size(work['bytes_read'])} of inputs read, {_size(work.get('bytes_hashed', 0))} hashed")
    if work["damaged"]:
        parts.append(f"{len(work['damaged'])} damaged objects made again")
    return "; ".join(parts)


def _size(n_bytes: int) -> str:
    size, unit = float(n_bytes), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
