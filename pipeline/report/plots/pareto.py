"""Accuracy against what it cost: a point a system, and the front of those that none beats in both."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipeline.metrics.best import directed, worth
from pipeline.protocols import measures
from pipeline.report.board import ALL, Board, MeasureInfo, RunBoards
from pipeline.report.plots.linear import NEAREST, Linear, bounds, joined
from pipeline.report.plots.marks import Mark, Text, Trace
from pipeline.report.plots.xy import X_PIXELS, Y_PIXELS, Log, Plot, Section
from pipeline.report.words import label, printable, short, unit_text

TITLE = "Accuracy against processing"
ARROWS = {"higher": "↑", "lower": "↓"}
HINT = (
    "A point a system that declared what it used, logarithmic across. The dotted line joins the systems that no other "
    "one beats in both (Pareto front). Arrows say which way is better."
)
Point = tuple[str, int, float, float]
"""A system, its place among the styles, what it cost and its figure."""
MOST, LONGEST = 12, 24
"""Beyond so many points none is named; longer names are cut."""
CHAR, LINE, RADIUS = 6.2, 12.0, 6.0
"""Width of a character, height of a line, and half a point with room around it, in pixels."""
Box = tuple[float, float, float, float]


def pareto_section(run: RunBoards) -> Section | None:
    """One plot per board with two systems or more that have both figures; None where there is none."""
    known = {measure.name: measure for measure in run.measures}
    cost = next((own for name, own in known.items() if name in measures() and measures()[name].load == "whole"), None)
    if cost is None or not directed(run.measures[0].better):
        return None
    plots = [plot for board in run.boards_of(ALL) if (plot := _plot(run, board, cost)) is not None]
    return Section("pareto", TITLE, HINT, tuple(plots)) if plots else None


def front(points: Sequence[tuple[float, float]], better: str) -> list[tuple[float, float]]:
    """The points that none beats in both, by rising cost."""
    kept: list[tuple[float, float]] = []
    for cost, value in sorted(points, key=lambda point: (point[0], -worth(point[1], better))):
        if not kept or worth(value, better) > worth(kept[-1][1], better):
            kept.append((cost, value))
    return kept


def _plot(run: RunBoards, board: Board, cost: MeasureInfo) -> Plot | None:
    primary, places = run.measures[0], {system: at for at, system in enumerate(run.systems)}
    points = [
        (entry.system, places[entry.system], entry.figures[cost.name].value, entry.figures[primary.name].value)
        for entry in board.entries
        if not entry.failed
    ]
    return pareto_plot((board.query_set, board.dataset), points, primary, cost)


def pareto_plot(place: tuple[str, str], found: Sequence[Point], primary: MeasureInfo, cost: MeasureInfo) -> Plot | None:
    """The plot of one board, on (query set, dataset); None where fewer than two systems have both figures."""
    points = [point for point in found if math.isfinite(point[2]) and point[2] > 0 and math.isfinite(point[3])]
    if len(points) < 2:
        return None
    x, y = _axes(points)
    lines = tuple(_line(point, primary, cost, x, y) for point in points)
    best = front([(c, v) for *_, c, v in points], primary.better)
    steps: list[tuple[float, float] | None] = []
    for at, (one, value) in enumerate(best):
        if at:
            steps.append((x.on(one), y.on(best[at - 1][1])))
        steps.append((x.on(one), y.on(value)))
    unit = unit_text(cost.unit)
    x_name = f"{label(cost.name)} ({unit})" if unit else str(label(cost.name))
    told = "; ".join(f"{line.system}: {line.actual.text}" for line in lines if line.actual)
    words = printable(f"{label(primary.name)} against {label(cost.name)}. {told}.")
    y_name = f"{label(primary.name)} {ARROWS[primary.better]}"
    within = (X_PIXELS[0], Y_PIXELS[1], X_PIXELS[1], Y_PIXELS[0])
    marks = [(line.actual.x, line.actual.y, line.system, line.style) for line in lines if line.actual]
    return Plot(
        *place,
        x,
        y,
        f"{x_name} ↓",
        y_name,
        lines,
        words,
        (joined(steps),),
        notes=placed(marks, within),
    )


def _axes(points: Sequence[Point]) -> tuple[Log, Linear]:
    costs, values = [point[2] for point in points], [point[3] for point in points]
    low, high = bounds(values)
    room = 0.08 * (high - low) if high - low > NEAREST else max(0.1, abs(low) * 2.0**-40)
    return Log(min(costs) / 1.25, max(costs) * 1.25, *X_PIXELS), Linear(low - room, high + room, *Y_PIXELS)


def _line(point: Point, primary: MeasureInfo, cost: MeasureInfo, x: Log, y: Linear) -> Trace:
    system, style, spent, value = point
    text = f"{label(primary.name)} {short(value)}, {label(cost.name)} {short(spent)} {unit_text(cost.unit)}".strip()
    return Trace(system, style, "", actual=Mark(x.on(spent), y.on(value), text))


def placed(points: Sequence[tuple[float, float, str, int]], within: Box) -> tuple[Text, ...]:
    """Names of points (x, y, name, style) right, left, above or below them; one that fits nowhere is left out."""
    if len(points) > MOST:
        return ()
    taken = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y, *_ in points]
    notes = []
    for x, y, name, style in points:
        text = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        width = CHAR * len(text)
        for note, left in (
            (Text(x + 8, y + 4, text, "start", style=style), x + 8),
            (Text(x - 8, y + 4, text, "end", style=style), x - 8 - width),
            (Text(x, y - 9, text, "middle", style=style), x - width / 2),
            (Text(x, y + 17, text, "middle", style=style), x - width / 2),
        ):
            box = (left, note.y - LINE + 2, left + width, note.y + 2)
            if _inside(box, within) and not any(_meet(box, other) for other in taken):
                taken.append(box)
                notes.append(note)
                break
    return tuple(notes)


def _inside(box: Box, within: Box) -> bool:
    return box[0] >= within[0] and box[1] >= within[1] and box[2] <= within[2] and box[3] <= within[3]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
