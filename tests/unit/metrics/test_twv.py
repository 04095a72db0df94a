"""Term-Weighted Values of one small cell, worked by hand (see ``metric_ledgers.worked``)."""

from __future__ import annotations

import math

import pytest
from metric_ledgers import FALSE, NO, TARGET, YES, cell, ledger, worked

from pipeline.metrics.kws import twv
from pipeline.metrics.kws.blocks import blocks
from pipeline.metrics.kws.means import query_means
from pipeline.terms import OperatingPoint

MEASURES = {measure.name: measure for measure in twv.MEASURES}


def figure(name, scored):
    return MEASURES[name].of(scored)


def test_actual_value_and_its_parts():
    # a: hit, miss, false alarm; b: hit, miss. P_miss = 1/2, P_fa = (1/50 + 0) / 2 = 0.01.
    found = figure("atwv", worked())
    assert found.value == 1 - (0.5 + 9 * 0.01)
    assert (found.detail["p_miss"], found.detail["p_fa"], found.detail["n_queries"]) == (0.5, 0.01, 2)
    assert figure("p_miss", worked()).value == 0.5
    assert figure("p_fa", worked()).value == 0.01


def test_queries_without_occurrences_count_only_where_asked_for():
    with_c = (1 / 50 + 0 + 1 / 52) / 3
    assert figure("atwv_all", worked()).value == pytest.approx(1 - (0.5 + 9 * with_c), abs=1e-15)
    assert figure("atwv_all", worked()).detail["n_queries_fa"] == 3
    assert figure("atwv", worked(include_no_targets=True)).value == figure("atwv_all", worked()).value


def test_maximum_is_at_the_threshold_that_accepts_both_occurrences_of_a():
    # theta = 0.5: P_miss = (0 + 1/2) / 2, P_fa = (1/50 + 1/50) / 2.
    found = figure("mtwv", worked())
    assert found.value == pytest.approx(1 - (0.25 + 9 * 0.02), abs=1e-15)
    assert (found.detail["threshold"], found.detail["p_miss"], found.detail["p_fa"]) == (0.5, 0.25, 0.02)
    assert figure("mtwv_threshold", worked()).value == 0.5


def test_maximum_over_all_queries_counts_the_false_alarm_of_c():
    # theta = 0.5 again, now with c's false alarm: P_fa = (1/50 + 1/50 + 1/52) / 3.
    expected = 1 - (0.25 + 9 * (1 / 50 + 1 / 50 + 1 / 52) / 3)
    assert figure("mtwv_all", worked()).value == pytest.approx(expected, abs=1e-15)


def test_bayes_threshold_is_the_logarithm_of_beta():
    # log 9 = 2.197 accepts only the hit at 3.0.
    found = figure("twv_bayes", worked())
    assert found.value == pytest.approx(0.25, abs=1e-15)
    assert found.detail["threshold"] == pytest.approx(math.log(9), abs=1e-15)


def test_a_score_at_the_bayes_threshold_is_accepted():
    # beta = 1: the threshold is 0.
    scored = cell(ledger("a", [("a", 0.0, TARGET, NO)]), 11, OperatingPoint(p_target=0.5))
    assert figure("twv_bayes", scored).value == 1


def test_optimum_takes_the_best_threshold_of_each_query():
    # a at 0.5: 1 - 9/50 = 0.82; b at 2.0: 1/2.
    assert figure("twv_optimum", worked()).value == pytest.approx((0.82 + 0.5) / 2, abs=1e-15)


def test_supremum_keeps_every_submitted_hit_and_no_false_alarm():
    found = figure("twv_supremum", worked())
    assert found.value == 0.75
    assert found.detail["p_miss"] == 0.25


def test_a_perfect_system_has_value_one():
    perfect = cell(ledger("ab", [("a", 2.0, TARGET, YES), ("b", 1.0, TARGET, YES)]), 50)
    for name in ("atwv", "mtwv", "twv_optimum", "twv_supremum"):
        assert figure(name, perfect).value == 1


