"""Reasons why figures are not comparable: said of every contrast, and a reason not to average."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.meta.rows import Row
from pipeline.partials.exact import ExactSum

ASPECTS = {
    "measure": "measures",
    "unit": "units",
    "point": "operating points",
    "protocol": "protocols",
    "mode": "modes",
    "tolerance_s": "tolerances",
    "condition": "conditions",
    "kind": "origins (scored here, published)",
    "query_set": "query sets",
    "dataset": "datasets",
    "key": "keys",
}
"""What may differ between two figures, and what it is called."""
REFUSED = ("measure", "unit", "point")
"""Aspects that a mean must not run across: figures that differ in one are not of one scale."""
_SHOWN = 3


@dataclass(frozen=True)
class Mean:
    """A mean of figures, or the reason why there is none; ``note`` says what differs between them all the same."""

    value: float
    n: int
    reason: str = ""
    note: str = ""


def differences(rows: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """The aspects in which rows differ, with the values seen. Where one row does not know an aspect, it differs."""
    listed = tuple(rows)
    found = {}
    for aspect in ASPECTS:
        values = sorted({_text(getattr(row, aspect)) for row in listed})
        if len(values) > 1:
            found[aspect] = tuple(values)
    return found


def note(rows: Iterable[Row]) -> str:
    """The aspects in which rows differ, in words; "" where nothing does."""
    told = []
    for aspect, values in differences(rows).items():
        shown = ", ".join(value or "unknown" for value in values[:_SHOWN]) + (", …" if len(values) > _SHOWN else "")
        told.append(f"{ASPECTS[aspect]} differ ({shown})")
    return "; ".join(told)


def comparable(rows: Iterable[Row]) -> str:
    """``yes``, or the first aspect that keeps figures from being of one scale: ``other operating points``."""
    found = differences(rows)
    return next((f"other {ASPECTS[aspect]}" for aspect in REFUSED if aspect in found), "yes")


def mean(rows: Sequence[Row]) -> Mean:
    """The mean over rows with a figure, unless their operating points, measures or units differ."""
    known = [row for row in rows if not math.isnan(row.value)]
    if not known:
        return Mean(math.nan, 0, "no_figures")
    told, found = note(known), differences(known)
    refused = [aspect for aspect in REFUSED if aspect in found]
    if refused:
        return Mean(math.nan, len(known), f"other_{refused[0]}", told)
    value = ExactSum.of(np.array([row.value for row in known])).mean(len(known))
    return Mean(value, len(known), "infinite" if math.isnan(value) else "", note=told)


def _text(value: float | str) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return value
