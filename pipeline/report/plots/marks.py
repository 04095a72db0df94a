"""Traces, marks and ticks of the figures of a page, in pixels."""

from __future__ import annotations

from dataclasses import dataclass

N_COLOURS, N_DASHES = 8, 6


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick at ``at`` pixels; ``text`` is its label in percent, "" where labels would crowd."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of a plot with what it says when pointed at."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Trace:
    """One system's line and its points; ``dashed`` goes with it. ``style`` is the system's place in the grid.

    ``curve`` is the place of the cell's curve among the page's data and ``first`` the row of the line's first point,
    where every point of the line is a row there; -1 where it is not.
    """

    system: str
    style: int
    path: str
    dashed: str = ""
    actual: Mark | None = None
    best: Mark | None = None
    curve: int = -1
    first: int = 0


def style(place: int) -> str:
    """Classes of a system's line: colour and dash pattern, both new at every step, 48 pairs before one returns."""
    colour, turn = place % N_COLOURS, place // N_COLOURS
    return f"k{colour} d{(colour + 5 * turn) % N_DASHES}"
