"""Tables in ascending order of score, a part each, in small sealed pieces: a pass reads those that it needs.

They are scratch: content decides their names and their bytes, so that two runs of one cell write the same; whatever is
lost or damaged is made again; and when the cell has its result, they go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from pipeline.arrays import Ints
from pipeline.engine.memory import keep_some_memory
from pipeline.engine.mending import unless_damaged
from pipeline.engine.runner import Here, OnCluster, begun, summed
from pipeline.metrics.kws.by_score import Table
from pipeline.metrics.kws.passes import Spans
from pipeline.metrics.kws.radix import Images, images
from pipeline.partials.codec import decode_columns, encode_columns
from pipeline.store.address import address
from pipeline.store.blobs import Store

PIECE_ROWS = 1 << 14
"""Rows that are sealed together."""
RANGE_ROWS = 1 << 20
"""Rows of all parts that a range has, about."""


class Index(NamedTuple):
    """Of a table's pieces: images of their lowest and highest scores, their blocks, and where in these their bytes
    begin and end."""

    low: Images
    high: Images
    block: Ints
    begin: Ints
    end: Ints

    @classmethod
    def of(cls, low: Sequence[float], high: Sequence[float], n_bytes: Sequence[int], block: int) -> Index:
        """The pieces of one block."""
        ends = np.cumsum(n_bytes, dtype=np.int64)
        columns = images(np.array(low)), images(np.array(high)), np.full(len(low), block)
        return cls(*columns, ends - np.array(n_bytes, np.int64), ends)

    @classmethod
    def joined(cls, parts: Sequence[Index]) -> Index:
        """The pieces of several blocks (at least one)."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def within(self, spans: Spans | None) -> Ints:
        """The pieces that have rows between the ends of a span; all of them without any."""
        if spans is None:
            return np.arange(self.low.size)
        low, high = spans
        after = np.searchsorted(high, self.low)
        begins = np.append(low, np.iinfo(np.uint64).max)[after]
        return np.flatnonzero((after < low.size) & (begins <= self.high))

    def by_block(self, spans: Spans | None) -> list[Ints]:
        """``within`` by blocks, those without any left out; the pieces of a block are in order."""
        which = self.within(spans)
        return np.split(which, np.flatnonzero(np.diff(self.block[which])) + 1) if which.size else []


def pieces(block: Table) -> Iterator[Table]:
    """A block cut into pieces, one at least."""
    for begin in range(0, max(len(block), 1), PIECE_ROWS):
        yield block.take(slice(begin, begin + PIECE_ROWS))


def encoded(block: Table, number: int) -> tuple[bytes, Index]:
    """A block as bytes, and where its pieces are."""
    cut = list(pieces(block))
    data = [encode_columns(piece.kind, piece.columns()) for piece in cut]
    ends = [piece.score[[0, -1]] if len(piece) else np.zeros(2) for piece in cut]
    low, high = zip(*ends, strict=True)
    return b"".join(data), Index.of(low, high, list(map(len, data)), number)


@dataclass(frozen=True, eq=False)
class Held:
    """The blocks of a table in memory."""

    blocks: tuple[Table, ...]
    paths: tuple[str, ...] = ()

    @property
    def index(self) -> Index:
        """The index of its pieces, as if they were written."""
        return Index.joined([encoded(block, number)[1] for number, block in enumerate(self.blocks)])

    def read(self, which: Ints) -> list[Table]:
        """Some of the pieces."""
        every = [piece for block in self.blocks for piece in pieces(block)]
        return [every[at] for at in which.tolist()]


@dataclass(frozen=True, eq=False)
class Kept:
    """A table in the store, an object a block."""

    store: Store
    paths: tuple[str, ...]
    kind: type[Table]
    index: Index
    make: Callable[[], Iterable[Table]]
    """Gives all blocks once more."""

    def read(self, which: Ints) -> list[Table]:
        """Some of the pieces, made again where they are lost."""
        found = []
        for first, last in _neighbours(which, self.index.block):
            path = self.paths[self.index.block[first]]
            some = unless_damaged(lambda path=path, first=first, last=last: self._found(path, first, last), path)  # type: ignore[misc]
            found += self._again(first, last) if some is None else some
        return found

    def _found(self, path: str, first: int, last: int) -> list[Table]:
        begin, end = self.index.begin[first : last + 1].tolist(), self.index.end[first : last + 1].tolist()
        data = self.store.get_range(path, begin[0], end[-1])
        cut = (data[low - begin[0] : high - begin[0]] for low, high in zip(begin, end, strict=True))
        return [self.kind(**decode_columns(piece, self.kind.kind)[0]) for piece in cut]

    def _again(self, first: int, last: int) -> list[Table]:
        number = int(self.index.block[first])
        block = next(block for at, block in enumerate(self.make()) if at == number)
        self.store.put(self.paths[number], encoded(block, number)[0])
        begin = first - int(np.searchsorted(self.index.block, number))
        return list(pieces(block))[begin : begin + last - first + 1]


