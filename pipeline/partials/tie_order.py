"""The order of scored trials with ties broken by a key: what average precision needs beyond a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

_COLUMNS = ("query", "score", "key", "target")


@dataclass(frozen=True, eq=False)
class TieOrder:
    """One row a scored trial: query, score, order key, target or not. Canonical: equal contents are equal bytes.

    Rows are sorted by (query, score descending, key ascending, non-targets first). ``query`` points into the sorted
    ``queries``. Scores are never NaN nor -0.0.
    """

    queries: tuple[str, ...] = ()
    query: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    score: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0, np.float64))
    key: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    target: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    @classmethod
    def of(
        cls,
        queries: tuple[str, ...],
        query: NDArray[np.int32],
        score: NDArray[np.float64],
        key: NDArray[np.int32],
        target: NDArray[np.bool_],
    ) -> TieOrder:
        """Trials in any order; ``query`` holds codes into ``queries``, which may stand in any order too.

        Raises ``ValueError`` on NaN scores.
        """
        if np.isnan(score).any():
            raise ValueError("an order takes no NaN score")
        names = tuple(sorted(set(queries)))
        position = {name: index for index, name in enumerate(names)}
        codes = np.array([position[name] for name in queries], np.int32)
        return _sorted(names, codes[query], score + 0.0, key, target)

    def __len__(self) -> int:
        return int(self.query.size)

    def __add__(self, other: TieOrder) -> TieOrder:
        return TieOrder.joined([self, other])

    @classmethod
    def joined(cls, orders: Sequence[TieOrder]) -> TieOrder:
        """The sum of one or more: rows are sorted again only where several have rows of one query."""
        filled = [order for order in orders if order.queries]
        if len(filled) < 2:
            return filled[0] if filled else cls()
        names = tuple(sorted({name for order in filled for name in order.queries}))
        position = {name: index for index, name in enumerate(names)}
        codes = [np.array([position[name] for name in order.queries], np.int32) for order in filled]
        firsts = [np.searchsorted(order.query, np.arange(len(order.queries) + 1)) for order in filled]
        runs = sorted(
            (int(code), which, int(first), int(last))
            for which, (own, first_of) in enumerate(zip(codes, firsts, strict=True))
            for code, first, last in zip(own, first_of[:-1], first_of[1:], strict=True)
            if first < last
        )
        rows: list[Any] = [np.repeat([run[0] for run in runs], [run[3] - run[2] for run in runs]).astype(np.int32)]
        for column in _COLUMNS[1:]:
            pieces = [getattr(filled[which], column)[first:last] for _, which, first, last in runs]
            rows.append(np.concatenate([getattr(cls(), column), *pieces]))
        is_shared = any(run[0] == following[0] for run, following in pairwise(runs))
        return _sorted(names, *rows) if is_shared else cls(names, *rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TieOrder):
            return NotImplemented
        return self.queries == other.queries and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _COLUMNS
        )

    __hash__ = None  # type: ignore[assignment]


def _sorted(queries: tuple[str, ...], query: Any, score: Any, key: Any, target: Any) -> TieOrder:
    order = np.lexsort((target, key, -score, query))
    return TieOrder(queries, query[order], score[order], key[order], target[order])
