"""Figures of the K-class core: multiclass costs of LRE plans."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pipeline.metrics.entropy.class_costs import LogCostSums, confusion, prior_entropy
from pipeline.metrics.multiclass.calibration import AffineCalibration
from pipeline.terms import Figure

CLASS_WITHOUT_TRIALS = "class_without_trials"
"""Reason: a class with a positive prior has no trial, and so no mean cost."""

NAMES = ("c_mce", "c_def", "c_min", "f_mce", "f_def", "f_min", "f_act", "f_dis", "f_cal", "ln_f_act")


def multiclass_figures(
    first: LogCostSums, calibration: AffineCalibration | None, prior: Sequence[float]
) -> Mapping[str, Figure]:
    """C (nats) and F of plan 001 section 4, by the names in ``NAMES``.

    ``calibration`` is None where a class has no trial: only the figures of the default system exist then. ``f_act``
    overflows once C_mce passes 709 nats; ``ln_f_act`` does not. Without any loss left (F_dis = 0) F_cal is infinite, or
    undefined where there was none to begin with.
    """
    c_def = prior_entropy(prior)
    f_def = confusion(c_def)
    defaults = {"c_def": Figure(c_def), "f_def": Figure(f_def)}
    if calibration is None:
        rest = {name: Figure.undefined(CLASS_WITHOUT_TRIALS) for name in NAMES if name not in defaults}
        return {name: {**defaults, **rest}[name] for name in NAMES}
    c_mce, c_min = first.cross_entropy(prior), calibration.cross_entropy
    f_mce, f_min = confusion(c_mce), confusion(c_min)
    f_act, f_dis = f_mce / f_def, f_min / f_def
    values = {
        "c_mce": Figure(c_mce),
        "c_min": Figure(c_min, status=calibration.status, detail=calibration_detail(calibration)),
        "f_mce": Figure(f_mce),
        "f_min": Figure(f_min),
        "f_act": Figure(f_act),
        "f_dis": Figure(f_dis, status=calibration.status),
        "f_cal": _f_cal(f_act, f_dis),
        "ln_f_act": _ln_f_act(c_mce, f_def),
    }
    return {name: {**defaults, **values}[name] for name in NAMES}


def calibration_detail(calibration: AffineCalibration) -> dict[str, float]:
    """Scale, offsets (``offset_1`` …), Newton decrement and passes, for a figure's detail."""
    offsets = calibration.offsets or ()
    return {
        "scale": calibration.scale,
        **{f"offset_{i}": offset for i, offset in enumerate(offsets, 1)},
        "newton_decrement": calibration.decrement,
        "passes": float(calibration.passes),
    }


def _f_cal(f_act: float, f_dis: float) -> Figure:
    if f_dis > 0.0:
        return Figure((f_act - f_dis) / f_dis)
    return Figure(math.inf) if f_act > 0.0 else Figure.undefined("no_cost_at_all")


def _ln_f_act(c_mce: float, f_def: float) -> Figure:
    if c_mce == 0.0:
        return Figure(-math.inf)
    return Figure(c_mce + math.log(-math.expm1(-c_mce)) - math.log(f_def))
