"""Linear axes of the page's small plots, in the plots' own pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.marks import Tick


@dataclass(frozen=True, slots=True)
class Linear:
    """An axis from pixel ``start`` (value ``low``) to pixel ``end`` (value ``high``)."""

    low: float
    high: float
    start: float
    end: float

    def on(self, value: float) -> float:
        """The pixel of a value, to a tenth; what lies beyond the axis is put on its edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def is_log(self) -> bool:
        """Whether the axis is logarithmic."""
        return False

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Four to eleven ticks at round numbers."""
        step = step_of(self.high - self.low)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        places = [at * step for at in range(first, last + 1)]
        return tuple(Tick(self.on(value), f"{value:.6g}".replace("-", "\N{MINUS SIGN}")) for value in places)


def step_of(span: float) -> float:
    """A round step (1, 2 or 5 times a power of ten) that goes four to ten times into a span."""
    power: float = 10.0 ** math.floor(math.log10(span))
    return next(step for step in (power / 10 * factor for factor in (1, 2, 5, 10)) if span / step <= 10)


def round_up(value: float) -> float:
    """The least round end of an axis from zero that holds a value; 1 where there is nothing to hold."""
    if not 0 < value < math.inf:
        return 1.0
    step = step_of(value)
    return math.ceil(value / step - 1e-9) * step


def joined(points: list[tuple[float, float] | None]) -> str:
    """An SVG path through points; it is broken where one is None."""
    parts, pen = [], "M"
    for point in points:
        if point is None:
            pen = "M"
            continue
        parts.append(f"{pen}{point[0]} {point[1]}")
        pen = "L"
    return "".join(parts)
