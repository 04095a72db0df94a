"""Minima of the cross-entropy under recalibration, against hand-worked cases and independent optimisers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from metric_ledgers import FALSE, NO, TARGET, YES, cell, ledger
from scipy.optimize import isotonic_regression, minimize

from pipeline.metrics.entropy import affine, calibration, isotonic
from pipeline.metrics.entropy.calibration import calibration_loss, calibration_loss_pav, min_cnxe_affine, min_cnxe_pav
from pipeline.terms import OperatingPoint

EVEN = OperatingPoint(p_target=0.5)


def entropy(p):
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def rows(query, score, n_target, n_nontarget):
    return [(query, score, TARGET, YES)] * n_target + [(query, score, FALSE, NO)] * n_nontarget


@pytest.mark.parametrize("prior", [0.5, 0.1, 0.0148])
def test_two_scores_are_mapped_to_their_own_log_likelihood_ratios(prior):
    # Score 0: 1 target to 3 non-targets, score 1: 3 to 1. The best map is 0 -> -log 3, 1 -> log 3 for any prior.
    point = OperatingPoint(p_target=prior)
    scored = cell(ledger("a", rows("a", 0.0, 1, 3) + rows("a", 1.0, 3, 1)), 8, point)
    found = min_cnxe_affine(scored)
    assert found.status == "ok"
    assert found.detail["gamma"] == pytest.approx(2 * math.log(3), abs=1e-12)
    assert found.detail["delta"] == pytest.approx(-math.log(3), abs=1e-12)
    assert min_cnxe_pav(scored).value == pytest.approx(found.value, abs=1e-14)
    if prior == 0.5:
        assert found.value == pytest.approx(entropy(0.25) / math.log(2), abs=1e-14)


def test_scores_that_are_log_likelihood_ratios_lose_nothing():
    scored = cell(ledger("a", rows("a", -math.log(3), 1, 3) + rows("a", math.log(3), 3, 1)), 8, EVEN)
    found = min_cnxe_affine(scored)
    assert found.detail["gamma"] == pytest.approx(1, abs=1e-12)
    assert found.detail["delta"] == pytest.approx(0, abs=1e-12)
    assert calibration_loss(scored).value == pytest.approx(0, abs=1e-15)


def test_separable_scores_leave_nothing():
    scored = cell(ledger("a", rows("a", 1.0, 2, 0) + rows("a", 0.0, 0, 1)), 8, EVEN)
    found = min_cnxe_affine(scored)
    assert (found.value, found.status) == (0, "separable")
    assert math.isnan(found.detail["gamma"])
    assert min_cnxe_pav(scored).value == 0
    assert calibration_loss(scored).value > 0


def test_classes_that_only_touch_leave_the_loss_of_the_tie():
    # At score 1: half the target mass and a quarter of the non-target mass; a = 1/4, b = 1/8.
    scored = cell(ledger("a", rows("a", 2.0, 1, 0) + rows("a", 1.0, 1, 1) + rows("a", 0.0, 0, 3)), 6, EVEN)
    expected = (0.25 * math.log(1.5) + 0.125 * math.log(3)) / math.log(2)
    found = min_cnxe_affine(scored)
    assert found.status == "quasi_separable"
    assert found.value == pytest.approx(expected, abs=1e-15)
    assert min_cnxe_pav(scored).value == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    "total",
    [
        ledger("a", rows("a", 0.0, 1, 0) + rows("a", 1.0, 0, 3)),
        ledger("a", rows("a", 0.1, 1, 3)),
        ledger("a", rows("a", 1.0, 1, 0) + rows("a", 2.0, 0, 1) + rows("a", 0.0, 0, 1) + rows("a", 1.0, 0, 1)),
    ],
    ids=["inverted", "one score", "equal means"],
)
def test_scores_without_a_rising_trend_are_best_ignored(total):
    found = min_cnxe_affine(cell(total, 4, OperatingPoint(p_target=0.2)))
    assert (found.value, found.status) == (1, "gamma_zero")
    assert (found.detail["gamma"], found.detail["delta"]) == (0, 0)


def test_infinite_loss_leaves_the_constant_map():
    total = ledger("a", rows("a", -math.inf, 1, 1) + rows("a", 1.0, 3, 1))
    found = min_cnxe_affine(cell(total, 6, EVEN))
    assert (found.value, found.status) == (1, "infinite_loss")
    assert min_cnxe_pav(cell(total, 6, EVEN)).value < 1
    assert calibration_loss(cell(total, 6, EVEN)).value == math.inf


def test_harmless_infinite_scores_are_taken_out_first():
    # Targets at +inf and non-targets at -inf cost nothing; what is left, 2 of 4 and 1 of 4 by mass, has no trend.
    total = ledger("a", rows("a", math.inf, 2, 0) + rows("a", -math.inf, 0, 3) + rows("a", 5.0, 2, 1))
    found = min_cnxe_affine(cell(total, 8, EVEN))
    a, b = 0.25, 0.125
    assert found.status == "gamma_zero"
    assert found.value == pytest.approx(
        (a * math.log((a + b) / a) + b * math.log((a + b) / b)) / math.log(2), abs=1e-15
    )
    assert found.detail["delta"] == pytest.approx(math.log(2), abs=1e-15)


def test_no_scores_are_as_good_as_no_information():
    silent = cell(ledger("a", [], omitted="a"), 4)
    for measure in calibration.MEASURES:
        assert measure.of(silent).status == "no_scores"
    assert (min_cnxe_affine(silent).value, min_cnxe_pav(silent).value, calibration_loss(silent).value) == (1, 1, 0)


def test_undefined_without_occurrences():
    for measure in calibration.MEASURES:
        assert measure.of(cell(ledger("a", rows("a", 1.0, 0, 1)), 4)).reason == "no_targets"


def test_calibration_loss_is_against_the_named_minimum():
    scored = cell(ledger("a", rows("a", 4.0, 3, 1) + rows("a", 3.0, 1, 3)), 8, EVEN)
    actual = calibration.cnxe(scored).value
    assert calibration_loss(scored).value == actual - min_cnxe_affine(scored).value
    assert calibration_loss_pav(scored).value == actual - min_cnxe_pav(scored).value
    assert calibration.CALIBRATION_LOSS_PAV.of(scored) == calibration_loss_pav(scored)


def test_tied_mass_is_the_share_of_the_largest_tie():
    scored = cell(ledger("a", rows("a", 4.0, 1, 0) + rows("a", 3.0, 0, 2)), 12, EVEN)
    # 9 trials were not submitted and stand at 3 with the two that were.
    assert min_cnxe_pav(scored).detail["tied_mass"] == 11 / 12


def test_pooling_violators_by_hand():
    # Fractions 1/2, 0, 1/2, 1: the first two pool to 1/3.
    target, nontarget = isotonic.blocks(np.array([1.0, 0, 1, 2]), np.array([1.0, 1, 1, 0]))
    assert (target.tolist(), nontarget.tolist()) == ([1, 1, 2], [2, 1, 0])


def test_equal_fractions_pool_and_pooling_goes_back_as_far_as_needed():
    target, nontarget = isotonic.blocks(np.array([1.0, 2, 3, 0, 0]), np.array([3.0, 2, 1, 7, 7]))
    assert (target.tolist(), nontarget.tolist()) == ([6], [20])


@pytest.fixture(scope="module", params=range(6))
def gaussian(request):
    """Scores of two overlapping classes on a coarse and on a fine grid, with non-integer weights."""
    rng = np.random.default_rng(request.param)
    raw = np.concatenate([rng.normal(1.5, 1.3, 300), rng.normal(-1, 1.0, 3000)])
    score, row = np.unique(np.round(raw * 3 - 20, request.param), return_inverse=True)
    n_target = np.bincount(row[:300], minlength=score.size).astype(float)
    n_nontarget = np.bincount(row[300:], minlength=score.size).astype(float)
    n_nontarget[0] += 12345.75
    return score, n_target, n_nontarget


def test_affine_minimum_agrees_with_scipy(gaussian):
    score, n_target, n_nontarget = gaussian
    prior = 0.0148
    logit = math.log(prior / (1 - prior))
    a, b = prior * n_target / n_target.sum(), (1 - prior) * n_nontarget / n_nontarget.sum()
    middle, spread = score.mean(), score.std()
    x = (score - middle) / spread

    def loss(place):
        z = place[0] * x + place[1]
        p = 1 / (1 + np.exp(-z))
        slope = np.array([((b * p - a * (1 - p)) * x).sum(), (b * p - a * (1 - p)).sum()])
        return (a * np.logaddexp(0, -z) + b * np.logaddexp(0, z)).sum(), slope

    peer = minimize(loss, [1.0, logit], jac=True, method="BFGS", options={"gtol": 1e-12})
    found = affine.minimise(score, n_target, n_nontarget, prior, logit)
    assert found.status == "ok"
    assert found.value == pytest.approx(peer.fun, rel=1e-9)
    assert found.value <= peer.fun * (1 + 1e-14)
    assert found.gamma == pytest.approx(peer.x[0] / spread, rel=1e-5)
    assert found.delta == pytest.approx(peer.x[1] - logit - peer.x[0] * middle / spread, rel=1e-5)


def test_isotonic_minimum_agrees_with_scipy(gaussian):
    _, n_target, n_nontarget = gaussian
    prior = 0.0148
    a, b = prior * n_target / n_target.sum(), (1 - prior) * n_nontarget / n_nontarget.sum()
    fitted = isotonic_regression(a / (a + b), weights=a + b).x
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.where(a > 0, -a * np.log(fitted), 0) + np.where(b > 0, -b * np.log1p(-fitted), 0)
    assert isotonic.minimum(n_target, n_nontarget, prior) == pytest.approx(loss.sum(), rel=1e-9)


def test_many_scores_start_from_bins_and_end_at_the_same_minimum():
    rng = np.random.default_rng(5)
    score = np.sort(rng.normal(0, 3, 20_000))
    target = rng.random(20_000) < 1 / (1 + np.exp(-(score - 4)))
    counts = target.astype(float), (~target).astype(float)
    found = affine.minimise(score, *counts, 0.1, math.log(1 / 9))
    a, b = 0.1 * counts[0] / counts[0].sum(), 0.9 * counts[1] / counts[1].sum()
    z = found.gamma * score + found.delta + math.log(1 / 9)
    residual = b / (1 + np.exp(-z)) - a / (1 + np.exp(z))
    gradient = (residual * score).sum(), residual.sum()
    assert found.status == "ok"
    assert gradient == pytest.approx((0, 0), abs=1e-13)


@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e-324])
def test_extreme_scores_are_only_a_matter_of_scale(scale):
    score = np.array([-3.0, -1.0, 0.0, 1.0]) * scale
    n_target, n_nontarget = np.array([1.0, 2, 2, 6]), np.array([5.0, 3, 4, 1])
    found = affine.minimise(score, n_target, n_nontarget, 0.5, 0.0)
    plain = affine.minimise(np.array([-3.0, -1.0, 0.0, 1.0]), n_target, n_nontarget, 0.5, 0.0)
    assert found.status == "ok"
    assert found.value == pytest.approx(plain.value, rel=1e-12)
    assert found.delta == pytest.approx(plain.delta, rel=1e-9)


def test_one_pair_in_the_wrong_order_is_enough_for_a_finite_minimum():
    # Only the target at 498 lies below a non-target, the one at 499.
    score = np.arange(1000.0)
    n_target = ((score >= 500) | (score == 498)).astype(float)
    found = affine.minimise(score, n_target, 1 - n_target, 0.01, math.log(1 / 99))
    assert found.status == "ok"
    a, b = 0.01 / 501, 0.99 / 499
    pooled = a * math.log((a + b) / a) + b * math.log((a + b) / b)
    assert isotonic.minimum(n_target, 1 - n_target, 0.01) == pytest.approx(pooled, rel=1e-12)
    assert pooled < found.value < entropy(0.01)
