"""Figures of lines and points on two axes, in their own pixels; one template draws them all."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.plots.linear import Linear, step_of
from pipeline.report.plots.marks import Text, Tick, Trace
from pipeline.report.words import MINUS

WIDTH, HEIGHT = 440.0, 320.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 12.0, 46.0
FEWEST_TICKS = 3
X_PIXELS, Y_PIXELS = (LEFT, WIDTH - RIGHT), (HEIGHT - BOTTOM, TOP)


@dataclass(frozen=True, slots=True)
class Log:
    """A logarithmic axis from pixel ``start`` (value ``low`` > 0) to pixel ``end`` (value ``high``)."""

    low: float
    high: float
    start: float
    end: float

    def on(self, value: float) -> float:
        """The pixel of a positive value, to a tenth; what lies beyond the axis is put on its edge."""
        inner = min(max(value, self.low), self.high)
        share = math.log(inner / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)

    @property
    def is_log(self) -> bool:
        """Whether the axis is logarithmic."""
        return True

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Ticks at powers of ten, between those too where the axis is short, at round steps where it is very short."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for factors in ((1,), (1, 2, 5), (1, 2, 3, 4, 5, 6, 7, 8, 9)):
            values = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
            inside = [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]
            if len(inside) >= FEWEST_TICKS:
                return self._ticks(inside)
        step = step_of(self.high - self.low)
        return self._ticks([at * step for at in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)])

    def _ticks(self, values: list[float]) -> tuple[Tick, ...]:
        """Ticks with their labels, those left out that would touch the one before."""
        ticks, last = list[Tick](), -math.inf
        for value in values:
            text, at = f"{value:.6g}".replace("-", MINUS), self.on(value)
            shown = at - last > 4 * len(text) + 14
            ticks.append(Tick(at, text if shown else ""))
            last = at if shown else last
        return tuple(ticks)


Axis = Linear | Log


@dataclass(frozen=True, slots=True)
class Plot:
    """One figure: ``guides`` are paths in grey; ``label`` names it where it is not that of a whole board."""

    query_set: str
    dataset: str
    x: Axis
    y: Axis
    x_name: str
    y_name: str
    lines: tuple[Trace, ...]
    words: str
    guides: tuple[str, ...] = ()
    label: str = ""
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Figures of one kind under a heading."""

    id: str
    title: str
    hint: str
    plots: tuple[Plot, ...]

    @property
    def places(self) -> frozenset[int]:
        """The systems that are drawn, by their places in the grid."""
        return frozenset(line.style for plot in self.plots for line in plot.lines)

    @property
    def is_dotted(self) -> bool:
        """Whether systems are points, without lines."""
        return not any(line.path for plot in self.plots for line in plot.lines)
