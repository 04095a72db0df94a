"""Sums by buckets of scores: the highest bits of a score, as an unsigned number of the same order, are its bucket.

Buckets are the same everywhere, so the sums of parts add up bucket by bucket, however trials are divided. A few
thousand of them hold a cell of any size; those that matter are divided by the bits that follow, down to single scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline import compiled
from pipeline.arrays import Floats, Ints
from pipeline.metrics.kws.by_score import ByScore
from pipeline.metrics.kws.means import QueryMeans

Images = NDArray[np.uint64]
LEVELS = (20, 32, 44, 56, 64)
"""Bits of a bucket, coarse to fine. 20 are sign, exponent and 8 of the significand: 256 buckets an octave."""
FINEST = LEVELS[-1]
"""Bits of a bucket that is one score."""
WORDS = 4
"""Words of miss weights (high, low) and of false-alarm weights (high, low), see ``fixed_point``."""
_SIGN = np.uint64(1 << 63)
COMPILED_FROM = 50_000
"""Rows of a part from which the compiled kernel is worth a call."""


def images(score: Floats) -> Images:
    """Unsigned numbers in the order of the scores, -0.0 like 0.0; NaN beyond everything."""
    bits = (np.asarray(score, np.float64) + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def prefixes(image: Images, bits: int) -> Images:
    """The buckets of images."""
    return image >> np.uint64(FINEST - bits)


@dataclass(frozen=True, eq=False)
class Buckets:
    """Occupied buckets of one level in ascending order; false-alarm words of all, miss words of those with targets."""

    bits: int
    key: NDArray[Any]
    """uint32 where ``bits`` fit into it, else uint64."""
    first: Floats
    """The lowest score of each."""
    n_rows: NDArray[np.uint32]
    """Rows of parts that fell into each, equal scores of several queries or parts one by one."""
    fa: Ints
    """(2, n): high and low words."""
    hit: NDArray[Any]
    """Keys of the buckets with words of miss weights."""
    miss: Ints
    """(2, n_hit)."""

    @classmethod
    def of(cls, bits: int, key: NDArray[Any], first: Floats, n_rows: NDArray[Any], words: Ints) -> Buckets:
        """From the words (4, n) of distinct buckets in ascending order."""
        hit = (words[0] != 0) | (words[1] != 0)
        key = key.astype(np.uint32 if bits <= 32 else np.uint64)
        columns = np.ascontiguousarray(words[2:]), key[hit], words[:2, hit]
        return cls(bits, key, first, n_rows.astype(np.uint32), *columns)

    @property
    def words(self) -> Ints:
        """All words, (4, n)."""
        result = np.zeros((WORDS, self.key.size), np.int64)
        result[:2, np.searchsorted(self.key, self.hit)], result[2:] = self.miss, self.fa
        return result

    @classmethod
    def joined(cls, parts: Sequence[Buckets]) -> Buckets:
        """All of ``parts`` (at least one) together."""
        runs = _Runs.of([part.key for part in parts])
        first = runs.reduced(np.minimum, [part.first for part in parts])
        # Nobody asks for more than whether there are many.
        n_rows = np.minimum(runs.reduced(np.add, [part.n_rows.astype(np.int64) for part in parts]), _MANY)
        fa = [runs.reduced(np.add, [part.fa[word] for part in parts]) for word in (0, 1)]
        hits = _Runs.of([part.hit for part in parts])
        miss = [hits.reduced(np.add, [part.miss[word] for part in parts]) for word in (0, 1)]
        return cls(parts[0].bits, runs.key, first, n_rows.astype(np.uint32), np.stack(fa), hits.key, np.stack(miss))


_MANY = np.iinfo(np.uint32).max


class _Runs(NamedTuple):
    """The distinct ones of several keys, and how columns beside these become columns beside those."""

    key: NDArray[Any]
    order: Ints
    starts: Ints

    @classmethod
    def of(cls, keys: Sequence[NDArray[Any]]) -> _Runs:
        joined = np.concatenate(keys)
        order = np.argsort(joined, kind="stable")  # which merges what is in order
        joined = joined[order]
        starts = np.flatnonzero(np.append(True, joined[1:] != joined[:-1])[: joined.size])
        return cls(joined[starts], order, starts)

    def reduced(self, add: np.ufunc, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        column = np.concatenate(columns)
        return np.asarray(add.reduceat(column[self.order], self.starts)) if column.size else column


@dataclass(frozen=True, eq=False)
class Divide:
    """Buckets of one level that are asked for at a finer one; ``None`` for all there are."""

    to: int
    bits: int = 0
    key: Images | None = None

    def rows(self, image: Images) -> Ints | slice:
        """Which rows are in those buckets."""
        if self.key is None:
            return slice(None)
        coarse = LEVELS[0]
        table = np.zeros(1 << coarse, np.bool_)
        table[prefixes(self.key << np.uint64(FINEST - self.bits), coarse)] = True
        rows: Ints = np.flatnonzero(table[prefixes(image, coarse)])
        if self.bits == coarse:
            return rows
        own = prefixes(image[rows], self.bits)
        at = np.minimum(np.searchsorted(self.key, own), self.key.size - 1)
        return np.asarray(rows[self.key[at] == own])


@dataclass(frozen=True, eq=False)
class Divided:
    """Buckets by level; they add up level by level."""

    levels: tuple[Buckets, ...]

    def __add__(self, other: Divided) -> Divided:
        return Divided.joined((self, other))

    @classmethod
    def joined(cls, parts: Sequence[Divided]) -> Divided:
        """All of ``parts`` (at least one) together."""
        return cls(tuple(map(Buckets.joined, zip(*(part.levels for part in parts), strict=True))))


class Counted(Protocol):
    """Rows with counts in any order, such as a ledger's."""

    @property
    def score(self) -> Floats:
        """Of each row."""
        ...

    @property
    def query(self) -> NDArray[np.int32]:
        """Of each row, as a position among all queries."""
        ...

    @property
    def n_target(self) -> Ints:
        """Targets of each row."""
        ...

    @property
    def n_nontarget(self) -> Ints:
        """Non-targets of each row."""
        ...

    def __len__(self) -> int: ...


