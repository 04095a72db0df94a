"""The order of scored trials with ties broken by a key: what average precision needs beyond a ledger."""

from __future__ import annotations

from dataclasses import dataclass, field
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
        if not other.queries or not self.queries:
            return self if self.queries else other
        names = tuple(sorted({*self.queries, *other.queries}))
        position = {name: index for index, name in enumerate(names)}
        codes = [np.array([position[name] for name in side.queries], np.int32)[side.query] for side in (self, other)]
        rows = [np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("score", "key", "target")]
        return _sorted(names, np.concatenate(codes), *rows)

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