@pytest.mark.parametrize("reject_all_point", [True, False])
def test_a_silent_system_has_value_zero(reject_all_point):
    silent = cell(ledger("ab", [], omitted="aab"), 50, reject_all_point=reject_all_point)
    for name in ("atwv", "mtwv", "twv_bayes", "twv_optimum", "twv_supremum"):
        assert figure(name, silent).value == 0
    assert figure("mtwv_threshold", silent).reason == "no_scores"


def test_accepting_nothing_wins_where_every_threshold_loses():
    wrong = ledger("a", [("a", 1.0, FALSE, NO)], omitted="a")
    assert figure("mtwv", cell(wrong, 11)).value == 0
    assert math.isnan(figure("mtwv", cell(wrong, 11)).detail["threshold"])
    assert figure("mtwv_threshold", cell(wrong, 11)).reason == "reject_all"


def test_without_the_point_that_accepts_nothing_the_maximum_may_be_negative():
    # KWSEval: 1 - (1 + 9 * 1/10) at the only threshold, although the decisions give 0.
    wrong = cell(ledger("a", [("a", 1.0, FALSE, NO)], omitted="a"), 11, reject_all_point=False)
    assert figure("mtwv", wrong).value == pytest.approx(-0.9, abs=1e-15)
    assert figure("atwv", wrong).value == 0
    assert figure("mtwv_threshold", wrong).value == 1.0


def test_equal_values_take_the_lowest_threshold():
    # beta = 1, N = 3: one false alarm of two costs what one hit of two gains, so all thresholds have the same value.
    rows = [("a", 4.0, TARGET, YES), ("a", 3.0, FALSE, YES), ("b", 2.0, TARGET, YES), ("b", 1.0, FALSE, YES)]
    tied = cell(ledger("ab", rows), 2, OperatingPoint(p_target=0.5))
    assert figure("mtwv", tied).value == 0.5
    assert figure("mtwv_threshold", tied).value == 2.0


def test_infinite_scores_are_thresholds():
    total = ledger("a", [("a", math.inf, TARGET, YES), ("a", -math.inf, FALSE, NO)])
    assert figure("mtwv_threshold", cell(total, 11)).value == math.inf
    assert figure("mtwv", cell(total, 11)).value == 1


def test_no_query_with_occurrences_leaves_every_value_undefined():
    # Even the point may not exist then (SWS 2012 derives it from the key).
    empty = cell(ledger("a", [("a", 1.0, FALSE, YES)]), 11, OperatingPoint(p_target=0.0))
    for name in MEASURES:
        found = figure(name, empty)
        assert math.isnan(found.value)
        assert found.reason == ("no_operating_point" if name == "c_default" else "no_targets")


def test_a_query_that_is_nothing_but_occurrences_has_no_false_alarm_rate():
    full = cell(ledger("ab", [("a", 1.0, TARGET, YES), ("b", 1.0, TARGET, YES)], omitted="b"), 2)
    undefined = {"atwv", "atwv_all", "mtwv", "mtwv_all", "mtwv_threshold", "p_fa", "twv_bayes", "twv_optimum"}
    for name in undefined | {"c_det", "c_norm"}:
        assert figure(name, full).reason == "no_nontarget_trials"
    assert figure("p_miss", full).value == 0.25
    assert figure("twv_supremum", full).value == 0.75


def test_more_occurrences_than_trials_leave_no_false_alarm_rate():
    # N - N_true = 2 - 3 = -1: the formula would give P_fa -1 and ATWV 9.
    crowded = cell(ledger("ab", [("a", 1.0, FALSE, YES), ("b", 1.0, FALSE, YES)], omitted="aaab"), 2)
    undefined = {"atwv", "atwv_all", "mtwv", "mtwv_all", "mtwv_threshold", "p_fa", "twv_bayes", "twv_optimum"}
    for name in undefined | {"c_det", "c_norm"}:
        assert figure(name, crowded).reason == "more_targets_than_trials"
    assert figure("p_miss", crowded).value == 1
    assert figure("twv_supremum", crowded).value == 0
    a, b = blocks(crowded)
    assert math.isnan(a["p_fa"])
    assert math.isnan(a["twv"])
    assert (b["p_fa"], b["twv"]) == (1, -crowded.point.beta)


