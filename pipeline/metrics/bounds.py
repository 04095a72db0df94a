"""Ranges of numbers in interval notation: ``(-inf, 1]`` holds 1 and every number below it, but not -inf."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_INTERVAL = re.compile(r"([\[(])\s*([^,\s]+)\s*,\s*([^,\s]+)\s*([\])])")


@dataclass(frozen=True)
class Bounds:
    """The range that ``text`` names. Raises ``ValueError`` where it is no interval."""

    text: str

    def __post_init__(self) -> None:
        """Refuse what is no interval where it is written, not where it is used."""
        if not self._parts[1] <= self._parts[2]:
            raise ValueError(f"{self.text!r} is empty.")

    @cached_property
    def _parts(self) -> tuple[str, float, float, str]:
        match = _INTERVAL.fullmatch(self.text)
        if match is None:
            raise ValueError(f"{self.text!r} is no interval such as (-inf, 1].")
        return match[1], float(match[2]), float(match[3]), match[4]

    def holds(self, number: float) -> bool:
        """Whether a number lies inside; NaN never does."""
        left, low, high, right = self._parts
        above = number > low if left == "(" else number >= low
        below = number < high if right == ")" else number <= high
        return above and below

    def __str__(self) -> str:
        return self.text


SHARE = Bounds("[0, 1]")
PERCENT = Bounds("[0, 100]")
FROM_0 = Bounds("[0, inf)")
COST = Bounds("[0, inf]")
"""Costs of which infinite ones are legal."""
UP_TO_1 = Bounds("(-inf, 1]")
ANY = Bounds("[-inf, inf]")
