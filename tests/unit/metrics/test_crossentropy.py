"""Cross-entropy over the complete set of trials."""

from __future__ import annotations

import math

import numpy as np
import pytest
from metric_ledgers import FALSE, NO, TARGET, YES, cell, ledger

from pipeline.errors import InputError, UsageError
from pipeline.metrics.entropy.crossentropy import cnxe, cxe, cxe_prior, cxe_submitted
from pipeline.metrics.entropy.cxe import MEASURES
from pipeline.metrics.entropy.trial_set import trial_set
from pipeline.terms import OperatingPoint

EVEN = OperatingPoint(p_target=0.5)
LOG3 = math.log(3)


def test_four_trials_by_hand():
    # N = 4: the occurrence at log 3, one non-target at -log 3, and two that were not submitted, at -log 3 as well.
    # Each costs log(1 + 1/3); at P = 1/2 the prior entropy is one bit.
    total = ledger("a", [("a", LOG3, TARGET, YES), ("a", -LOG3, FALSE, NO)])
    scored = cell(total, 4, EVEN)
    assert cxe(scored).value == pytest.approx(math.log2(4 / 3), abs=1e-15)
    assert cxe_prior(scored).value == 1
    assert cnxe(scored).value == pytest.approx(math.log2(4 / 3), abs=1e-15)
    detail = cnxe(scored).detail
    assert (detail["n_target_trials"], detail["n_nontarget_trials"], detail["n_censored_nontarget"]) == (1, 3, 2)
    assert detail["llr_min"] == -LOG3


def test_classes_are_weighted_by_the_prior():
    # P = 1/4, logit -log 3: the occurrence at log 3 has even odds and costs log 2; non-targets at -log 3 have odds
    # 1/9 and cost log(10/9).
    total = ledger("a", [("a", LOG3, TARGET, YES), ("a", -LOG3, FALSE, NO)])
    expected = 0.25 * 1 + 0.75 * math.log2(10 / 9)
    scored = cell(total, 4, OperatingPoint(p_target=0.25))
    assert cxe(scored).value == pytest.approx(expected, abs=1e-15)
    entropy = 0.25 * 2 + 0.75 * math.log2(4 / 3)
    assert cnxe(scored).value == pytest.approx(expected / entropy, abs=1e-15)


def test_trials_need_not_be_whole_numbers():
    trials = trial_set(ledger("ab", [("a", 1.0, TARGET, YES), ("b", 0.0, FALSE, NO)], omitted="b"), 4.25)
    assert trials.n_nontarget_trials == 6.5
    assert trials.nontarget_mass == 6.5
    assert trials.censored_nontarget.tolist() == [5.5]
    [(score, n_target, n_nontarget)] = trials.rows()
    assert score.tolist() == [0.0, 1.0]
    assert (n_target.tolist(), n_nontarget.tolist()) == ([1, 1], [6.5, 0])


def test_queries_without_occurrences_are_not_trials():
    total = ledger("ab", [("a", 1.0, TARGET, YES), ("b", -5.0, FALSE, NO)])
    trials = trial_set(total, 4.0)
    assert trials.llr_min == 1.0
    assert (trials.target_mass, trials.nontarget_mass) == (1, 3)


def test_lowest_score_counts_whatever_was_decided_or_aligned():
    total = ledger("ab", [("a", 1.0, FALSE, NO), ("b", -2.0, TARGET, NO)], omitted="a")
    assert trial_set(total, 9.0).llr_min == -2.0


def test_infinite_cost_is_legal_and_survives():
    total = ledger("a", [("a", -math.inf, TARGET, NO), ("a", 1.0, FALSE, YES)])
    assert cnxe(cell(total, 4, EVEN)).value == math.inf
    assert cxe(cell(total, 4, EVEN)).reason is None


def test_infinite_scores_on_the_right_side_cost_nothing():
    total = ledger("a", [("a", math.inf, TARGET, YES), ("a", -math.inf, FALSE, NO)])
    assert cnxe(cell(total, 4, EVEN)).value == 0


def test_more_detections_than_trials_have_no_negative_weight():
    # N = 2, one occurrence: one non-target trial exists, two were submitted. Their mean cost counts, log 2.
    total = ledger("a", [("a", math.inf, TARGET, YES), ("a", 0.0, FALSE, YES), ("a", -0.0, FALSE, YES)])
    found = cnxe(cell(total, 2, EVEN))
    assert found.value == pytest.approx(0.5, abs=1e-15)
    assert found.status == "more_detections_than_trials"
    assert found.detail["n_censored_nontarget"] == -1


def test_no_scores_are_as_good_as_no_information():
    scored = cell(ledger("a", [], omitted="a"), 4, OperatingPoint(100.0, 1.0, 1.5e-4))
    assert (cnxe(scored).value, cnxe(scored).status) == (1, "no_scores")
    assert cxe(scored).value == cxe_prior(scored).value
    assert math.isnan(cnxe(scored).detail["llr_min"])
    assert cnxe(scored).detail["n_censored_target"] == 1


