"""Figures of several parts on one sheet, and axes that hold what is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from pipeline.report.plots.linear import NEAREST, Linear, bounds
from pipeline.report.plots.marks import Mark, Rect, Stroke, Text
from pipeline.report.plots.xy import Axis, Log


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
    marks: list[Mark] = field(default_factory=list)
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