def test_trials_from_which_targets_are_taken_twice_are_no_negative_number_either():
    # Plan 004 section 5.1.3.3: N - 2 N_true = 3 - 4.
    total = ledger("a", [("a", 1.0, FALSE, YES)], omitted="aa")
    assert query_means(total, 3.0, include_no_targets=True, subtracted=2).reason == "no_nontarget_trials"
    assert query_means(total, 3.0, include_no_targets=True).reason is None


def test_a_false_alarm_rate_above_one_is_flagged_and_not_clipped():
    crowded = cell(ledger("a", [("a", 1.0, FALSE, YES), ("a", 2.0, FALSE, YES), ("a", 3.0, TARGET, YES)]), 2)
    assert figure("p_fa", crowded).value == 2
    assert figure("p_fa", crowded).status == "p_fa_above_one"


@pytest.mark.parametrize(
    ("yes", "no", "consistent"),
    [(1.0, 0.5, 1), (1.0, 1.0, 1), (0.5, 1.0, 0)],
    ids=["one threshold", "equal scores pass", "NO above YES"],
)
def test_decisions_are_checked_over_all_queries(yes, no, consistent):
    # The NO belongs to a query without occurrences: it counts here all the same.
    scored = cell(ledger("ab", [("a", yes, TARGET, YES), ("b", no, FALSE, NO)]), 50)
    detail = figure("atwv", scored).detail
    assert (detail["min_yes"], detail["max_no"], detail["consistent"]) == (yes, no, consistent)
    assert twv.decisions(scored).consistent is bool(consistent)


def test_decisions_of_a_silent_system_are_consistent():
    seen = twv.decisions(cell(ledger("a", [], omitted="a"), 50))
    assert math.isnan(seen.min_yes)
    assert math.isnan(seen.max_no)
    assert seen.consistent


def test_measures_state_unit_direction_and_source():
    for measure in twv.MEASURES:
        assert measure.unit
        assert measure.better in {"higher", "lower", "none"}
        assert measure.source
        assert (measure.of.__doc__ or "").strip()


@pytest.mark.parametrize(
    ("point", "det", "default"),
    [
        (OperatingPoint(p_target=0.1), 0.1 * 0.5 + 0.9 * 0.01, 0.1),
        (OperatingPoint(10.0, 2.0, 0.1), 10 * 0.1 * 0.5 + 2 * 0.9 * 0.01, 1.0),
        (OperatingPoint(1.0, 1.0, 0.9), 0.9 * 0.5 + 0.1 * 0.01, 0.1),
        (OperatingPoint(10.0, 2.0, 0.1, p_target_effective=0.2), 0.2 * 0.5 + 0.8 * 0.01, 0.2),
    ],
    ids=["unit costs", "costs", "always accepting is cheaper", "effective prior wins"],
)
def test_detection_costs(point, det, default):
    scored = cell(worked().total, 52, point)
    assert figure("c_det", scored).value == pytest.approx(det, abs=1e-15)
    assert figure("c_default", scored).value == pytest.approx(default, abs=1e-15)
    assert figure("c_norm", scored).value == pytest.approx(det / default, abs=1e-14)


def test_normalised_cost_is_one_minus_the_value_only_where_beta_is_at_least_one():
    scored = worked()
    assert figure("c_norm", scored).value == pytest.approx(1 - figure("atwv", scored).value, abs=1e-15)
    cheap = cell(scored.total, 52, OperatingPoint(p_target=0.9))
    assert figure("c_norm", cheap).value != pytest.approx(1 - figure("atwv", cheap).value, abs=0.1)
