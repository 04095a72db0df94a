"""The ledger: how many targets and non-targets each query has at each distinct score.

All term-weighted, cross-entropy and cost-curve figures are functions of it, whatever the operating point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.partials.rows import COUNT_TYPES, Counts, Rows, collapse, firsts, joined, tally
from pipeline.partials.scores import Scores


@dataclass(frozen=True, eq=False)
class Ledger:
    """Exact counts per (condition, query, distinct score), canonical: equal contents are equal bytes.

    Rows ascend strictly by (condition, query, score). Both vocabularies are sorted; they also name what has no row.
    Scores are never NaN nor -0.0; infinities are legal.
    """

    conditions: tuple[str, ...]
    queries: tuple[str, ...]
    omitted: Ints
    """Targets that no trial is mapped to, shape (n_conditions, n_queries)."""
    first: Ints
    """The row at which each query of each condition begins, with the number of rows at the end: a group for each."""
    scores: Scores
    counts: Counts
    """Shape (4, n_rows): ``n_target``, ``n_nontarget``, and how many of each the system decided YES on. The type is as
    narrow as the counts: sums are to be made in int64."""

    @classmethod
    def zero(cls) -> Ledger:
        """No condition, no query, no trial."""
        return _of((), (), np.zeros((0, 0), np.int64), _no_rows(0))

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
        score = np.asarray(score, np.float64)
        _check_trials(len(names), query, omitted_query, score, decision, target)
        target, decision = np.asarray(target, np.bool_), np.asarray(decision, np.bool_)
        rows = tally(query if names == tuple(queries) else codes[query], score, target, decision, len(names))
        omitted = np.bincount(codes[omitted_query], minlength=len(names)).astype(np.int64)
        return _of((condition,), names, omitted.reshape(1, -1), rows)

    @classmethod
    def of_rows(
        cls,
        conditions: tuple[str, ...],
        queries: tuple[str, ...],
        omitted: Ints,
        group: Ints,
        score: Floats,
        counts: NDArray[Any],
    ) -> Ledger:
        """Rows in any order; ``group`` numbers queries of conditions, condition by condition."""
        return _of(conditions, queries, omitted, collapse(group, score, counts, omitted.size))

    def __len__(self) -> int:
        """Number of rows."""
        return self.scores.size

    def __add__(self, other: Ledger) -> Ledger:
        return Ledger.joined((self, other))

    @classmethod
    def joined(cls, ledgers: Sequence[Ledger]) -> Ledger:
        """The sum of one or more."""
        if len(ledgers) == 1:
            return ledgers[0]
        conditions = tuple(sorted({name for ledger in ledgers for name in ledger.conditions}))
        queries = tuple(sorted({name for ledger in ledgers for name in ledger.queries}))
        omitted = np.zeros((len(conditions), len(queries)), np.int64)
        parts, place = list[Rows](), _places(queries)
        for ledger in ledgers:
            condition, query = _positions(ledger.conditions, conditions), _at(ledger.queries, place)
            omitted[np.ix_(condition, query)] += ledger.omitted
            parts.append(ledger._under(condition, query, len(conditions), len(queries)))
        return _of(conditions, queries, omitted, joined(parts))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ledger):
            return NotImplemented
        same_names = self.conditions == other.conditions and self.queries == other.queries
        mine, theirs = self._arrays(), other._arrays()
        same_form = self.scores.places == other.scores.places
        return same_names and same_form and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}  # nothing that was made of it

    def select(self, queries: Iterable[str], condition: str = "all") -> Ledger:
        """One condition and the listed queries: others are dropped, listed ones without any trial are present."""
        names = tuple(sorted(set(queries)))
        if (condition,) == self.conditions and names == self.queries:
            return self
        query = _positions(self.queries, names)
        omitted = np.zeros((1, len(names)), np.int64)
        if condition not in self.conditions:
            return _of((condition,), names, omitted, _no_rows(len(names)))
        omitted[0, query[query >= 0]] = self.omitted[self.conditions.index(condition), query >= 0]
        only = _positions(self.conditions, (condition,))
        return _of((condition,), names, omitted, self._under(only, query, 1, len(names)))

    def only(self, queries: Iterable[str]) -> Ledger:
        """Every condition, and those of its queries that are listed."""
        names = tuple(sorted(set(self.queries) & set(queries)))
        query, n_conditions = _positions(self.queries, names), len(self.conditions)
        rows = self._under(np.arange(n_conditions), query, n_conditions, len(names))
        return _of(self.conditions, names, self.omitted[:, query >= 0], rows)

    def _under(self, condition: Ints, query: Ints, n_conditions: int, n_queries: int) -> Rows:
        """The rows under other numbers of conditions and queries, -1 for what is dropped."""
        group = condition[:, None] * n_queries + query
        kept = (condition >= 0)[:, None] & (query >= 0)
        rows = Rows(self.first, self.scores, self.counts)
        return rows.of_groups(np.where(kept, group, -1).ravel(), n_conditions * n_queries)

    @cached_property
    def condition(self) -> Codes:
        """Of each row, as a position in ``conditions``."""
        return np.repeat(np.indices(self.omitted.shape, np.int32)[0].ravel(), np.diff(self.first))

    @cached_property
    def query(self) -> Codes:
        """Of each row, as a position in ``queries``."""
        return np.repeat(np.indices(self.omitted.shape, np.int32)[1].ravel(), np.diff(self.first))

    @cached_property
    def score(self) -> Floats:
        """Of each row."""
        return self.scores.at(slice(None))

    @cached_property
    def n_target(self) -> Ints:
        """Targets of each row."""
        return np.asarray(self.counts[0], np.int64)

    @cached_property
    def n_nontarget(self) -> Ints:
        """Non-targets of each row."""
        return np.asarray(self.counts[1], np.int64)

    @cached_property
    def n_target_yes(self) -> Ints:
        """Of ``n_target``, how many the system decided YES on."""
        return np.asarray(self.counts[2], np.int64)

    @cached_property
    def n_nontarget_yes(self) -> Ints:
        """Of ``n_nontarget``, how many the system decided YES on."""
        return np.asarray(self.counts[3], np.int64)

    @cached_property
    def n_true(self) -> Ints:
        """Targets of each query, detected or omitted: shape (n_conditions, n_queries)."""
        result = self.omitted.ravel().copy()
        rows = np.flatnonzero(self.counts[0] != 0)
        group = np.searchsorted(self.first, rows, side="right") - 1
        np.add.at(result, group, self.counts[0, rows].astype(np.int64))
        result.setflags(write=False)
        return result.reshape(self.omitted.shape)

    @cached_property
    def runs(self) -> tuple[Codes, NDArray[np.intp]]:
        """The queries that have rows, ascending, and the first row of each; of a ledger of one condition."""
        used = np.flatnonzero(np.diff(self.first))
        return used.astype(np.int32), self.first[used]

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {"omitted": self.omitted, "first": self.first, "score": self.scores.values, "counts": self.counts}


def _no_rows(n_groups: int) -> Rows:
    return Rows(firsts(np.zeros(n_groups, np.int64)), Scores.of(np.zeros(0)), np.zeros((4, 0), COUNT_TYPES[0]))


def _of(conditions: tuple[str, ...], queries: tuple[str, ...], omitted: Ints, rows: Rows) -> Ledger:
    return Ledger(conditions, queries, omitted, rows.first, rows.scores, rows.counts)


def _positions(names: tuple[str, ...], onto: tuple[str, ...]) -> Ints:
    """For each of ``names`` its position in ``onto``, -1 where absent."""
    return _at(names, _places(onto))


def _places(names: tuple[str, ...]) -> dict[str, int]:
    return {name: index for index, name in enumerate(names)}


def _at(names: tuple[str, ...], place: Mapping[str, int]) -> Ints:
    return np.array([place.get(name, -1) for name in names], np.int64)


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
