"""Calibration of detections: normalised Bayes error rates over priors (applied-probability-of-error curves) of every
cell, from the tables ``ape`` and ``calibration``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.report.cells import BoardCells, Row, ScoredCell, number
from pipeline.report.plots.linear import Linear, joined, over, round_up
from pipeline.report.words import printable, short
from pipeline.terms import Figure

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360.0, 250.0, 52.0, 12.0, 10.0, 46.0
FIGURES = ("cllr", "min_cllr", "eer")
HIGHEST = 1.6
"""Normalised error rates beyond lie on the edge: decisions without scores have 1."""


@dataclass(frozen=True, slots=True)
class ApePlot:
    """One system's curves, as paths: of its scores and of the best thresholds; without scores it is 1 everywhere."""

    system: str
    style: int
    x: Linear
    y: Linear
    actual: str
    least: str
    words: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of one (query set, dataset): a row of figures for each system, and the plots of those that
    have curves.
    """

    query_set: str
    dataset: str
    rows: tuple[tuple[str, tuple[Figure, ...]], ...]
    plots: tuple[ApePlot, ...]


def calibrations(boards: tuple[BoardCells, ...]) -> tuple[Calibration, ...]:
    """One entry per board whose results have the table ``calibration``; all plots of a board share their axes."""
    return tuple(_calibration(board, cells) for board in boards if (cells := board.having("calibration")))


def _calibration(board: BoardCells, cells: tuple[ScoredCell, ...]) -> Calibration:
    rows = tuple((cell.system, _figures(cell)) for cell in cells)
    drawn = [cell for cell in cells if cell.table("ape")]
    every = [row for cell in drawn for row in cell.table("ape")]
    if not every:
        return Calibration(board.query_set, board.dataset, rows, ())
    odds = [number(row, "prior_log_odds") for row in every]
    top = max([1.0, *(rate for row in every if math.isfinite(rate := _normalised(row, "error_rate")))])
    x = over(odds, LEFT, WIDTH - RIGHT)
    y = Linear(0.0, min(round_up(top), HIGHEST), HEIGHT - BOTTOM, TOP)
    plots = tuple(_plot(cell, x, y, figures) for cell, (_, figures) in zip(cells, rows, strict=True) if cell in drawn)
    return Calibration(board.query_set, board.dataset, rows, plots)


def _figures(cell: ScoredCell) -> tuple[Figure, ...]:
    named = {row["id"]: row for row in cell.table("calibration")}
    return tuple(_figure(named.get(name, {})) for name in FIGURES)


def _figure(row: Row) -> Figure:
    value = number(row, "value")
    if math.isnan(value):
        return Figure.undefined(row.get("reason") or "undefined")
    return Figure(value, status=row.get("status"))


def _plot(cell: ScoredCell, x: Linear, y: Linear, figures: tuple[Figure, ...]) -> ApePlot:
    rows = cell.table("ape")
    told = ", ".join(f"{name.replace('_', ' ')} {short(f.value)}" for name, f in zip(FIGURES, figures, strict=True))
    actual, least = (joined(_point(row, name, x, y) for row in rows) for name in ("error_rate", "min_error_rate"))
    words = f"Normalised Bayes error rate over prior log-odds of {printable(cell.system)}: {told}."
    return ApePlot(cell.system, cell.style, x, y, actual, least, words)


def _point(row: Row, name: str, x: Linear, y: Linear) -> tuple[float, float] | None:
    value = _normalised(row, name)
    return None if math.isnan(value) else (x.on(number(row, "prior_log_odds")), y.on(value))


def _normalised(row: Row, name: str) -> float:
    """An error rate divided by that of decisions without scores; NaN where that is zero."""
    default = number(row, "default_error_rate")
    return number(row, name) / default if default > 0 else math.nan
