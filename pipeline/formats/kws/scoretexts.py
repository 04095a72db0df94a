"""Scores as they are written: kept only where sorting them as text may differ from sorting them as numbers."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from pipeline.formats.columns import TextColumn

DIGITS = 15
_PLAIN = re.compile(rf"(?:0\.[0-9]{{0,{DIGITS - 1}}}[1-9]\n)*")
"""Decimals below 1 without a sign, an exponent or a last 0: their order as text is that of the numbers. So few digits
come back from a double."""


class ScoreTexts:
    """The texts of all scores so far, or nothing while their order as text is that of the numbers.

    So it is while all are plain decimals such as 0.5 and 0.125, or all have one digit before the point and equally
    many behind it, such as 0.500 and 3.125.
    """

    def __init__(self) -> None:
        self.column: TextColumn | None = None
        self._plain, self._decimals = True, -1

    def extend(self, texts: Sequence[str], before: array[float]) -> None:
        """Add the texts of scores; ``before`` holds the values of all scores before them."""
        if self.column is None:
            plain, decimals = self._plain, self._decimals
            joined = "\n".join((*texts, ""))
            if decimals < 0:  # the first ones
                decimals = len(texts[0]) - 2
            self._plain = plain and _PLAIN.fullmatch(joined) is not None
            self._decimals = decimals if _fixed(decimals).fullmatch(joined) else 0
            if self._plain or self._decimals:
                return
            self.column = TextColumn()
            if plain:
                self.column.extend(f"{value:.{DIGITS}f}".rstrip("0") for value in before)
            else:
                self.column.extend(f"{value:.{decimals}f}" for value in before)
        self.column.extend(texts)


def _fixed(decimals: int) -> re.Pattern[str]:
    """Texts with one digit before the point and so many behind it, all of which come back from a double."""
    return re.compile(rf"(?:[0-9]\.[0-9]{{{decimals}}}\n)*" if 0 < decimals < DIGITS else "(?!)")
