"""Cllr, ROC hull, error-rate curves and the calibration map, by hand and against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from metric_ledgers import FALSE, TARGET, YES, cell, ledger
from scipy.spatial import ConvexHull
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss, roc_curve

from pipeline.metrics.entropy.ape import calibration_map, calibration_tables, error_rates
from pipeline.metrics.entropy.calibration import min_cnxe_pav
from pipeline.metrics.entropy.cllr import cllr, min_cllr
from pipeline.metrics.entropy.crossentropy import cnxe
from pipeline.metrics.entropy.rocch import eer, hull_of
from pipeline.terms import OperatingPoint


def rows(score, n_target, n_nontarget):
    return [("a", score, TARGET, YES)] * n_target + [("a", score, FALSE, YES)] * n_nontarget


@pytest.fixture
def worked():
    """Scores 0, 1, 2 with 1, 0, 3 targets and 2, 1, 1 non-targets; nothing is missing."""
    return cell(ledger("a", rows(0.0, 1, 2) + rows(1.0, 0, 1) + rows(2.0, 3, 1)), 8, OperatingPoint(p_target=0.5))


@pytest.fixture(scope="module")
def random():
    """Many trials with ties: the cell, its scores and whether each is a target."""
    rng = np.random.default_rng(8)
    target = np.arange(900) < 150
    score = np.round(np.where(target, rng.normal(1.2, 1.5, 900), rng.normal(-1.0, 1.0, 900)), 1)
    trials = [("a", float(s), bool(t), YES) for s, t in zip(score, target, strict=True)]
    return cell(ledger("a", trials), 900, OperatingPoint(p_target=0.1)), score, target


def test_hull_corners_are_pooled_blocks(worked):
    # Fractions 1/3, 0, 3/4: the first two pool to 1 of 4 targets and 3 of 4 non-targets.
    corners = worked.once(hull_of)
    assert corners.p_miss.tolist() == [0.0, 0.25, 1.0]
    assert corners.p_fa.tolist() == [1.0, 0.25, 0.0]
    assert eer(worked).value == 0.25


def test_the_map_says_what_scores_stand_for(worked):
    found = calibration_map(worked)
    assert found["score_min"].tolist() == [0.0, 2.0]
    assert found["score_max"].tolist() == [1.0, 2.0]
    assert (found["n_target"].tolist(), found["n_nontarget"].tolist()) == ([1, 3], [3, 1])
    assert found["llr"] == pytest.approx([-math.log(3), math.log(3)])


def test_error_rates_at_the_bayes_thresholds(worked):
    found = error_rates(worked, np.array([0.0, -1.5, -2.5]))
    # Thresholds 0, 1.5 and 2.5: nothing, then 1 of 4 targets, then all are rejected.
    low, lower = 1 / (1 + math.exp(1.5)), 1 / (1 + math.exp(2.5))
    assert found["error_rate"] == pytest.approx([0.5, low / 4 + (1 - low) / 4, lower])
    assert found["min_error_rate"] == pytest.approx([0.25, min(low, 0.25), lower])
    assert found["default_error_rate"] == pytest.approx([0.5, low, lower])


def test_cllr_is_cnxe_at_even_prior(random, worked):
    assert cllr(worked).value == pytest.approx(cnxe(worked).value, rel=1e-15)
    assert min_cllr(worked).value == pytest.approx(min_cnxe_pav(worked).value, rel=1e-15)
    scored, score, target = random
    even = cell(scored.total, 900, OperatingPoint(p_target=0.5))
    assert cllr(scored).value == cnxe(even).value
    expected = np.mean(np.log2(1 + np.exp(-score[target]))) / 2 + np.mean(np.log2(1 + np.exp(score[~target]))) / 2
    assert cllr(scored).value == pytest.approx(expected, rel=1e-12)


def test_min_cllr_agrees_with_scikit_learn(random):
    scored, score, target = random
    weights = np.where(target, 0.5 / target.sum(), 0.5 / (~target).sum())
    posterior = IsotonicRegression().fit(score, target, sample_weight=weights).predict(score)
    expected = log_loss(target, posterior, sample_weight=weights) / math.log(2)
    assert min_cllr(scored).value == pytest.approx(expected, rel=1e-9)


def test_min_cnxe_by_pav_agrees_with_scikit_learn(random):
    scored, score, target = random
    weights = np.where(target, 0.1 / target.sum(), 0.9 / (~target).sum())
    posterior = IsotonicRegression().fit(score, target, sample_weight=weights).predict(score)
    expected = log_loss(target, posterior, sample_weight=weights) / -(0.1 * math.log(0.1) + 0.9 * math.log(0.9))
    assert min_cnxe_pav(scored).value == pytest.approx(expected, rel=1e-9)


def test_error_rates_agree_with_scikit_learn(random):
    scored, score, target = random
    p_fa, hits, thresholds = roc_curve(target, score, drop_intermediate=False)
    for log_odds in (-3.0, -0.55, 0.0, 1.25):
        prior = 1 / (1 + math.exp(-log_odds))
        found = error_rates(scored, np.array([log_odds]))
        accept = np.flatnonzero(thresholds >= -log_odds)[-1]
        risk = prior * (1 - hits) + (1 - prior) * p_fa
        assert found["error_rate"][0] == pytest.approx(risk[accept], rel=1e-12)
        assert found["min_error_rate"][0] == pytest.approx(risk.min(), rel=1e-12)


def test_equal_error_rate_agrees_with_the_hull_of_the_curve(random):
    scored, score, target = random
    p_fa, hits, _ = roc_curve(target, score, drop_intermediate=False)
    points = np.column_stack([np.append(p_fa, 1.0), np.append(1 - hits, 1.0)])
    edges = ConvexHull(points).equations  # a x + b y + c = 0; on the diagonal x = y = -c / (a + b)
    below = [-c / (a + b) for a, b, c in edges if a + b < 0]
    assert eer(scored).value == pytest.approx(max(below), rel=1e-12)


def test_tables_of_a_cell(worked):
    tables = calibration_tables(worked)
    assert [row["id"] for row in tables["calibration"]] == ["cllr", "min_cllr", "eer"]
    assert len(tables["ape"]) == 81
    assert len(tables["pav"]) == 2
    point = OperatingPoint(p_target=0.3)
    with_own = calibration_tables(cell(worked.total, 8, point))["ape"]
    assert [row["prior_log_odds"] for row in with_own].count(point.logit_prior) == 1


def test_curves_lie_between_nothing_and_no_scores(random):
    found = error_rates(random[0], np.linspace(-8, 8, 33))
    assert (found["min_error_rate"] <= np.minimum(found["error_rate"], found["default_error_rate"]) + 1e-15).all()
    assert (found["min_error_rate"] <= eer(random[0]).value + 1e-15).all()


def test_tables_of_a_cell_without_targets_are_empty_with_a_reason():
    tables = calibration_tables(cell(ledger("a", rows(0.0, 0, 2)), 8))
    assert {row["reason"] for row in tables["calibration"]} == {"no_targets"}
    assert (tables["ape"], tables["pav"]) == ((), ())


def test_a_silent_cell_knows_nothing():
    tables = calibration_tables(cell(ledger("a", [], omitted="a"), 4))
    values = {row["id"]: (row["value"], row["status"]) for row in tables["calibration"]}
    assert values == {"cllr": (1.0, "no_scores"), "min_cllr": (1.0, "no_scores"), "eer": (0.5, "no_scores")}
