"""Adding many partials up in one fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar, cast


class Partial(Protocol):
    """A value with a pure, exact, associative and commutative ``+``. Never a rate."""

    def __add__(self, other: Self, /) -> Self:
        """Both contents together, as a new value."""
        ...


P = TypeVar("P", bound=Partial)


def merge_tree(partials: Sequence[P], zero: P) -> P:
    """The sum of ``partials``, neighbours first; ``zero`` if there are none.

    The order is fixed by the sequence alone. A tree keeps the two sides of each ``+`` of similar size. Partials that
    add up many at once, by a class method ``joined``, do so.
    """
    if partials and (joined := getattr(partials[0], "joined", None)) is not None:
        return cast(P, joined(partials))
    level = list(partials) or [zero]
    while len(level) > 1:
        pairs = [left + right for left, right in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]
