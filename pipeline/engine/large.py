"""Cells whose trials are too many for one worker: their total stays in the store in parts.

Nothing large goes through the scheduler: a task reads the part it is given and returns sums. The first pass keeps the
trials of every part by score in the store (``sorted_parts``), from which later ones read what they need. A part is a
bucket of queries at least: only beyond 64 times ``ROWS_PER_TASK`` does the memory of a task grow with the cell.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.engine import totals
from pipeline.engine.mending import unless_damaged
from pipeline.engine.parts import Parts
from pipeline.engine.runner import Here, OnCluster
from pipeline.engine.tiles import Counted
from pipeline.engine.totals import Total
from pipeline.engine.work import Work, total
from pipeline.errors import UsageError
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store

ROWS_IN_MEMORY = 4_000_000
"""Distinct scores of all queries up to which a cell's total is merged in one worker, in some 2 GiB."""
BOUND = "RESCORE_ROWS_IN_MEMORY"
"""The environment variable that sets another bound. No figure depends on it, so no signature has it."""


def rows_in_memory() -> int:
    """The bound in force. Raises ``UsageError`` where the environment holds no whole number."""
    text = os.environ.get(BOUND, str(ROWS_IN_MEMORY))
    if not text.isascii() or not text.isdecimal():
        raise UsageError(f"{BOUND} is {text!r} (allowed: a whole number of rows). Correct or unset it.")
    return int(text)


@dataclass(frozen=True)
class Stored:
    """A part of a cell's total: in the store, or made by ``make`` when it is asked for."""

    store: Store
    path: str
    make: Callable[[], Counted]
    about: Total
    """What every part of the total says but for its partial and its tiles."""

    def load(self) -> Any:
        """The partial."""
        return self.ensured()[0].partial

    def ensured(self) -> tuple[Total, Work]:
        """The part and what it took to have it."""
        work = Work.of_reused(self.path)
        if self.store.exists(self.path):
            found = unless_damaged(lambda: totals.load(self.store, self.path), self.path)
            if found is not None:
                return found, work
            self.store.remove(self.path)
            work = Work.of_damaged(self.path)
        made = self.make()
        tiles = sorted(path for path in {*made.work.made, *made.work.reused} if path.startswith("partials/"))
        objects = (*self.about.objects, *tiles)
        found = replace(self.about, partial=made.partial, objects=objects)
        totals.save(self.store, self.path, found)
        return found, work + made.work + Work.of_made(self.path)


@dataclass(frozen=True)
class Kept:
    """Parts that are in the store: their distinct scores in all, and what they were made of."""

    stored: tuple[Stored, ...]
    n_rows: int
    objects: tuple[str, ...]
    work: Work

    @property
    def exceeds(self) -> bool:
        """Whether they are too many for one worker, now that equal scores are one row."""
        return self.n_rows > rows_in_memory()

    def parts(self, run: Here | OnCluster) -> Parts:
        """The parts as tasks see them."""
        return Parts(run, self.stored)


def may_be(protocol: Protocol, n_trials: int) -> bool:
    """Whether a cell of so many trials may be too large for one worker, and can do without being in one."""
    return protocol.family.conclude_parts is not None and n_trials > rows_in_memory()


def keep(
    run: Here | OnCluster,
    store: Store,
    path: str,
    about: Total,
    makers: Mapping[tuple[int, int], Callable[[], Counted]],
) -> Kept:
    """The parts of the total at ``path``, one a batch of buckets, made where the store lacks them."""
    stored = tuple(Stored(store, totals.part_of(path, *batch), make, about) for batch, make in makers.items())
    seen: list[tuple[int, tuple[str, ...], Work]] = run.one(list, run.map(kept, stored))
    objects = tuple(sorted({path for _, tiles, _ in seen for path in tiles} | {part.path for part in stored}))
    return Kept(stored, sum(n_rows for n_rows, _, _ in seen), objects, total(work for _, _, work in seen))


def kept(part: Stored) -> tuple[int, tuple[str, ...], Work]:
    """Task: have a part in the store; its rows and what it was made of."""
    found, work = part.ensured()
    return found.partial.n_rows, found.objects, work


def counted(part: Stored) -> Counted:
    """Task: a part as it is, to be merged."""
    return Counted(part.load())
