"""The ledger: how many targets and non-targets each query has at each distinct score.

All term-weighted, cross-entropy and cost-curve figures are functions of it, whatever the operating point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.partials.packed import Decimals, Packed
from pipeline.partials.rows import Rows, concatenate, merge, tally

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Ledger:
    """Exact counts per (condition, query, distinct score), canonical: equal contents are equal bytes.

    Rows ascend strictly by (condition, query, score). ``condition`` and ``query`` are codes into the sorted
    vocabularies, which also name what has no row. Scores are never NaN nor -0.0; infinities are legal.
    """

    kind: ClassVar[str] = "ledger/1"

    conditions: tuple[str, ...]
    queries: tuple[str, ...]
    omitted: Ints
    """Targets that no trial is mapped to, shape (n_conditions, n_queries)."""
    condition: Codes
    query: Codes
    score: Floats
    n_target: Ints
    n_nontarget: Ints
    n_target_yes: Ints
    """Of ``n_target``, how many the system decided YES on."""
    n_nontarget_yes: Ints

    @classmethod
    def zero(cls) -> Ledger:
        """No condition, no query, no trial."""
        return _from_rows((), (), np.zeros((0, 0), np.int64), _no_rows())

    @classmethod
    def of(
        cls,
        queries: Sequence[str],
        query: Codes,
        score: Floats,
        decision: Bools,
        target: Bools,
        omitted_query: Codes,
        condition: str = "all",
    ) -> Ledger:
        """Count aligned trials of one condition, given in any order.

        ``query``, ``score``, ``decision`` (YES) and ``target`` hold one element per trial; ``omitted_query`` one per
        target that no trial is mapped to. Codes point into ``queries``, all of which are kept.
        Raises ``ValueError`` on NaN scores, repeated queries, codes outside ``queries`` and unequal lengths.
        """
        names, codes = _sorted_queries(queries)
        query, omitted_query = np.asarray(query), np.asarray(omitted_query)
        score = np.asarray(score, np.float64) + 0.0  # -0.0 becomes 0.0
        _check_trials(len(names), query, omitted_query, score, decision, target)
        target, decision = np.asarray(target, np.bool_), np.asarray(decision, np.bool_)
        rows = tally(codes[query], score, (target, decision, target & decision))
        n_all, n_target, n_yes, n_target_yes = rows.counts
        rows = replace(rows, counts=(n_target, n_all - n_target, n_target_yes, n_yes - n_target_yes))
        omitted = np.bincount(codes[omitted_query], minlength=len(names)).astype(np.int64)
        return _from_rows((condition,), names, omitted.reshape(1, -1), rows)

    def __len__(self) -> int:
        """Number of rows."""
        return int(self.score.size)

    def __add__(self, other: Ledger) -> Ledger:
        conditions, queries, omitted, sides = _under_one_vocabulary((self, other))
        return _from_rows(conditions, queries, omitted, merge(sides[0], sides[1], omitted.size))

    @classmethod
    def joined(cls, ledgers: Sequence[Ledger]) -> Ledger:
        """The sum of one or more: at once where no query has rows in two of them, as tiles do not."""
        if len(ledgers) == 1:
            return ledgers[0]
        conditions, queries, omitted, parts = _under_one_vocabulary(ledgers)
        rows = concatenate(parts, omitted.size)
        if rows is None:
            return sum(ledgers[2:], start=ledgers[0] + ledgers[1])
        return _from_rows(conditions, queries, omitted, rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        same_names = self.conditions == other.conditions and self.queries == other.queries
        return same_names and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in _ARRAYS)

    __hash__ = None  # type: ignore[assignment]

    def select(self, queries: Iterable[str], condition: str = "all") -> Ledger:
        """One condition and the listed queries: others are dropped, listed ones without any trial are present."""
        names = tuple(sorted(set(queries)))
        if (condition,) == self.conditions and names == self.queries:
            return self
        query = _positions(self.queries, names)
        omitted = np.zeros((1, len(names)), np.int64)
        if condition not in self.conditions:
            return _from_rows((condition,), names, omitted, _no_rows())
        code = self.conditions.index(condition)
        omitted[0, query[query >= 0]] = self.omitted[code, query >= 0]
        kept = (self.condition == code) & (query[self.query] >= 0)
        only = _positions(self.conditions, (condition,))
        return _from_rows((condition,), names, omitted, _to_rows(self, only, query, len(names)).take(kept))

    def only(self, queries: Iterable[str]) -> Ledger:
        """Every condition, and those of its queries that are listed."""
        names = tuple(sorted(set(self.queries) & set(queries)))
        query = _positions(self.queries, names)
        rows = _to_rows(self, np.arange(len(self.conditions)), query, len(names)).take(query[self.query] >= 0)
        return _from_rows(self.conditions, names, self.omitted[:, query >= 0], rows)

    def without_targets(self) -> Ledger:
        """The same trials where no query has a target: every trial is a non-target, and nothing is omitted."""
        return replace(
            self,
            omitted=np.zeros_like(self.omitted),
            n_target=np.zeros_like(self.n_target),
            n_nontarget=self.n_target + self.n_nontarget,
            n_target_yes=np.zeros_like(self.n_target_yes),
            n_nontarget_yes=self.n_target_yes + self.n_nontarget_yes,
        )

    @cached_property
    def n_true(self) -> Ints:
        """Targets of each query, detected or omitted: shape (n_conditions, n_queries)."""
        result = self.omitted.ravel().copy()
        rows = np.flatnonzero(self.n_target)
        group = self.condition[rows].astype(np.int64) * len(self.queries) + self.query[rows]
        np.add.at(result, group, self.n_target[rows])
        result.setflags(write=False)
        return result.reshape(self.omitted.shape)

    @cached_property
    def runs(self) -> tuple[Codes, NDArray[np.intp]]:
        """The queries that have rows, ascending, and the first row of each; of a ledger of one condition."""
        edges = np.searchsorted(self.query, np.arange(len(self.queries) + 1, dtype=np.int32))
        used = np.flatnonzero(np.diff(edges))
        return used.astype(np.int32), edges[used]

    def ascending(self, at_once: int) -> Iterator[tuple[Floats, Ints, Ints]]:
        """Score, query and ``n_nontarget`` of all rows in ascending order of score, so many rows at a time.

        Rows of one score come in any order.
        """
        for begin in range(0, len(self), at_once):
            if isinstance(self._by_score, np.ndarray):
                rows = self._by_score[begin : begin + at_once]
                yield self.score[rows], self.query[rows].astype(np.int64), self.n_nontarget[rows]
            else:
                decimals, packed = self._by_score
                some = packed.take(slice(begin, begin + at_once))
                yield decimals.values(some.column(0)), some.column(1), some.column(2)

    @cached_property
    def _by_score(self) -> tuple[Decimals, Packed] | NDArray[np.intp]:
        """The rows as words that ascend, which spares looking them up one by one; else their order."""
        decimals = Decimals.of(self.score)
        packed = None if decimals is None else Packed.of((decimals.whole, self.query, self.n_nontarget))
        if decimals is None or packed is None:
            return np.argsort(self.score)
        packed.sort()
        return Decimals(decimals.whole[:0], decimals.places), packed

    def to_columns(self) -> tuple[dict[str, NDArray[Any] | tuple[str, ...]], dict[str, Any]]:
        """Columns and metadata for the codec."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}, {}

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], meta: Mapping[str, Any]) -> Ledger:
        """The inverse of ``to_columns``; ``ValueError`` where the contents are not a canonical ledger."""
        if meta or columns.keys() != {entry.name for entry in fields(cls)}:
            raise ValueError("a ledger has other columns")
        ledger = cls(**columns)
        _check_canonical(ledger)
        return ledger


