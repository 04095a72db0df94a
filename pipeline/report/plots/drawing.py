"""A drawing as numbers and texts in its own pixels; a template writes it down as SVG and escapes what it says."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from pipeline.report.plots.linear import NEAREST, Linear, bounds
from pipeline.report.plots.xy import Axis, Log


@dataclass(frozen=True, slots=True)
class Stroke:
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
    lines: list[Stroke] = field(default_factory=list)
    paths: list[tuple[str, str, str]] = field(default_factory=list)
    """Path data, class and title."""
    dots: list[Dot] = field(default_factory=list)
    rects: list[Rect] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)


def spanning(values: Iterable[float], start: float, end: float, *, log: bool = False) -> Axis | None:
    """An axis over finite values with a little room around; None without any."""
    known = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not known:
        return None
    low, high = bounds(known)
    if log:
        return Log(low / 1.25, high * 1.25, start, end)
    room = 0.04 * (high - low) if high - low > NEAREST else max(abs(high) * 0.05, 0.01)
    return Linear(low - room, high + room, start, end)


def within(points: Iterable[tuple[float, float]], x: Axis, y: Axis) -> list[tuple[float, float] | None]:
    """Pixels of a line through values, cut where it leaves ``y``; None where it is broken, as at a NaN."""
    cut: list[tuple[float, float] | None] = []
    before: tuple[float, float] | None = None
    for at, value in points:
        here = None if math.isnan(value) else (x.on(at), value)
        if here is not None and before is not None and _holds(y, here[1]) != _holds(y, before[1]):
            outer = here[1] if _holds(y, before[1]) else before[1]
            edge = min(max(outer, y.low), y.high)
            share = (edge / 2 - before[1] / 2) / (here[1] / 2 - before[1] / 2) if math.isfinite(outer) else 0.0
            cut.append((before[0] + share * (here[0] - before[0]), y.on(edge)))
        cut.append((here[0], y.on(here[1])) if here is not None and _holds(y, here[1]) else None)
        before = here
    return cut


def _holds(axis: Axis, value: float) -> bool:
    return axis.low <= value <= axis.high
