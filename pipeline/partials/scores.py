"""Scores of a ledger: whole numbers where they have few decimals, which is half the bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.partials.packed import Decimals

HIGHEST = 2**31 - 1
"""Of a whole number, whatever its sign. Then no rounding of a product is near a half: a number has one form."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores as ``values / 10**places``, or as they are where ``places`` is None. Equal scores have equal forms.

    ``values`` are int32 with as few decimals as all of them need, float64 where that is impossible.
    """

    values: NDArray[Any]
    places: int | None

    @classmethod
    def of(cls, scores: Floats) -> Scores:
        """The form of doubles, none of which is NaN or -0.0."""
        decimals = Decimals.of(scores)
        if decimals is None or np.abs(decimals.whole).max(initial=0) > HIGHEST:
            return cls(scores, None)
        return cls(decimals.whole.astype(np.int32), decimals.places)

    @property
    def size(self) -> int:
        """How many."""
        return int(self.values.size)

    def at(self, rows: Any) -> Floats:
        """The doubles of some rows."""
        some = self.values[rows]
        return np.asarray(some if self.places is None else np.divide(some, 10.0**self.places), np.float64)

    def take(self, rows: Any) -> Scores:
        """Some of the scores, in their form."""
        some = self.values[rows]
        if self.places is None:
            return Scores.of(some)
        places = self.places
        while places and not (some % 10).any():
            some, places = some // 10, places - 1
        return Scores(some, places)


def alike(parts: Sequence[Scores]) -> tuple[list[NDArray[Any]], int | None]:
    """The values of several in one form, which is that of all of them together."""
    known = [part.places for part in parts if part.places is not None]
    places = max(known, default=0)
    factors = [10 ** (places - each) for each in known]
    if len(known) == len(parts) and all(map(_fits, parts, factors)):
        return [part.values if n == 1 else part.values * n for part, n in zip(parts, factors, strict=True)], places
    return [part.at(slice(None)) for part in parts], None


def _fits(part: Scores, factor: int) -> bool:
    return factor == 1 or int(np.abs(part.values.astype(np.int64)).max(initial=0)) * factor <= HIGHEST
