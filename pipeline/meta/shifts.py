"""From tuning to evaluation: do thresholds carry over, and what does calibration cost?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pipeline.engine.result import Result
from pipeline.meta.cells import OpenCell
from pipeline.metrics.kws.counts import accepted
from pipeline.metrics.kws.shared import means_of
from pipeline.metrics.measure import Scored
from pipeline.partials.ledger import Ledger

ACTUAL_AND_BEST = (
    ("atwv", "mtwv"),
    ("stwv", "max_stwv"),
    ("ndc", "min_ndc"),
    ("cnxe", "min_cnxe_pav"),
    ("f_act", "f_dis"),
)
"""Measures as decided or scored, with the best that the same ranking allows."""
THRESHOLDS = ("mtwv_threshold", "max_stwv_threshold", "min_ndc_threshold")


def gaps(result: Result) -> dict[str, float]:
    """For each pair of actual and best measure the result has: the two, and how much the actual one loses (>= 0)."""
    found: dict[str, float] = {}
    for actual, best in ACTUAL_AND_BEST:
        if actual in result.figures and best in result.figures:
            values = (result.figures[actual].value, result.figures[best].value)
            found |= {actual: values[0], best: values[1], f"{actual}_gap": abs(values[1] - values[0])}
    if "calibration_loss" in result.figures:
        found["calibration_loss"] = result.figures["calibration_loss"].value
    return found


def shift(system: str, dev: Result, evaluation: Result, cell: OpenCell | str) -> Mapping[str, Any]:
    """One system: the best thresholds on both sides, TWV of the evaluation at the threshold of the tuning set, what
    that loses against the best one, and the gaps of both sides (``dev_…``, ``eval_…``)."""
    thresholds = [_threshold(side) for side in (dev, evaluation)]
    at_dev = _twv_at(cell, thresholds[0])
    best = max(
        (evaluation.figures[name].value for name in ("mtwv", "max_stwv") if name in evaluation.figures),
        default=math.nan,
    )
    return {
        "system": system,
        "threshold_dev": thresholds[0],
        "threshold_eval": thresholds[1],
        "threshold_shift": thresholds[1] - thresholds[0],
        "twv_at_dev_threshold": at_dev,
        "transfer_loss": best - at_dev,
        **{f"dev_{name}": value for name, value in gaps(dev).items()},
        **{f"eval_{name}": value for name, value in gaps(evaluation).items()},
    }


def _threshold(result: Result) -> float:
    return next((result.figures[name].value for name in THRESHOLDS if name in result.figures), math.nan)


def _twv_at(cell: OpenCell | str, threshold: float) -> float:
    """TWV where exactly the scores from ``threshold`` on are accepted; NaN where the cell has no ledger."""
    scored = None if isinstance(cell, str) else ledger_of(cell)
    if scored is None or math.isnan(threshold):
        return math.nan
    means = scored.once(means_of)
    return math.nan if means.reason else means.rates(accepted(scored.total, threshold), scored.point.beta).twv


def ledger_of(cell: OpenCell) -> Scored[Ledger] | None:
    """The cell over its ledger, None in families without one of queries."""
    scored = cell.scored
    if isinstance(scored.total, Ledger):
        return scored
    ledger = getattr(scored.total, "ledger", None)
    if cell.protocol.family.name == "documents" and isinstance(ledger, Ledger):
        return Scored(ledger, scored.facts, scored.point, scored.rules)
    return None
