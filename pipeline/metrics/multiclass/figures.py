"""Figures of the K-class core: multiclass costs of LRE plans, Cnxe of plain trials, NCE of word confidences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.metrics.entropy.class_costs import LogCostSums, binary_log_cost, confusion, prior_entropy
from pipeline.metrics.entropy.separability import OVERLAP
from pipeline.metrics.multiclass.calibration import AffineCalibration, calibrate
from pipeline.partials.exact import ExactSum
from pipeline.terms import Figure

CLASS_WITHOUT_TRIALS = "class_without_trials"
"""Reason: a class with a positive prior has no trial, and so no mean cost."""
NO_ERRORS_OR_NO_CORRECT = "all_words_alike"
"""Reason: every word is correct, or none: there is nothing to predict."""

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


def normalized_cross_entropy(
    llr: Floats, is_target: NDArray[np.bool_], p_target: float, multiplicity: Floats | None = None
) -> Mapping[str, Figure]:
    """``cxe`` (bits), ``cnxe`` and ``cnxe_min`` of trials given one by one, both classes present (K = 2).

    ``multiplicity`` repeats a row: censored trials are one row a class. The scale gamma may be negative here, as in
    plan 001; ``min_cnxe_affine`` of a cell keeps it at 0 or above. ``cnxe_min`` has gamma and delta in its detail.
    """
    prior = (p_target, 1.0 - p_target)
    llh = np.stack([llr, np.zeros(llr.size)], axis=1)
    labels = np.where(is_target, 0, 1)
    found, first = calibrate(llh, labels, prior, multiplicity)
    nats, bound = first.cross_entropy(prior), prior_entropy(prior)
    delta = found.offsets[0] - found.offsets[1] if found.status == OVERLAP and found.offsets else math.nan
    return {
        "cxe": Figure(nats / math.log(2.0)),
        "cnxe": Figure(nats / bound),
        "cnxe_min": Figure(
            found.cross_entropy / bound, status=found.status, detail={"gamma": found.scale, "delta": delta}
        ),
    }


def _logit(p: float, floor: float) -> float:
    """log(p / (1 - p)), both kept at ``floor`` or above: 1 - (1 - floor) in floats is not ``floor``."""
    return math.log(min(max(p, floor), 1.0 - floor)) - math.log(min(max(1.0 - p, floor), 1.0 - floor))


def confidence_nce(confidence: Floats, correct: NDArray[np.bool_], floor: float = 1e-7) -> Figure:
    """Normalized cross-entropy of word confidences (OpenKWS13 plan section 6.4.1; sclite): 1 - Cnxe at P_tar = n / N.

    Confidences are kept between ``floor`` and 1 - ``floor``. Undefined where every word is correct or none is.
    ``detail`` has n, N and H_max in bits.
    """
    n, total = int(np.count_nonzero(correct)), correct.size
    if n in (0, total):
        return Figure.undefined(NO_ERRORS_OR_NO_CORRECT)
    share = n / total
    base = math.log(n / (total - n))
    llr = np.array([_logit(p, floor) - base for p in confidence.tolist()])
    cost = ExactSum.of(binary_log_cost(llr, correct, share)).value()
    h_max = prior_entropy((share, 1.0 - share)) * total
    detail = {"n_correct": float(n), "n_words": float(total), "h_max_bits": h_max / math.log(2.0)}
    return Figure(1.0 - cost / h_max, detail=detail)