class Keeping:
    """Writes the blocks of one part's table, and gives the table when they are all there."""

    def __init__(self, store: Store, part: str, about: str, kind: type[Table]) -> None:
        name = address("scratch", part=part, table=kind.kind, about=about)
        self._store, self._path, self._kind = store, f"scratch/{name[:2]}/{name}", kind
        self._paths: list[str] = []
        self._indices: list[Index] = []

    def add(self, block: Table) -> None:
        """One more block."""
        data, index = encoded(block, len(self._paths))
        self._paths.append(f"{self._path}.{len(self._paths)}")
        self._indices.append(index)
        self._store.put(self._paths[-1], data)

    def table(self, make: Callable[[], Iterable[Table]]) -> Kept:
        """The table, at least one block of which was added."""
        return Kept(self._store, tuple(self._paths), self._kind, Index.joined(self._indices), make)

    def forget(self) -> None:
        """Remove what anyone wrote of it, without knowing how much that is."""
        for number in count():
            path = f"{self._path}.{number}"
            if not self._store.exists(path):
                return
            self._store.remove(path)


def _neighbours(which: Ints, block: Ints) -> list[tuple[int, int]]:
    """Runs of pieces that follow one another in one block: the first and the last of each."""
    breaks = np.flatnonzero((np.diff(which) > 1) | (np.diff(block[which]) > 0))
    firsts, lasts = np.append(0, breaks + 1), np.append(breaks, which.size - 1)
    return list(zip(which[firsts].tolist(), which[lasts].tolist(), strict=True)) if which.size else []


class SortedParts:
    """Tables by score with their indices: kept ones, held ones, or futures of those.

    Kept ones are here as they are: a task that waits for nobody's answer goes to whichever worker is free.
    """

    def __init__(self, run: Here | OnCluster, tables: Sequence[Any], indices: Sequence[Index]) -> None:
        self._run, self._tables, self._indices = run, tuple(tables), tuple(indices)

    def sum(self, task: Callable[..., Any], *state: Any, spans: Spans | None = None) -> Any:
        """``task(rows, *state)`` of all rows, some at a time, added up; at least of those in ``spans``."""
        return self.begin(task, *state, spans=spans)()

    def begin(self, task: Callable[..., Any], *state: Any, spans: Spans | None = None) -> Callable[[], Any]:
        """``sum`` without waiting: what waits."""
        asked = self._run.submit(Asked, task, state, spans)
        chosen = [
            table for table, index in zip(self._tables, self._indices, strict=True) if index.within(spans).size
        ] or self._tables[:1]
        return begun(self._run, self._run.map(pass_over, chosen, asked))

    def ranges(self, spans: Spans, task: Callable[..., Any], *state: Any) -> Any:
        """``task(rows, *state)``, added up, of ranges of scores that cover the spans, with all rows of each."""
        asked = self._run.submit(Asked, task, state, None)
        every = np.sort(np.concatenate([index.low for index in self._indices]))
        edges = np.unique(every[:: max(RANGE_ROWS // PIECE_ROWS, 1)])
        edges[:1] = 0
        ends = np.append(edges[1:] - np.uint64(1), np.iinfo(np.uint64).max)
        level = []
        for low, high in zip(edges, ends, strict=True):
            one = np.array([low]), np.array([high])
            if _overlap(spans, one):
                tables = [
                    table for table, index in zip(self._tables, self._indices, strict=True) if index.within(one).size
                ]
                level.append(self._run.submit(range_of, tables or [self._tables[0]], one, asked))
        return summed(self._run, level)

    def remove(self) -> None:
        """Remove the tables from the store."""
        for table in self._tables:
            if isinstance(table, Kept):
                for path in table.paths:
                    table.store.remove(path)


class Asked(NamedTuple):
    """A task and what it takes after the rows, which of them it needs."""

    task: Callable[..., Any]
    state: tuple[Any, ...]
    spans: Spans | None


def _overlap(spans: Spans, one: Spans) -> bool:
    at = int(np.searchsorted(spans[1], one[0][0]))
    return at < spans[0].size and bool(spans[0][at] <= one[1][0])


def pass_over(table: Held | Kept, asked: Asked) -> Any:
    """Task: the sum of one table."""
    keep_some_memory()
    total: Any = None
    for which in table.index.by_block(asked.spans):
        found = table.read(which)
        made = asked.task(found[0].chained(found), *asked.state)
        total = made if total is None else total + made
    return asked.task(_nothing(table), *asked.state) if total is None else total


def range_of(tables: Sequence[Held | Kept], span: Spans, asked: Asked) -> Any:
    """Task: the sum of one range of scores, with the rows of all tables."""
    [low], [high] = span
    found = []
    for table in tables:
        for piece in table.read(table.index.within(span)):
            image = images(piece.score)
            found.append(piece.take((image >= low) & (image <= high)))
    rows = found or [_nothing(tables[0])]
    return asked.task(rows[0].merged(rows), *asked.state)


def _nothing(table: Held | Kept) -> Table:
    return table.read(np.zeros(1, np.int64))[0].take(slice(0, 0))
