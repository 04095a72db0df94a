"""From tuning to evaluation: do thresholds carry over, and what does calibration cost?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pipeline import protocols
from pipeline.engine.result import Result
from pipeline.meta.cells import OpenCell
from pipeline.metrics.kws.counts import accepted
from pipeline.metrics.kws.shared import means_of
from pipeline.metrics.measure import Scored
from pipeline.partials.ledger import Ledger


def gaps(result: Result) -> dict[str, float]:
    """For each pair of actual and best measure the result has: the two, and how much the actual one loses (>= 0)."""
    found: dict[str, float] = {}
    for actual in result.figures:
        best = protocols.measures()[actual].best if actual in protocols.measures() else ""
        if best in result.figures:
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
    swept = protocols.decided_and_best(evaluation.figures)
    best = math.nan if swept is None else evaluation.figures[swept[1]].value
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
    swept = protocols.decided_and_best(result.figures)
    return math.nan if swept is None else result.figures[swept[2]].value


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