_COUNTS = ("n_target", "n_nontarget", "n_target_yes", "n_nontarget_yes")
_DTYPES = {"omitted": np.int64, "condition": np.int32, "query": np.int32, "score": np.float64}
_ARRAYS = (*_DTYPES, *_COUNTS)


def _no_rows() -> Rows:
    return Rows(np.zeros(0, np.int64), np.zeros(0, np.float64), (np.zeros(0, np.int64),) * len(_COUNTS))


def _from_rows(conditions: tuple[str, ...], queries: tuple[str, ...], omitted: Ints, rows: Rows) -> Ledger:
    if len(conditions) == 1:
        condition, query = np.zeros(rows.group.size, np.int32), rows.group.astype(np.int32)
    else:
        condition, query = (codes.ravel()[rows.group] for codes in np.indices(omitted.shape, np.int32))
    counts = dict(zip(_COUNTS, rows.counts, strict=True))
    return Ledger(conditions, queries, omitted, condition, query, rows.score, **counts)


def _to_rows(ledger: Ledger, condition: Ints, query: Ints, n_queries: int) -> Rows:
    """Rows under new codes: ``condition`` and ``query`` map old to new."""
    if len(ledger.conditions) == 1:
        group = (condition[0] * n_queries + query)[ledger.query]
    else:
        group = condition[ledger.condition] * n_queries + query[ledger.query]
    return Rows(group, ledger.score, tuple(getattr(ledger, name) for name in _COUNTS))


