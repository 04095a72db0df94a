"""The numbers behind the page's figures, as one JSON block that its script reads and hands out as files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from pipeline.engine.result import plain
from pipeline.report.board import Run
from pipeline.report.det import Curve
from pipeline.report.query_map import QueryMap

DIGITS = 6
"""Significant digits of curves on the page; curves.csv beside it has them all."""


def page_data(run: Run, maps: Sequence[QueryMap], curves: Mapping[tuple[str, str, str], Curve]) -> Markup:
    """JSON that may stand inside a ``script`` element: no markup can end it."""
    teams = {entry.system: (entry.team, entry.primary) for board in run.boards for entry in board.entries}
    block = {
        "evaluation": run.attributes.get("evaluation", ""),
        "run": run.attributes.get("run", ""),
        "systems": [
            {"name": name, "team": teams.get(name, ("", True))[0], "primary": teams.get(name, ("", True))[1]}
            for name in run.systems
        ],
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


def _curve(run: Run, place: tuple[str, str, str], curve: Curve) -> dict[str, Any]:
    columns = {"threshold": curve.threshold, "p_miss": curve.p_miss, "p_fa": curve.p_fa, "twv": curve.twv}
    known = {name: [_rounded(v) for v in column.tolist()] for name, column in columns.items() if column is not None}
    return {"s": run.systems.index(place[0]), "q": place[1], "d": place[2], **known}


def _rounded(value: float) -> Any:
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else plain(rounded)