def test_undefined_without_occurrences_or_without_non_target_trials():
    assert cnxe(cell(ledger("a", [("a", 1.0, FALSE, NO)]), 4)).reason == "no_targets"
    assert cnxe(cell(ledger("a", [("a", 1.0, TARGET, YES)]), 1)).reason == "no_nontarget_trials"
    assert cxe_prior(cell(ledger("a", []), 4, OperatingPoint(p_target=math.nan))).reason == "no_operating_point"


def test_trials_that_the_definition_does_not_count_are_no_denominator():
    # |T_false| = 2 - 2 and 2 - 3 (seed 000 eq 41), whatever was submitted.
    submitted = [("a", 1.0, FALSE, NO), ("a", 2.0, FALSE, NO)]
    assert cnxe(cell(ledger("a", submitted, omitted="aa"), 2)).reason == "no_nontarget_trials"
    assert cnxe(cell(ledger("a", submitted, omitted="aaa"), 2)).reason == "more_targets_than_trials"
    assert cnxe(cell(ledger("ab", submitted, omitted="aaab"), 2.5)).status == "more_detections_than_trials"


def test_a_default_score_stands_for_what_was_not_submitted():
    total = ledger("a", [("a", 1.0, TARGET, YES)], omitted="a")
    trials = trial_set(total, 5.0, censor=-10.0)
    [rows] = trials.rows()
    assert [column.tolist() for column in rows] == [[-10.0, 1.0], [1, 1], [3, 0]]
    silent = trial_set(ledger("a", [], omitted="a"), 5.0, censor=-10.0)
    assert silent.status is None


def test_censoring_by_query_falls_back_on_all_scores():
    rows = [("a", 1.0, TARGET, YES), ("a", 0.5, FALSE, NO), ("b", -3.0, FALSE, NO)]
    trials = trial_set(ledger("abc", rows, omitted="bc"), 4.0, censor="query")
    assert trials.censored_score.tolist() == [0.5, -3.0, -3.0]
    assert trials.censored_target.tolist() == [0, 1, 1]
    assert trials.censored_nontarget.tolist() == [2, 2, 3]


def test_missing_trials_are_refused_where_none_may_be_missing():
    complete = ledger("a", [("a", 1.0, TARGET, YES), ("a", 0.0, FALSE, NO)])
    assert trial_set(complete, 2.0, censor="error").nontarget_mass == 1
    with pytest.raises(InputError, match=r"0 target and 1 non-target trials have no score"):
        trial_set(complete, 3.0, censor="error")
    with pytest.raises(InputError, match=r"1 target and 1 non-target"):
        trial_set(ledger("a", [], omitted="a"), 2.0, censor="error")


@pytest.mark.parametrize("censor", ["lowest", math.nan])
def test_unknown_censoring_is_a_usage_error(censor):
    with pytest.raises(UsageError, match="llr_min"):
        trial_set(ledger("a", [("a", 1.0, TARGET, YES)]), 3.0, censor=censor)


def test_even_prior_gives_the_log_likelihood_ratio_cost():
    rng = np.random.default_rng(3)
    target, nontarget = rng.normal(1, 2, 40), rng.normal(-1, 2, 60)
    rows = [("a", s, TARGET, YES) for s in target] + [("a", s, FALSE, NO) for s in nontarget]
    cllr = (np.log2(1 + np.exp(-target)).mean() + np.log2(1 + np.exp(nontarget)).mean()) / 2
    assert cnxe(cell(ledger("a", rows), 100, EVEN)).value == pytest.approx(cllr, rel=1e-14)


def test_measures_have_sources():
    assert [measure.name for measure in MEASURES] == ["cxe", "cxe_prior", "cnxe"]
    assert all("eq" in measure.source for measure in MEASURES)


def test_submitted_trials_alone():
    # As the four trials by hand, without the two that were not submitted: 1/2 + 1/2 times log2(1 + 1/3).
    total = ledger("a", [("a", LOG3, TARGET, YES), ("a", -LOG3, FALSE, NO)], omitted="aa")
    found = cxe_submitted(cell(total, 100, EVEN))
    assert found.value == pytest.approx(math.log2(4 / 3), abs=1e-15)
    assert found.detail == {"n_target_trials": 1, "n_nontarget_trials": 1}
    # Target at -inf: no recalibrated score could say so.
    assert cxe_submitted(cell(total + ledger("a", [("a", -math.inf, TARGET, NO)]), 100, EVEN)).value == math.inf


def test_submitted_trials_of_one_class_have_no_mean_of_the_other():
    rows = {"t": ("a", 1.0, TARGET, YES), "f": ("a", 0.0, FALSE, NO)}
    assert cxe_submitted(cell(ledger("a", [rows["t"]]), 9)).reason == "no_nontarget_submitted"
    assert cxe_submitted(cell(ledger("a", [rows["f"]], omitted="a"), 9)).reason == "no_target_submitted"
    assert cxe_submitted(cell(ledger("a", [], omitted="a"), 9)).reason == "no_scores"
    assert cxe_submitted(cell(ledger("a", [rows["f"]]), 9)).reason == "no_targets"