def _under_one_vocabulary(
    ledgers: Sequence[Ledger],
) -> tuple[tuple[str, ...], tuple[str, ...], Ints, list[Rows]]:
    """All conditions and queries, the omitted targets of all, and each one's rows under the codes of all."""
    conditions = tuple(sorted({name for ledger in ledgers for name in ledger.conditions}))
    queries = tuple(sorted({name for ledger in ledgers for name in ledger.queries}))
    omitted = np.zeros((len(conditions), len(queries)), np.int64)
    parts = list[Rows]()
    for ledger in ledgers:
        condition, query = _positions(ledger.conditions, conditions), _positions(ledger.queries, queries)
        omitted[np.ix_(condition, query)] += ledger.omitted
        parts.append(_to_rows(ledger, condition, query, len(queries)))
    return conditions, queries, omitted, parts


def _positions(names: tuple[str, ...], onto: tuple[str, ...]) -> Ints:
    """For each of ``names`` its position in ``onto``, -1 where absent."""
    position = {name: index for index, name in enumerate(onto)}
    return np.array([position.get(name, -1) for name in names], np.int64)


def _sorted_queries(queries: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    names = tuple(sorted(set(queries)))
    if len(names) != len(queries):
        raise ValueError("a query is listed twice")
    return names, _positions(tuple(queries), names)


def _check_trials(n_queries: int, query: Any, omitted_query: Any, score: Any, decision: Any, target: Any) -> None:
    if len({np.shape(column) for column in (query, score, decision, target)}) > 1 or query.ndim != 1:
        raise ValueError("query, score, decision and target must be 1-D and of equal length")
    for codes in (query, omitted_query):
        if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < n_queries:
            raise ValueError(f"a query code is outside [0, {n_queries})")
    if np.isnan(score).any():
        raise ValueError("a ledger takes no NaN score")


def _check_canonical(ledger: Ledger) -> None:
    shape = (len(ledger.conditions), len(ledger.queries))
    for name in _ARRAYS:
        array = getattr(ledger, name)
        expected = shape if name == "omitted" else ledger.score.shape
        if array.dtype != _DTYPES.get(name, np.int64) or array.shape != expected or array.ndim != len(expected):
            raise ValueError(f"{name} has dtype {array.dtype} and shape {array.shape}")
    for names in (ledger.conditions, ledger.queries):
        if names != tuple(sorted(set(names))):
            raise ValueError("a vocabulary is not sorted")
    for codes, n in zip((ledger.condition, ledger.query), shape, strict=True):
        if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < n:
            raise ValueError("a code is outside its vocabulary")
    score = ledger.score
    if np.isnan(score).any() or (np.signbit(score) & (score == 0.0)).any():
        raise ValueError("a score is NaN or -0.0")
    group = ledger.condition.astype(np.int64) * shape[1] + ledger.query
    ascending = (group[1:] > group[:-1]) | ((group[1:] == group[:-1]) & (score[1:] > score[:-1]))
    seen = (ledger.n_target + ledger.n_nontarget > 0).all()
    yes = (ledger.n_target >= ledger.n_target_yes).all() and (ledger.n_nontarget >= ledger.n_nontarget_yes).all()
    counts = (ledger.omitted, ledger.n_target_yes, ledger.n_nontarget_yes)
    if not (ascending.all() and seen and yes and all((column >= 0).all() for column in counts)):
        raise ValueError("rows are not in order, or a count is impossible")
