"""Tables of systems × queries as a page's data: exact to the last bit, and short.

A column is either its distinct values with every cell's place among them, or a rule that makes it from other columns:
rates follow from counts. A rule is used only where it gives every bit of the column; the page's script knows them all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.engine.result import plain

DIGITS64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_CODES = np.frombuffer(DIGITS64.encode(), np.uint8)
RULES = {
    "n_miss": ("minus", "n_target", "n_hit"),
    "p_miss": ("over", "n_miss", "n_target"),
    "p_fa": ("over_rest", "n_fa", "n_target"),
    "twv": ("value", "p_miss", "p_fa"),
}
"""By column its rule and the columns that it is made from: a - b, a / b, a / (by - b), 1 - (a + by * b)."""


def coded(columns: Mapping[str, Floats]) -> dict[str, dict[str, Any]]:
    """Columns of equal shape as JSON has them: ``rule``, ``of`` and ``by``, or ``values``, ``width`` and ``rows``.

    ``rows`` are texts of ``width`` digits a place, in base 64, one a system; one alone where all are alike.
    """
    return {name: _ruled(name, columns) or _listed(table) for name, table in columns.items()}


def _ruled(name: str, columns: Mapping[str, Floats]) -> dict[str, Any] | None:
    rule, *of = RULES.get(name, ("",))
    if not rule or not set(of) <= columns.keys():
        return None
    table, (a, b) = columns[name], (columns[other] for other in of)
    with np.errstate(all="ignore"):
        for by in _constants(rule, table, a, b):
            made = {"minus": a - b, "over": a / b, "over_rest": a / (by - b), "value": 1.0 - (a + by * b)}[rule]
            if np.array_equal(made, table, equal_nan=True):
                return {"rule": rule, "of": of, "by": by}
    return None


def _constants(rule: str, table: Floats, a: Floats, b: Floats) -> tuple[float, ...]:
    """Candidates for the rule's constant, from the cell that tells it best."""
    if rule == "over_rest":
        least = np.nanargmin(np.where(table > 0, table, np.inf)) if table.size and (table > 0).any() else None
        return (0.0,) if least is None else (float(np.round(a.flat[least] / table.flat[least] + b.flat[least])),)
    if rule == "value":
        return weights(table, a, b)
    return (0.0,)


def weights(values: Floats, p_miss: Floats, p_fa: Floats) -> tuple[float, ...]:
    """Candidates for the weight in values that are 1 - (p_miss + weight * p_fa): as somebody would write it first."""
    known = np.where(np.isfinite(values) & np.isfinite(p_miss) & (p_fa > 0), p_fa, 0.0)
    if not known.size or not known.any():
        return (0.0,)
    most = int(known.argmax())
    found = float((1.0 - values.flat[most] - p_miss.flat[most]) / p_fa.flat[most])
    return float(f"{found:.9g}"), float(f"{found:.12g}"), found


def _listed(table: Floats) -> dict[str, Any]:
    distinct, places = np.unique(table.ravel(), return_inverse=True, equal_nan=True)
    width = 1 + sum(distinct.size > len(DIGITS64) ** power for power in (1, 2, 3))
    rows = [_digits(row, width) for row in np.reshape(places, table.shape)]
    alike = all(row == rows[0] for row in rows)
    return {"values": [_number(v) for v in distinct.tolist()], "width": width, "rows": rows[:1] if alike else rows}


def _digits(places: NDArray[np.int64], width: int) -> str:
    powers = len(DIGITS64) ** np.arange(width - 1, -1, -1)
    digits = places[:, np.newaxis] // powers % len(DIGITS64)
    return str(_CODES[digits].tobytes(), "ascii")


def _number(value: float) -> Any:
    """As JSON has it; whole numbers without a point."""
    return int(value) if math.isfinite(value) and value == int(value) else plain(value)
