"""The gain of recalibration: minima of Cnxe over affine and over monotone maps, and the calibration loss."""

from __future__ import annotations

import math

from pipeline.metrics.bounds import COST, SHARE
from pipeline.metrics.entropy import affine
from pipeline.metrics.entropy.crossentropy import cnxe, prior_entropy
from pipeline.metrics.entropy.rocch import pav_of
from pipeline.metrics.entropy.trial_set import NO_SCORES, trials_of
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure, Scored
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure


def min_cnxe_affine(scored: Scored[Ledger]) -> Figure:
    """Minimum of Cnxe over llr -> gamma * llr + delta with gamma >= 0 (seed 000 eq 44-45).

    ``status`` says how it is attained (``affine.AffineMinimum``, or ``no_scores``); ``detail`` carries gamma and delta
    in the units of the scores, NaN where the minimum is only approached.
    """
    return scored.once(_affine)


def _affine(scored: Scored[Ledger]) -> Figure:
    trials = scored.once(trials_of)
    if trials.reason is not None:
        return Figure.undefined(trials.reason)
    if trials.status == NO_SCORES:
        return Figure(1.0, status=NO_SCORES, detail={"gamma": math.nan, "delta": math.nan})
    point = scored.point
    prior = point.effective_prior
    found = affine.minimise_over(trials.over_rows, prior, point.logit_prior)
    # gamma = 1 and gamma = 0 are among the maps: rounding must not say otherwise.
    value = min(found.value / prior_entropy(prior), scored.once(cnxe).value, 1.0)
    return Figure(value, status=found.status, detail={"gamma": found.gamma, "delta": found.delta})


def min_cnxe_pav(scored: Scored[Ledger]) -> Figure:
    """Minimum of Cnxe over all non-decreasing maps (PAV), tied scores pooled; at P_tar = 1/2 it is min Cllr.

    ``detail`` states ``tied_mass``, the share of trials in the largest group of equal scores. The organisers' tool of
    2014-15 keeps the file's order inside ties and may print less.
    """
    return scored.once(_pav)


def _pav(scored: Scored[Ledger]) -> Figure:
    trials = scored.once(trials_of)
    if trials.reason is not None:
        return Figure.undefined(trials.reason)
    if trials.status == NO_SCORES:
        return Figure(1.0, status=NO_SCORES, detail={"tied_mass": 1.0})
    found, prior = scored.once(pav_of), scored.point.effective_prior
    value = found.minimum(prior) / prior_entropy(prior)
    tied = found.largest_tie / (trials.target_mass + trials.nontarget_mass)
    return Figure(min(value, scored.once(cnxe).value, 1.0), status=trials.status, detail={"tied_mass": tied})


def calibration_loss(scored: Scored[Ledger]) -> Figure:
    """Cnxe - min Cnxe with the affine minimum (seed 000 section 4.2.5); never negative."""
    return _loss(scored, min_cnxe_affine(scored))


def calibration_loss_pav(scored: Scored[Ledger]) -> Figure:
    """Cnxe - min Cnxe with the minimum of QUESST 2014-15 (PAV); never negative."""
    return _loss(scored, min_cnxe_pav(scored))


def _loss(scored: Scored[Ledger], minimum: Figure) -> Figure:
    actual = scored.once(cnxe)
    if actual.reason is not None:
        return Figure.undefined(actual.reason)
    return Figure(actual.value - minimum.value, status=actual.status)


_S000 = "MediaEval SWS 2013 performance measures, section 4.2.5"

MEASURES: tuple[Measure[Ledger], ...] = (
    Measure(
        "min_cnxe_affine",
        "1",
        "lower",
        SHARE,
        f"{_S000}, eq 44-45",
        min_cnxe_affine,
        label=Label("min C", "nxe", "affine"),
        aggregation="pooled over trials",
    ),
    Measure(
        "min_cnxe_pav",
        "1",
        "lower",
        SHARE,
        "MediaEval QUESST 2014-2015, min Cnxe by PAV, ties pooled",
        min_cnxe_pav,
        label=Label("min C", "nxe", "PAV"),
        aggregation="pooled over trials",
        heads_board=True,
    ),
    Measure(
        "calibration_loss",
        "1",
        "lower",
        COST,
        f"{_S000}, Cnxe - min Cnxe, affine",
        calibration_loss,
        label=Label("calibration loss"),
        aggregation="pooled over trials",
    ),
)

CALIBRATION_LOSS_PAV: Measure[Ledger] = Measure(
    "calibration_loss",
    "1",
    "lower",
    COST,
    "MediaEval QUESST 2014-2015, Cnxe - min Cnxe, PAV",
    calibration_loss_pav,
    label=Label("calibration loss"),
    aggregation="pooled over trials",
)
"""The calibration loss of protocols whose minimum is the PAV one."""
