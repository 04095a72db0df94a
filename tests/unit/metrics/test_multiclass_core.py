"""The K-class core against hand-worked cases, scipy and scikit-learn."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from pipeline.metrics.entropy.class_costs import (
    LogCostSums,
    confusion,
    exact_products,
    log_cost,
    log_posterior,
    log_prior,
    prior_entropy,
)
from pipeline.metrics.entropy.maps import AffineMap
from pipeline.metrics.entropy.newton_sums import NewtonSums
from pipeline.metrics.entropy.objective import solve
from pipeline.metrics.entropy.portable import exp
from pipeline.metrics.multiclass.figures import NAMES, multiclass_figures
from tests.plain_entropies import binary_log_cost, calibrate, confidence_nce, normalized_cross_entropy

FLAT = (1 / 3, 1 / 3, 1 / 3)


def test_cost_is_minus_the_log_of_the_posterior():
    # Odds against the truth: 1/2 and 1/4 at flat prior, so the posterior is 1 / 1.75.
    llh = np.array([[0.0, -math.log(2), -math.log(4)]])
    assert log_cost(llh, np.array([0]), FLAT) == pytest.approx([math.log(1.75)], rel=1e-15)
    # With a prior of 1/2, 1/4, 1/4 the odds halve.
    assert log_cost(llh, np.array([0]), (0.5, 0.25, 0.25)) == pytest.approx([math.log(1.375)], rel=1e-15)


def test_posteriors_of_a_row_add_up_to_one():
    llh = np.random.default_rng(1).normal(0, 3, (50, 3))
    assert np.exp(log_posterior(llh, (0.5, 0.3, 0.2))).sum(axis=1) == pytest.approx(np.ones(50), rel=1e-14)


def test_a_tiny_cost_keeps_its_relative_accuracy():
    llh = np.array([[100.0, 0.0, 0.0]])
    assert log_cost(llh, np.array([0]), FLAT)[0] == pytest.approx(2 * math.exp(-100), rel=1e-14)


def test_two_classes_are_the_binary_cost():
    llr = np.array([-3.0, 0.5, 40.0, -700.0])
    target = np.array([True, False, False, True])
    llh = np.stack([llr, np.zeros(4)], axis=1)
    labels = np.where(target, 0, 1)
    assert log_cost(llh, labels, (0.1, 0.9)) == pytest.approx(binary_log_cost(llr, target, 0.1), rel=1e-15)


def test_infinite_scores_cost_nothing_or_everything():
    llr, target = np.array([math.inf, math.inf, -math.inf, -math.inf]), np.array([True, False, True, False])
    assert binary_log_cost(llr, target, 0.2).tolist() == [0.0, math.inf, math.inf, 0.0]


def test_a_prior_of_zero_is_refused():
    with pytest.raises(ValueError, match="positive prior"):
        log_prior((0.5, 0.5, 0.0))


def test_portable_exponentials_are_exponentials():
    x = np.concatenate([np.linspace(-745, 709, 20_001), [0.0, -1e300, 1e300]])
    expected = [math.exp(v) if v < 709.7 else math.inf for v in x.tolist()]
    assert exp(x) == pytest.approx(np.array(expected), rel=1e-15, abs=5e-324)
    assert exp(np.array([0.0]))[0] == 1.0


def test_products_are_exact():
    rng = np.random.default_rng(2)
    values, counts = (
        rng.normal(size=500) * 10.0 ** rng.integers(-30, 30, 500),
        rng.integers(0, 2**40, 500).astype(float),
    )
    product, error = exact_products(values, counts)
    for v, c, p, e in zip(values.tolist(), counts.tolist(), product.tolist(), error.tolist(), strict=True):
        (vn, vd), (pn, pd), (en, ed) = v.as_integer_ratio(), p.as_integer_ratio(), e.as_integer_ratio()
        assert vn * int(c) * pd * ed == (pn * ed + en * pd) * vd


def flows(*right):
    """Right sides as what the last class pulls at each other one."""
    rows = [(*(0.0,) * len(right), side) for side in right]
    return (*rows, (*(-side for side in right), 0.0))


def test_a_graph_of_classes_is_solved_with_its_last_class_held():
    # Weights 1 between the first two, 2 and 3 to the last: ((3, -1), (-1, 4)) x = (2, 3).
    coupling = ((0.0, 1.0, 2.0), (1.0, 0.0, 3.0), (2.0, 3.0, 0.0))
    assert solve(coupling, flows(2.0, 3.0)) == pytest.approx((1.0, 1.0))


def test_groups_that_hardly_hang_together_lose_no_digit():
    # What pulls within the group is far beyond the digits of what pulls the group.
    coupling = ((0.0, 1.0, 1e-30), (1.0, 0.0, 1e-30), (1e-30, 1e-30, 0.0))
    pulls = ((0.0, 0.3, 5e-30), (-0.3, 0.0, 1e-30), (-5e-30, -1e-30, 0.0))
    assert solve(coupling, pulls) == pytest.approx((3.15, 2.85))


def test_a_class_that_hangs_on_nothing_stays_or_moves_by_what_is_asked():
    nothing = ((0.0, 0.0), (0.0, 0.0))
    assert solve(nothing, flows(-3.0)) == (0.0,)
    assert solve(nothing, flows(-3.0), loose=1.0) == (-1.0,)


def test_derivatives_are_those_of_the_cost():
    rng = np.random.default_rng(3)
    llh, labels = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    prior, weights = (0.5, 0.3, 0.2), (0.02, 0.03, 0.05)
    place = AffineMap(1, 0.7, (0.25, -0.5, 0.0), (0.2, -0.4, 0.0))

    def at(alpha=0.0, *offsets):
        moved = replace(place, alpha=place.alpha + alpha, offsets=tuple(np.add(place.offsets, (*offsets, 0.0))))
        return NewtonSums.from_trials(llh, labels, prior, moved).objective(weights)

    def gradient(seen):
        return [seen.slope, *(sum(row) for row in seen.pulls[:-1])]

    found, step = at(0.0, 0.0, 0.0), 1e-5
    mapped = (llh - place.pivots) / 2 * place.alpha + np.array(place.offsets)
    expected = math.fsum(log_cost(mapped, labels, prior) * np.array(weights)[labels])
    assert found.value == pytest.approx(expected, rel=1e-14)
    second = [[found.square, *(sum(row) for row in found.mixed[:-1])]]
    for i in range(2):
        laplacian = [sum(found.coupling[i]) if i == j else -found.coupling[i][j] for j in range(2)]
        second.append([second[0][i + 1], *laplacian])
    for i in range(3):
        up, down = (at(*(d if i == j else 0.0 for j in range(3))) for d in (step, -step))
        assert gradient(found)[i] == pytest.approx((up.value - down.value) / (2 * step), rel=1e-7)
        slopes = (np.array(gradient(up)) - gradient(down)) / (2 * step)
        assert second[i] == pytest.approx(slopes, rel=1e-6, abs=1e-9)


@pytest.fixture(scope="module")
def gaussian():
    """Seven overlapping classes of unequal size, with scores on a scale and offsets of their own."""
    rng = np.random.default_rng(4)
    labels = rng.choice(7, 1200, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1])
    llh = rng.normal(0, 1.2, (1200, 7))
    llh[np.arange(1200), labels] += 2.0
    return 0.4 * llh + np.arange(7), labels


@pytest.mark.parametrize("flat", [True, False])
def test_minimum_agrees_with_scipy(gaussian, flat):
    llh, labels = gaussian
    prior = np.full(7, 1 / 7) if flat else np.array([0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])
    weights = (prior / np.bincount(labels))[labels]
    rows = np.arange(labels.size)

    def loss(theta):
        logits = theta[0] * llh + theta[1:] + np.log(prior)
        logs = log_softmax(logits, axis=1)
        residual = np.exp(logs) * weights[:, None]
        residual[rows, labels] -= weights
        return -(weights * logs[rows, labels]).sum(), np.append((residual * llh).sum(), residual.sum(axis=0))

    peer = minimize(loss, np.zeros(8), jac=True, method="BFGS", options={"gtol": 1e-10})
    found, first = calibrate(llh, labels, tuple(prior))
    assert found.status == "overlap"
    assert found.cross_entropy == pytest.approx(peer.fun, rel=1e-9)
    assert found.cross_entropy <= peer.fun * (1 + 1e-14)
    assert found.cross_entropy < first.cross_entropy(tuple(prior))
    assert found.scale == pytest.approx(peer.x[0], rel=1e-6)
    assert found.offsets == pytest.approx(peer.x[1:] - peer.x[1:].mean(), abs=1e-6)


@pytest.mark.parametrize("prior", [0.5, 0.0148])
@pytest.mark.parametrize("seed", range(3))
def test_two_classes_agree_with_scikit_learn(prior, seed):
    rng = np.random.default_rng(seed)
    target = np.arange(600) < 100
    llr = np.where(target, rng.normal(1.5, 1.3, 600), rng.normal(-1.0, 1.0, 600)) * 3 - 2
    a, b = prior / target.sum(), (1 - prior) / (~target).sum()
    weights = np.where(target, a, b)
    peer = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    peer.fit((llr / 10)[:, None], target, sample_weight=weights)
    odds = peer.decision_function((llr / 10)[:, None])
    expected = math.fsum(weights * np.logaddexp(0, np.where(target, -odds, odds))) / prior_entropy((prior, 1 - prior))
    found = normalized_cross_entropy(llr, target, prior)["cnxe_min"]
    assert found.status == "overlap"
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert found.detail["gamma"] == pytest.approx(peer.coef_[0, 0] / 10, rel=1e-6)
    assert found.detail["delta"] == pytest.approx(peer.intercept_[0] - math.log(prior / (1 - prior)), rel=1e-6)


def test_separable_scores_cost_nothing_in_the_limit():
    llh = np.array([[2.0, 0, 0], [0, 3, 1], [0, 1, 2]])
    found, _ = calibrate(llh, np.arange(3), FLAT)
    assert (found.status, found.cross_entropy, found.scale, found.offsets) == ("complete", 0.0, math.inf, None)
    inverted, _ = calibrate(-llh, np.arange(3), FLAT)
    assert (inverted.status, inverted.cross_entropy, inverted.scale) == ("complete", 0.0, -math.inf)


def test_a_tie_between_two_classes_is_what_remains():
    # Classes 0 and 1 touch at one trial each, class 2 is apart: a = 1/3 * 1/2, b = 1/3 * 1/4 of the weight is tied.
    llh = np.array([[3.0, 0, 0], [1, 1, 0], [1, 1, 0], [0, 2, 0], [0, 2, 0], [0, 2, 0], [0, 0, 5]])
    labels = np.array([0, 0, 1, 1, 1, 1, 2])
    found, _ = calibrate(llh, labels, FLAT)
    a, b = 1 / 6, 1 / 12
    assert (found.status, found.scale) == ("quasi", math.inf)
    assert found.cross_entropy == pytest.approx(a * math.log(1 + b / a) + b * math.log(1 + a / b), rel=1e-14)


def test_scores_that_only_have_constants_say_nothing():
    llh = np.arange(6.0)[:, None] * 17 + np.array([0.0, -3.0, 2.5])
    found, first = calibrate(llh, np.array([0, 1, 2, 0, 1, 2]), FLAT)
    assert (found.status, found.cross_entropy) == ("degenerate", prior_entropy(FLAT))
    assert math.isnan(found.scale)
    figures = multiclass_figures(first, found, FLAT)
    assert figures["f_dis"].value == pytest.approx(1.0)


def test_an_inverted_scale_is_reported_not_clipped():
    rng = np.random.default_rng(6)
    labels = np.arange(300) % 3
    llh = rng.normal(0, 1, (300, 3))
    llh[np.arange(300), labels] -= 1.0
    found, _ = calibrate(llh, labels, FLAT)
    assert found.status == "overlap"
    assert found.scale < -0.5
    assert math.fsum(found.offsets) == pytest.approx(0.0, abs=1e-14)


def test_a_class_without_trials_has_no_minimum():
    with pytest.raises(ValueError, match="no trial"):
        calibrate(np.zeros((2, 3)), np.array([0, 1]), FLAT)
    first = LogCostSums.from_trials(np.zeros((2, 3)), np.array([0, 1]), FLAT)
    assert math.isnan(first.cross_entropy(FLAT))
    figures = multiclass_figures(first, None, FLAT)
    assert tuple(figures) == NAMES
    assert figures["c_def"].value == pytest.approx(math.log(3))
    assert {figures[name].reason for name in NAMES if name not in ("c_def", "f_def")} == {"class_without_trials"}


def test_a_confusion_beyond_float64_is_infinite_and_its_logarithm_is_not():
    llh = np.array([[0.0, 2000.0], [0.0, 1.0]])
    labels = np.array([0, 1])
    found, first = calibrate(llh, labels, (0.5, 0.5))
    figures = multiclass_figures(first, found, (0.5, 0.5))
    c_mce = first.cross_entropy((0.5, 0.5))
    assert c_mce > 709
    assert figures["f_act"].value == math.inf
    assert figures["ln_f_act"].value == pytest.approx(c_mce, rel=1e-12)
    assert confusion(math.log(3)) == pytest.approx(2.0)


def test_without_any_cost_left_calibration_loss_is_infinite():
    llh = np.array([[2.0, 0], [0, 2]])
    found, first = calibrate(llh, np.array([0, 1]), (0.5, 0.5))
    figures = multiclass_figures(first, found, (0.5, 0.5))
    assert (figures["f_dis"].value, figures["f_cal"].value) == (0.0, math.inf)


def test_confidences_of_one_kind_of_words_predict_nothing():
    assert confidence_nce(np.array([0.3, 0.9]), np.array([True, True])).reason == "all_words_alike"
    constant = confidence_nce(np.full(4, 0.25), np.array([True, False, False, False]))
    assert constant.value == pytest.approx(0.0, abs=1e-15)


def test_all_wrong_certainties_stop_at_the_floor():
    found = confidence_nce(np.array([0.0, 1.0]), np.array([True, False]))
    assert found.value == pytest.approx(1 - math.log(1e7) / math.log(2), rel=1e-12)
