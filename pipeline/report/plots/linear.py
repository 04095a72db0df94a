"""Linear axes of the page's small plots, in the plots' own pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from pipeline.report.plots.marks import Tick

MOST, NEAREST = 1e300, 1e-300
"""Axes reach no further than ``MOST``: what lies beyond is on their edges. Values no further apart than ``NEAREST`` are
one, so that no axis and none of its steps over- or underflows."""


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

    def at(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The pixels of many values."""
        share = (np.clip(values, self.low, self.high) - self.low) / (self.high - self.low)
        return np.round(self.start + share * (self.end - self.start), 1)

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


def bounds(values: Iterable[float]) -> tuple[float, float]:
    """The lowest and the highest of some values, as far as an axis reaches."""
    inside = [min(max(value, -MOST), MOST) for value in values]
    return min(inside), max(inside)


def over(values: Iterable[float], start: float, end: float) -> Linear:
    """The axis from the lowest to the highest value; over one value alone a wider one."""
    low, high = bounds(values)
    return Linear(low, high if high - low > NEAREST else low + max(1.0, abs(low) * 2.0**-40), start, end)


def step_of(span: float) -> float:
    """A round step (1, 2 or 5 times a power of ten) that goes four to ten times into a span."""
    power: float = 10.0 ** math.floor(math.log10(span))
    return next(step for step in (power / 10 * factor for factor in (1, 2, 5, 10)) if span / step <= 10)


def round_up(value: float) -> float:
    """The least round end of an axis from zero that holds a value; 1 where there is nothing to hold."""
    if not NEAREST < value < math.inf:
        return 1.0
    highest = min(value, MOST)
    step = step_of(highest)
    return math.ceil(highest / step - 1e-9) * step


def joined(points: Iterable[tuple[float, float] | None]) -> str:
    """An SVG path through points, to a tenth of a pixel, by steps from one to the next; broken where one is None."""
    parts, (x, y), command = list[str](), (0, 0), "M"
    for point in points:
        if point is None:
            command = "M"
            continue
        to_x, to_y = round(point[0] * 10), round(point[1] * 10)
        if command == "M":
            parts += ("M", _tenths(to_x), _tenths(to_y))
            command = "l"
        else:
            parts += (command, _tenths(to_x - x), _tenths(to_y - y))
            command = ""
        x, y = to_x, to_y
    return "".join(parts)


@lru_cache(maxsize=1 << 14)
def _tenths(count: int) -> str:
    """So many tenths as a path has them after another number: a blank or the sign sets it off."""
    return f"{'' if count < 0 else ' '}{count / 10:g}"
