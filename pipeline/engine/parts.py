"""Map over parts and add up exactly, here or on a cluster.

Parts stay where they are; a little state goes out, sums come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, runtime_checkable
from typing import Protocol as Interface

from pipeline.engine.memory import keep_some_memory
from pipeline.engine.mending import removing
from pipeline.engine.runner import Here, OnCluster, begun, summed
from pipeline.engine.sorted_parts import Held, Index, Keeping, Kept, SortedParts
from pipeline.errors import StoreError
from pipeline.metrics.kws.by_score import Table
from pipeline.store.address import address
from pipeline.store.blobs import Store


@runtime_checkable
class Loadable(Interface):
    """A part that is elsewhere."""

    store: Store
    path: str

    def load(self) -> Any:
        """The part itself."""
        ...


class Parts:
    """Values, what loads them, or futures of either; none of them is ever here on a cluster."""

    def __init__(self, run: Here | OnCluster, parts: Sequence[Any]) -> None:
        self._run, self._parts = run, tuple(parts)
        self._sorted: list[SortedParts] = []

    @property
    def n(self) -> int:
        """How many parts there are."""
        return len(self._parts)

    def sum(self, task: Callable[..., Any], *state: Any) -> Any:
        """``task(part, *state)`` of every part, added up in the order of the parts."""
        return summed(self._run, self._run.map(apply, self._parts, task, *state))

    def sorted(
        self, kinds: Sequence[type[Table]], about: Mapping[str, Any], task: Callable[..., Any], *state: Any
    ) -> tuple[tuple[SortedParts, ...], Any]:
        """Tables of the parts by score, kept for many passes, and sums that are made on the way.

        ``task(part, *state)`` gives blocks of tables of all ``kinds``, and a value to be added up. ``about`` says what
        the tables depend on beside the part. Stored parts keep them in the store until ``forget`` is called.
        """
        name = address("tables", **about)
        try:
            return self._kept(tuple(kinds), name, task, *state)
        except Exception:
            with suppress(StoreError):  # what failed is told; a full disk is not left so
                _forget(self._parts, kinds, name)
            raise

    def _kept(
        self, kinds: tuple[type[Table], ...], name: str, task: Callable[..., Any], *state: Any
    ) -> tuple[tuple[SortedParts, ...], Any]:
        made = self._run.map(cut, self._parts, kinds, name, task, *state)
        total = begun(self._run, self._run.map(value_of, made))
        found: list[tuple[Described, ...]] = self._run.one(list, self._run.map(described, made))
        for at, kind in enumerate(kinds):
            of_kind = [each[at] for each in found]
            tables = [
                self._run.submit(table_of, each, at)
                if store is None
                else Kept(store, paths, kind, index, Again(part, task, state, kind))
                for each, part, (paths, index, store) in zip(made, self._parts, of_kind, strict=True)
            ]
            self._sorted.append(SortedParts(self._run, tables, [index for _, index, _ in of_kind]))
        return tuple(self._sorted[-len(kinds) :]), total()

    def forget(self) -> None:
        """Remove from the store what was kept for passes. Whoever still needs it makes it again."""
        with removing("trials by score"):
            for tables in self._sorted:
                tables.remove()


class Made(NamedTuple):
    """Of one part: its tables, and what is added up."""

    tables: tuple[Held | Kept, ...]
    value: Any


def apply(part: Any, task: Callable[..., Any], *state: Any) -> Any:
    """Task: one part of a pass."""
    return task(_loaded(part), *state)


def cut(part: Any, kinds: tuple[type[Table], ...], name: str, task: Callable[..., Any], *state: Any) -> Made:
    """Task: the tables of one part, and its share of a sum."""
    keep_some_memory()
    blocks, value = task(_loaded(part), *state)
    if not isinstance(part, Loadable):
        found = list(blocks)
        return Made(tuple(Held(tuple(block for block in found if type(block) is kind)) for kind in kinds), value)
    keeping = {kind: Keeping(part.store, part.path, name, kind) for kind in kinds}
    for block in blocks:
        keeping[type(block)].add(block)
    return Made(tuple(keeping[kind].table(Again(part, task, state, kind)) for kind in kinds), value)


@dataclass(frozen=True)
class Again:
    """How the blocks of a table that was lost are made again."""

    part: Any
    task: Callable[..., Any]
    state: tuple[Any, ...]
    kind: type[Table]

    def __call__(self) -> Iterator[Table]:
        """The blocks."""
        return (block for block in self.task(_loaded(self.part), *self.state)[0] if type(block) is self.kind)


Described = tuple[tuple[str, ...], Index, Store | None]
"""Where a table is, and its index; no store where it is held."""


def described(made: Made) -> tuple[Described, ...]:
    """Task: where the tables of a part are."""
    return tuple((table.paths, table.index, getattr(table, "store", None)) for table in made.tables)


def table_of(made: Made, at: int) -> Held | Kept:
    """Task: one of the tables of a part."""
    return made.tables[at]


def value_of(made: Made) -> Any:
    """Task: a part's share of a sum."""
    return made.value


def _forget(parts: Sequence[Any], kinds: Sequence[type[Table]], name: str) -> None:
    """Remove the tables of stored parts, as far as they were written."""
    for part in parts:
        for kind in kinds if isinstance(part, Loadable) else ():
            Keeping(part.store, part.path, name, kind).forget()


def _loaded(part: Any) -> Any:
    return part.load() if isinstance(part, Loadable) else part
