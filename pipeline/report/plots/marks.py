"""Parts of the figures of pages, in their own pixels: ticks, marks, traces, texts, strokes and boxes.

Templates write them down as SVG and escape what they say.
"""

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
    """A point of a plot with what it says when pointed at; ``kind`` is its class where its line does not say it."""

    x: float
    y: float
    text: str
    kind: str = ""
    r: float = 4.0


@dataclass(frozen=True, slots=True)
class Text:
    """A label; ``anchor`` is start, middle or end, ``style`` the place in the grid of the system that it names."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    kind: str = ""
    style: int = -1


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line; ``kind`` is its class."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Rect:
    """A filled box; ``share`` (0 to 1) is how strong its colour is."""

    x: float
    y: float
    width: float
    height: float
    share: float
    text: str
    kind: str = "shade"


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
