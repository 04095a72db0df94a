"""Scores as they are written: kept only where sorting them as text may differ from sorting them as numbers."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

from pipeline.formats.columns import TextColumn

_DIGITS = 15
_PLAIN = re.compile(rf"(?:0\.[0-9]{{0,{_DIGITS - 1}}}[1-9]\n)*")
"""Decimals below 1 without a sign, an exponent or a last 0: their order as text is that of the numbers. So few digits
come back from a double."""


class ScoreTexts:
    """The texts of all scores so far, or nothing while all of them are plain decimals such as 0.5 and 0.125."""

    def __init__(self) -> None:
        self.column: TextColumn | None = None

    def extend(self, texts: Sequence[str], before: array[float]) -> None:
        """Add the texts of scores; ``before`` holds the values of all scores before them."""
        if self.column is None:
            if _PLAIN.fullmatch("\n".join((*texts, ""))):
                return
            self.column = TextColumn()
            self.column.extend(f"{value:.{_DIGITS}f}".rstrip("0") for value in before)
        self.column.extend(texts)
