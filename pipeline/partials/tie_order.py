"""Scored trials with a key that breaks ties: what average precision and ties by input order need beyond a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

_COLUMNS = ("query", "score", "key", "target")


@dataclass(frozen=True, eq=False)
class TieOrder:
    """One row a scored trial: query, score, order key, target or not. Rows stand in any order; ``ranked`` is sorted.

    ``query`` points into the sorted ``queries``. Scores are never NaN nor -0.0. Equal are those of the same rows.
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
        names, position = _named([queries])
        return cls(names, _codes(queries, position)[query], score + 0.0, key, target)

    def __len__(self) -> int:
        return int(self.query.size)

    def __add__(self, other: TieOrder) -> TieOrder:
        return TieOrder.joined([self, other])

    @classmethod
    def joined(cls, orders: Sequence[TieOrder]) -> TieOrder:
        """The sum of one or more."""
        if len(orders) == 1:
            return orders[0]
        names, position = _named([order.queries for order in orders])
        query = np.concatenate([_codes(order.queries, position)[order.query] for order in orders])
        return cls(names, query, *(np.concatenate([getattr(o, name) for o in orders]) for name in _COLUMNS[1:]))

    @cached_property
    def ranked(self) -> TieOrder:
        """The rows by query, score descending, key ascending, non-targets first."""
        order = np.lexsort((self.target, self.key, -self.score, self.query))
        return TieOrder(self.queries, *(getattr(self, name)[order] for name in _COLUMNS))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TieOrder):
            return NotImplemented
        return self.queries == other.queries and all(
            np.array_equal(getattr(self.ranked, name), getattr(other.ranked, name)) for name in _COLUMNS
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("queries", *_COLUMNS)}  # nothing that was made of it

    __hash__ = None  # type: ignore[assignment]


def _named(several: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], dict[str, int]]:
    names = tuple(sorted({name for queries in several for name in queries}))
    return names, {name: index for index, name in enumerate(names)}


def _codes(queries: tuple[str, ...], position: dict[str, int]) -> NDArray[np.int32]:
    return np.array([position[name] for name in queries], np.int32)
