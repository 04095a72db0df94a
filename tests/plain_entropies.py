"""Cross-entropies of trials given one by one, by the calibration of many classes: to compare with, and with tools."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats
from pipeline.metrics.entropy.class_costs import Labels, LogCostSums, prior_entropy
from pipeline.metrics.entropy.newton_sums import NewtonSums
from pipeline.metrics.entropy.separability import OVERLAP
from pipeline.metrics.multiclass.calibration import AffineCalibration, fit_affine_calibration, ties_of
from pipeline.partials.exact import ExactSum
from pipeline.terms import Figure

NO_ERRORS_OR_NO_CORRECT = "all_words_alike"
"""Reason: every word is correct, or none: there is nothing to predict."""


def calibrate(
    llh: Floats, labels: Labels, prior: Sequence[float], multiplicity: Floats | None = None
) -> tuple[AffineCalibration, LogCostSums]:
    """The minimum over trials that are all here, and the sums of the first pass.

    ``llh`` (T, K) finite, ``labels`` (T,) in [0, K), ``prior`` (K,) positive; ``multiplicity`` counts equal rows.
    """
    first = LogCostSums.from_trials(llh, labels, prior, multiplicity)
    found = fit_affine_calibration(
        lambda at: NewtonSums.from_trials(llh, labels, prior, at, multiplicity),
        first,
        prior,
        lambda verdict, unit: ties_of(llh, labels, verdict, unit, multiplicity),
    )
    return found, first


def binary_log_cost(llr: Floats, is_target: NDArray[np.bool_], p_target: float) -> Floats:
    """The cost of log-likelihood ratios, (T,), nats: K = 2 with the target class first (seed 000 eq 37)."""
    odds = np.asarray(llr, np.float64) + math.log(p_target / (1.0 - p_target))
    return np.logaddexp(0.0, np.where(is_target, -odds, odds))


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
