"""The work of an execution: objects made and objects found, by path; never part of any result's bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.store.meter import Cost, Costs, together

RINGS = ("tables", "references", "trials", "labels", "results")
"""Folders of the store that a run adds to."""


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
    costs: Costs = field(default_factory=dict, compare=False)
    """Costs of the tasks, by their kind. Unlike paths, costs of one task must be added once."""
    samples: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What intervals are made from (``sampled.Sampled``), by the paths of results made here: for publishing, in no
    record. Not named by its type, which Prefect would look into."""

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

    @classmethod
    def of_cost(cls, kind: str, cost: Cost) -> Work:
        """The work of one task that cost this."""
        return cls(costs={kind: cost})

    def __add__(self, other: Work) -> Work:
        made = {**self.made, **other.made}
        for path in self.made.keys() & other.made.keys():
            made[path] = max(self.made[path], other.made[path])
        reused = (self.reused | other.reused) - made.keys()
        costs = together(self.costs, other.costs)
        return Work(made, reused, self.damaged | other.damaged, costs, {**self.samples, **other.samples})

    def __bool__(self) -> bool:
        return bool(self.made or self.reused or self.damaged)

    def document(self) -> dict[str, Any]:
        """Counts by ring, bytes read and the damaged objects, as JSON carries them."""
        counts = {ring: {"made": _count(self.made, ring), "reused": _count(self.reused, ring)} for ring in RINGS}
        costs = {kind: self.costs[kind].document() for kind in sorted(self.costs)}
        return {**counts, "bytes_read": sum(self.made.values()), "damaged": sorted(self.damaged), "costs": costs}


def total(parts: Iterable[Work]) -> Work:
    """All of ``parts`` together."""
    made: dict[str, int] = {}
    reused, damaged = set[str](), set[str]()
    costs: Costs = {}
    samples: dict[str, Any] = {}
    for part in parts:
        costs = together(costs, part.costs)
        samples |= part.samples
        for path, bytes_read in part.made.items():
            made[path] = max(bytes_read, made.get(path, 0))
        reused |= part.reused
        damaged |= part.damaged
    return Work(made, frozenset(reused - made.keys()), frozenset(damaged), costs, samples)


def _count(paths: Iterable[str], ring: str) -> int:
    return sum(path.partition("/")[0] == ring for path in paths)


WORDS = {
    "tables": "organisers' files read",
    "references": "references",
    "trials": "outputs read",
    "labels": "labels",
    "results": "cells",
}


def work_text(work: Mapping[str, Any]) -> str:
    """A record of an execution in one line: what was made and what was reused, and how much was read."""
    if "results" not in work:
        return "nothing was recorded"
    parts = [_ring_text(WORDS[ring], work[ring]) for ring in reversed(WORDS) if ring in work]
    parts.append(f"{size_text(work['bytes_read'])} of inputs read, {size_text(work.get('bytes_hashed', 0))} hashed")
    if costs := work.get("costs"):
        parts.append(f"{sum(cost['cpu_s'] for cost in costs.values()):.1f} s of CPU")
    if work["damaged"]:
        parts.append(f"{len(work['damaged'])} damaged objects made again")
    return "; ".join(parts)


def _ring_text(word: str, counts: Mapping[str, int]) -> str:
    return f"{word} {counts['made']} made, {counts['reused']} reused"


def cost_rows(work: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """A record of an execution as a table: what the tasks of each kind took, under a line of headings; [] if none."""
    costs = work.get("costs") or {}
    rows = [
        (
            kind,
            str(cost["n_tasks"]),
            f"{cost['cpu_s']:.1f} s",
            f"{cost['wall_s']:.1f} s",
            size_text(cost["bytes_read"]),
            size_text(cost["bytes_written"]),
            size_text(cost["peak_rss_bytes"]),
        )
        for kind, cost in costs.items()
    ]
    return [("tasks", "number", "CPU", "wall", "read", "written", "peak memory"), *rows] if rows else []


def size_text(n_bytes: int) -> str:
    """A number of bytes for people."""
    size, unit = float(n_bytes), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