def divided(rows: Counted | ByScore, means: QueryMeans, asked: tuple[Divide, ...]) -> Divided:
    """Task: the buckets that are asked for of the trials of scored queries, all of which ``rows`` may name."""
    return Divided(tuple(_buckets(rows, means, each) for each in asked))


def _buckets(ledger: Counted | ByScore, means: QueryMeans, asked: Divide) -> Buckets:
    if isinstance(ledger, ByScore):
        return _ascending(ledger, means, asked)
    if asked.key is None and asked.to == LEVELS[0] and _compiled(len(ledger)):
        from pipeline.metrics.kws.radix_kernel import coarse_buckets

        return Buckets.of(LEVELS[0], *coarse_buckets(ledger, means))
    rows = _selected(ledger.score, asked)
    query, score = ledger.query[rows], ledger.score[rows]
    counts = ledger.n_target[rows], ledger.n_nontarget[rows]
    if not means.scored.all():
        used = means.scored[query]
        query, score, counts = query[used], score[used], (counts[0][used], counts[1][used])
    keys = prefixes(images(score), asked.to)
    key, group = _coarse_groups(keys) if asked.to == LEVELS[0] else np.unique(keys, return_inverse=True)
    first = np.full(key.size, np.inf)
    np.minimum.at(first, group, score)
    words = np.zeros((WORDS, key.size), np.int64)
    for pair, (weights, count) in enumerate(zip((means.miss, means.fa), counts, strict=True)):
        some = np.flatnonzero(count)
        for word, weight in enumerate((weights.high, weights.low)):
            np.add.at(words[2 * pair + word], group[some], count[some] * weight[query[some]])
    return Buckets.of(asked.to, key, first, np.bincount(group, minlength=key.size), words)


def _ascending(rows: ByScore, means: QueryMeans, asked: Divide) -> Buckets:
    """Buckets of rows in order: runs of them."""
    image = images(rows.score)
    chosen = np.zeros(0, np.int64) if means.scored.all() else np.flatnonzero(~means.scored[rows.query])
    if asked.key is not None or chosen.size:
        used = np.zeros(image.size, np.bool_)
        used[asked.rows(image)] = True
        used[chosen] = False
        rows, image = rows.take(used), image[used]
    keys = prefixes(image, asked.to)
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
    words = np.zeros((WORDS, starts.size), np.int64)
    for pair, (weights, count) in enumerate(
        zip((means.miss, means.fa), (rows.n_target, rows.n_nontarget), strict=True)
    ):
        some = np.flatnonzero(count)
        begin = np.searchsorted(some, starts)
        within = begin < np.append(begin[1:], some.size)
        for word, weight in enumerate((weights.high, weights.low)):
            added = count[some] * weight[rows.query[some]]
            words[2 * pair + word, within] = np.add.reduceat(added, begin[within]) if some.size else 0
    n_rows = np.diff(np.append(starts, keys.size))
    return Buckets.of(asked.to, keys[starts], rows.score[starts], n_rows, words)


def _selected(score: Floats, asked: Divide) -> Ints | slice:
    if asked.key is not None and asked.bits == LEVELS[0] and _compiled(score.size):
        from pipeline.metrics.kws.radix_kernel import rows_of

        return np.asarray(rows_of(score, asked.key))
    return asked.rows(images(score)) if asked.key is not None else slice(None)


def _coarse_groups(keys: Images) -> tuple[Images, Ints]:
    """What ``np.unique`` gives, without sorting: there are only so many coarse buckets."""
    place = keys.astype(np.int64)
    slot = np.zeros(1 << LEVELS[0], np.int32)
    slot[place] = 1
    key = np.flatnonzero(slot)
    slot[key] = np.arange(key.size)
    return key.astype(np.uint64), slot[place].astype(np.int64)


def _compiled(n_rows: int) -> bool:
    return n_rows >= COMPILED_FROM and compiled.start(n_rows)
