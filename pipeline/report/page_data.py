"""The numbers behind the page's figures, as one JSON block that its script reads and hands out as files."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from pipeline.arrays import Floats
from pipeline.report.board import RunBoards
from pipeline.report.columns import weights
from pipeline.report.plots.det import DetCurve
from pipeline.report.plots.query_map import COLOURS, QueryMap

AGREE = 1e-6
"""How far a value that the page's script makes from both rates may be from the curve's own, relative to it."""


def page_data(run: RunBoards, maps: Sequence[QueryMap], curves: Mapping[tuple[str, str, str], DetCurve]) -> Markup:
    """JSON that may stand inside a ``script`` element: no markup can end it."""
    teams = {entry.system: (entry.team, entry.primary) for board in run.boards for entry in board.entries}
    block = {
        "evaluation": run.attributes.get("evaluation", ""),
        "run": run.attributes.get("run", ""),
        "systems": [
            {"name": name, "team": teams.get(name, ("", True))[0], "primary": teams.get(name, ("", True))[1]}
            for name in run.systems
        ],
        "colours": COLOURS,
        "maps": [one.data for one in maps],
        "curves": [_curve(run, place, curve) for place, curve in curves.items()],
    }
    return script_json(block)


def script_json(value: Any) -> Markup:
    """Strict JSON with ``<``, ``>`` and ``&`` escaped, and everything beyond ASCII."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - every character that could end the element is escaped


def _curve(run: RunBoards, place: tuple[str, str, str], curve: DetCurve) -> dict[str, Any]:
    """A curve's columns as floats (seven digits; curves.csv has them all), a weight where values follow."""
    columns = {"p_miss": curve.p_miss, "p_fa": curve.p_fa, "threshold": curve.threshold, "twv": curve.twv}
    there = {name: c for name, c in columns.items() if c is not None and not np.isnan(c).all()}
    known: dict[str, Any] = {name: _floats(column) for name, column in there.items()}
    if "twv" in there and (weight := _weight(there["twv"], curve.p_miss, curve.p_fa)) is not None:
        known["twv"] = weight
    return {"s": run.systems.index(place[0]), "q": place[1], "d": place[2], **known}


def _floats(column: Floats) -> str | dict[str, str]:
    """32-bit floats; 64-bit ones, under their name, where those would make 0 or infinity of other numbers."""
    with np.errstate(over="ignore", under="ignore"):
        short = column.astype("<f4")
    if np.array_equal(np.isfinite(short), np.isfinite(column)) and np.array_equal(short == 0, column == 0):
        return base64.b64encode(short.tobytes()).decode()
    return {"f8": base64.b64encode(column.astype("<f8").tobytes()).decode()}


def _weight(values: Floats, p_miss: Floats, p_fa: Floats) -> float | None:
    """The weight in values 1 - (p_miss + weight * p_fa) of the rates as the page has them; None where none fits."""
    weight, *_ = weights(values, p_miss, p_fa)
    made = 1.0 - (p_miss.astype("<f4").astype(np.float64) + weight * p_fa.astype("<f4").astype(np.float64))
    near = np.abs(made - values) <= AGREE * np.maximum(np.abs(values), 1.0)
    return weight if near.all() and np.isfinite(weight) else None
