"""Geometry of detection error trade-off plots: miss against false-alarm probability on normal-deviate axes.

Everything is a number or a path in the plot's own pixels; the template only writes it down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtri

from pipeline.arrays import Floats
from pipeline.report.board import ALL, CELL, BoardEntry, RunBoards, names
from pipeline.report.plots.linear import joined
from pipeline.report.plots.marks import Mark, Tick, Trace
from pipeline.report.words import printable, short

WIDTH, HEIGHT = 480.0, 440.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 12.0, 50.0
GAP_X, GAP_Y = 40.0, 24.0
# Percent. The steps of the customary DET paper, carried on to the small false-alarm rates of keyword search.
PERCENTS = (
    0.00001, 0.0001, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5,
    1, 2, 5, 10, 20, 40, 60, 80, 90, 95, 98, 99, 99.5, 99.9,
)  # fmt: skip
COLUMNS = ("threshold", "p_miss", "p_fa", "twv")
LOWEST, HIGHEST = PERCENTS[0] / 100, PERCENTS[-1] / 100


@dataclass(frozen=True, slots=True)
class Axis:
    """A normal-deviate axis from pixel ``start`` (probability ``low``) to pixel ``end`` (probability ``high``)."""

    low: float
    high: float
    start: float
    end: float

    def at(self, probabilities: Floats) -> Floats:
        """Pixels of probabilities between 0 and 1, neither included; they may lie beyond the ends."""
        first, last = ndtri(self.low), ndtri(self.high)
        share = (ndtri(probabilities) - first) / (last - first)
        return np.asarray(self.start + share * (self.end - self.start), np.float64)

    def on(self, probability: float) -> float:
        """The pixel of one probability; what lies beyond the axis (0 and 1 always do) is put on its edge."""
        return round(float(self.at(np.clip([probability], self.low, self.high))[0]), 1)

    def ticks(self, gap: float) -> tuple[Tick, ...]:
        """Ticks of the customary DET paper inside the axis, labelled at least ``gap`` pixels apart."""
        ticks: list[Tick] = []
        labelled = math.inf
        for percent in PERCENTS:
            if not self.low * 0.999 <= percent / 100 <= self.high * 1.001:
                continue
            at = self.on(percent / 100)
            spoken = abs(at - labelled) >= gap
            labelled = at if spoken else labelled
            ticks.append(Tick(at, np.format_float_positional(percent, trim="-") if spoken else ""))
        return tuple(ticks)


@dataclass(frozen=True, slots=True)
class DetCurve:
    """One cell's sweep: columns of equal length."""

    p_miss: Floats
    p_fa: Floats
    twv: Floats | None
    threshold: Floats | None = None

    @property
    def inner(self) -> NDArray[np.bool_]:
        """The rows that have a place on normal-deviate axes: both probabilities strictly between 0 and 1."""
        return np.asarray((self.p_miss > 0) & (self.p_miss < 1) & (self.p_fa > 0) & (self.p_fa < 1), np.bool_)

    @property
    def best(self) -> int | None:
        """The row of greatest TWV, if the sweep carries it."""
        if self.twv is None or np.isnan(self.twv).all():
            return None
        return int(np.nanargmax(self.twv))


@dataclass(frozen=True, slots=True)
class IsoLine:
    """Points of equal cost; ``text`` says which, at the line's left end."""

    path: str
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class DetPlot:
    """The plot of one (query set, dataset)."""

    query_set: str
    dataset: str
    x: Axis
    y: Axis
    traces: tuple[Trace, ...]
    iso: tuple[IsoLine, ...] = ()

    @property
    def x_ticks(self) -> tuple[Tick, ...]:
        """Ticks of the false-alarm axis."""
        return self.x.ticks(GAP_X)

    @property
    def y_ticks(self) -> tuple[Tick, ...]:
        """Ticks of the miss axis."""
        return self.y.ticks(GAP_Y)


Iso = Callable[[Sequence[tuple[BoardEntry, DetCurve]], Axis, Axis], tuple[IsoLine, ...]]


def det_plots(
    run: RunBoards, curves: Mapping[tuple[str, str, str], DetCurve], iso: Iso = lambda *_: ()
) -> tuple[DetPlot, ...]:
    """One plot per (query set, dataset) that has a curve, all on the same axes so that they can be compared.

    ``curves`` as ``read_curves`` gives them; ``iso`` draws the lines of equal cost of one plot.
    """
    if not curves:
        return ()
    x = Axis(*_limits(curve.p_fa[curve.inner] for curve in curves.values()), LEFT, WIDTH - RIGHT)
    shown = (curve.p_miss[curve.inner & (curve.p_fa >= x.low) & (curve.p_fa <= x.high)] for curve in curves.values())
    y = Axis(*_limits(shown), HEIGHT - BOTTOM, TOP)
    at = {place: number for number, place in enumerate(curves)}
    plots = []
    for board in run.boards_of(ALL):
        traces, own = list[Trace](), list[tuple[BoardEntry, DetCurve]]()
        for entry in board.entries:
            place = (entry.system, board.query_set, board.dataset)
            curve = curves.get(place)
            if curve is not None:
                traces.append(_trace(entry, run.systems.index(entry.system), curve, (x, y), at[place]))
                own.append((entry, curve))
        if traces:
            plots.append(DetPlot(board.query_set, board.dataset, x, y, tuple(traces), iso(own, x, y)))
    return tuple(plots)


