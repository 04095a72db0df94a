"""Cells whose trials are too many for one worker: their partials stay in the store, as scratch, while figures are made.

Nothing large goes through the scheduler: a task reads the part it is given and returns sums. The first pass keeps the
trials of every part by score in the store (``sorted_parts``), from which later ones read what they need. A part is a
bucket of queries at least: only beyond 64 times ``ROWS_PER_TASK`` does the memory of a task grow with the cell.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pipeline.engine import editions
from pipeline.engine.counting import Counted
from pipeline.engine.mending import removing, unless_damaged
from pipeline.engine.parts import Parts
from pipeline.engine.runner import Here, OnCluster
from pipeline.engine.work import Work, total
from pipeline.errors import UsageError
from pipeline.partials.codec import FORMS, decode, encode_parts
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
    """A part of a cell's partial: in the store, or made by ``make`` when it is asked for."""

    store: Store
    path: str
    make: Callable[[], Counted]

    def load(self) -> Any:
        """The partial."""
        return self.ensured().partial

    def ensured(self) -> Counted:
        """The part, and what it took to have it."""
        work = Work()
        if self.store.exists(self.path):
            found = unless_damaged(lambda: decode(self.store.get(self.path)), self.path)
            if found is not None:
                return Counted(found)
            work = Work.of_damaged(self.path)
        made = self.make()
        self.store.put_parts(self.path, encode_parts(made.partial.kind, *made.partial.to_columns()))
        return replace(made, work=work + made.work)


@dataclass(frozen=True)
class Kept:
    """Parts that are in the store: their distinct scores in all, and what it took to have them."""

    stored: tuple[Stored, ...]
    n_rows: int
    work: Work

    @property
    def exceeds(self) -> bool:
        """Whether they are too many for one worker, now that equal scores are one row."""
        return self.n_rows > rows_in_memory()

    def parts(self, run: Here | OnCluster) -> Parts:
        """The parts as tasks see them."""
        return Parts(run, self.stored)

    def forget(self) -> None:
        """Remove the parts from the store: a later run counts them again."""
        with removing("parts of a cell"):
            for part in self.stored:
                part.store.remove(part.path)


def may_be(protocol: Protocol, n_trials: int) -> bool:
    """Whether a cell of so many trials may be too large for one worker, and can do without being in one."""
    return protocol.family.can.parts is not None and n_trials > rows_in_memory()


def keep(
    run: Here | OnCluster,
    store: Store,
    protocol: Protocol,
    labels: str,
    makers: Mapping[tuple[int, int], Callable[[], Counted]],
) -> Kept:
    """The partial of the labels at a path in parts, one a batch of buckets, made where the store lacks them."""
    name = editions.named("figures", "parts", protocol, labels=labels, forms=FORMS)
    paths = {ends: f"scratch/{name[:2]}/{name}.{ends[0]}-{ends[1]}" for ends in makers}
    stored = tuple(Stored(store, paths[ends], make) for ends, make in makers.items())
    seen: list[tuple[int, Work]] = run.one(list, run.map(kept, stored))
    return Kept(stored, sum(n_rows for n_rows, _ in seen), total(work for _, work in seen))


def kept(part: Stored) -> tuple[int, Work]:
    """Task: have a part in the store; its rows and what it took."""
    found = part.ensured()
    return found.partial.n_rows, found.work


def counted(part: Stored) -> Counted:
    """Task: a part as it is, to be merged."""
    return Counted(part.load())
