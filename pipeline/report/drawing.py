"""A drawing as numbers and texts in its own pixels; a template writes it down as SVG and escapes what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line; ``kind`` is its class."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Dot:
    """A point that says something when pointed at."""

    x: float
    y: float
    kind: str
    title: str
    r: float = 4.0


@dataclass(frozen=True, slots=True)
class Text:
    """A label; ``anchor`` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    kind: str = ""
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Rect:
    """A filled box; ``share`` (0 to 1) is how strong its colour is."""

    x: float
    y: float
    width: float
    height: float
    share: float
    title: str
    kind: str = "shade"


@dataclass
class Drawing:
    """Everything in one figure. ``label`` says in words what it shows, ``caption`` stands above it."""

    width: float
    height: float
    label: str
    caption: str = ""
    lines: list[Line] = field(default_factory=list)
    paths: list[tuple[str, str, str]] = field(default_factory=list)
    """Path data, class and title."""
    dots: list[Dot] = field(default_factory=list)
    rects: list[Rect] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to pixels, straight or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value; what lies outside is put on the edge."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, self.clipped(value)))
        share = (at - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def clipped(self, value: float) -> float:
        """The nearest value on the scale."""
        return min(max(value, self.low), self.high)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on the scale."""
        if self.log:
            exponents = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            step = max(1, -(-len(exponents) // most))
            return [10.0**exponent for exponent in exponents[::step]]
        raw = (self.high - self.low) / most
        if raw <= 0:
            return [self.low]
        power = 10.0 ** math.floor(math.log10(raw))
        step_size = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step_size - 1e-9), math.floor(self.high / step_size + 1e-9)
        return [round(n * step_size, 12) for n in range(first, last + 1)]


def spanning(values: list[float], start: float, end: float, *, log: bool = False) -> Scale | None:
    """A scale over finite values with a little room around; None without any."""
    known = np.array([v for v in values if math.isfinite(v) and (v > 0 or not log)])
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    if log:
        return Scale(low / 1.25, high * 1.25, start, end, log=True)
    room = 0.04 * (high - low) or max(abs(high) * 0.05, 0.01)
    return Scale(low - room, high + room, start, end)


def steps(points: list[tuple[float, float]]) -> str:
    """Path data through points, gaps where one is None."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) if points else ""