def read_curves(grid: Mapping[str, xr.Dataset]) -> dict[tuple[str, str, str], DetCurve]:
    """The curves group by (system, query set, dataset); rows ``first`` to ``last``, the last one not included."""
    group = grid.get("curves")
    if group is None or not {"p_miss", "p_fa", "first", "last"} <= set(group.variables):
        return {}
    columns = {name: group[name].values.astype(np.float64) for name in COLUMNS if name in group}
    ranges = zip(*(group[name].transpose(*CELL).values.ravel().tolist() for name in ("first", "last")), strict=True)
    places = ((s, q, d) for s in names(group, CELL[0]) for q in names(group, CELL[1]) for d in names(group, CELL[2]))
    curves = {}
    for place, (first, last) in zip(places, ranges, strict=True):
        rows = slice(int(first), int(last))
        if 0 <= first < last:
            twv = columns["twv"][rows] if "twv" in columns else None
            threshold = columns["threshold"][rows] if "threshold" in columns else None
            curves[place] = DetCurve(columns["p_miss"][rows], columns["p_fa"][rows], twv, threshold)
    return curves


def describe(plot: DetPlot) -> str:
    """The plot in words, for those who do not see it."""
    points = [f"{printable(trace.system)}: {trace.actual.text}" for trace in plot.traces if trace.actual]
    return (
        f"Miss probability against false-alarm probability on normal-deviate axes, {len(plot.traces)} systems. "
        f"{'; '.join(points)}."
    )


def cost_weight(entry: BoardEntry, curve: DetCurve) -> tuple[float, str] | None:
    """β and the name of the cost, from the sweep where it has values, from the figures of a mean cost where not."""
    if curve.twv is not None:
        known = np.flatnonzero(np.isfinite(curve.twv) & (curve.p_fa > 0))
        if known.size:
            at = known[int(np.argmax(curve.p_fa[known]))]
            return float((1.0 - curve.twv[at] - curve.p_miss[at]) / curve.p_fa[at]), "TWV"
    values = [entry.figures[name].value if name in entry.figures else math.nan for name in ("ndc", "p_md", "p_fa")]
    if all(math.isfinite(value) for value in values) and values[2] > 0:
        return (values[0] - values[1]) / values[2], "NDC"
    return None


def _best(entry: BoardEntry, curve: DetCurve) -> int | None:
    """The row of greatest value, or of least cost where the sweep has rates alone."""
    known = cost_weight(entry, curve) if curve.best is None else None
    if known is None or not curve.p_miss.size:
        return curve.best
    cost = curve.p_miss + known[0] * curve.p_fa
    return None if np.isnan(cost).all() else int(np.nanargmin(cost))


def _limits(columns: Iterable[Floats]) -> tuple[float, float]:
    """The ticks that enclose all these probabilities."""
    every = np.concatenate([np.empty(0), *columns])
    if not every.size:
        return 0.01, 0.99
    steps = [percent / 100 for percent in PERCENTS]
    floor = max((step for step in steps if step <= every.min()), default=LOWEST)
    ceiling = min((step for step in steps if step >= every.max()), default=HIGHEST)
    return (floor, ceiling) if floor < ceiling else (LOWEST, HIGHEST)


def _trace(entry: BoardEntry, style: int, curve: DetCurve, axes: tuple[Axis, Axis], at: int) -> Trace:
    (x, y), best, rows = axes, _best(entry, curve), np.flatnonzero(curve.inner)
    whole = bool(rows.size) and int(rows[-1] - rows[0]) + 1 == rows.size
    return Trace(
        system=entry.system,
        style=style,
        path=joined(zip(x.at(curve.p_fa[rows]).tolist(), y.at(curve.p_miss[rows]).tolist(), strict=True)),
        actual=_mark("actual", _figure(entry, "p_fa"), _figure(entry, "p_miss", "p_md"), x, y),
        best=None if best is None else _mark("maximum", curve.p_fa[best], curve.p_miss[best], x, y),
        curve=at if whole else -1,
        first=int(rows[0]) if rows.size else 0,
    )


def _figure(entry: BoardEntry, *measures: str) -> float:
    """The first of these measures that the entry has."""
    return next((entry.figures[name].value for name in measures if name in entry.figures), math.nan)


def _mark(kind: str, p_fa: float, p_miss: float, x: Axis, y: Axis) -> Mark | None:
    if not (math.isfinite(p_fa) and math.isfinite(p_miss)):
        return None
    text = f"{kind} P_miss {short(p_miss)}, P_fa {short(p_fa)}"
    return Mark(x.on(p_fa), y.on(p_miss), text)
