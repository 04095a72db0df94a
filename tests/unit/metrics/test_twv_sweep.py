"""The sweep over thresholds, the query means behind it, and the fixed-point sums behind those."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from metric_ledgers import FALSE, NO, TARGET, YES, cell, ledger, worked

from pipeline.metrics.fixed_point import FixedPoint
from pipeline.metrics.kws import twv
from pipeline.metrics.kws.counts import decided
from pipeline.metrics.kws.means import query_means
from pipeline.metrics.kws.sweep import first_best, sweep


def columns(scored):
    return {name: list(column) for name, column in twv.curve_columns(scored).items()}


def test_curve_of_the_worked_cell():
    curve = columns(worked())
    assert curve["threshold"][:-1] == [0.5, 0.6, 1.0, 2.0, 3.0]
    assert math.isnan(curve["threshold"][-1])
    assert curve["p_miss"] == [0.25, 0.5, 0.5, 0.5, 0.75, 1.0]
    assert curve["p_fa"] == [0.02, 0.02, 0.01, 0.0, 0.0, 0.0]
    assert curve["twv"] == pytest.approx([0.57, 0.32, 0.41, 0.5, 0.25, 0.0], abs=1e-15)


def test_curve_without_the_last_point_and_with_every_query():
    assert columns(worked(reject_all_point=False))["threshold"] == [0.5, 0.6, 1.0, 2.0, 3.0]
    assert columns(worked(include_no_targets=True))["threshold"][:-1] == [0.5, 0.6, 1.0, 2.0, 3.0, 4.0]


def test_curve_of_a_silent_system_is_the_point_that_accepts_nothing():
    curve = columns(cell(ledger("a", [], omitted="a"), 11, reject_all_point=False))
    assert math.isnan(curve["threshold"][0])
    assert (curve["p_miss"], curve["p_fa"], curve["twv"]) == ([1.0], [0.0], [0.0])


def test_curve_of_an_unscored_cell_is_empty():
    assert columns(cell(ledger("a", [("a", 1.0, FALSE, YES)]), 11))["twv"] == []


def test_tied_scores_of_several_queries_are_one_point():
    rows = [("a", 1.0, TARGET, YES), ("b", 1.0, FALSE, YES), ("b", 1.0, TARGET, YES), ("b", 0.0, FALSE, NO)]
    assert columns(cell(ledger("ab", rows), 11))["threshold"][:2] == [0.0, 1.0]


def test_sweep_is_rounded_twice_from_exact_counts():
    """Denominators without a common binary fraction: every point within two units in the last place."""
    rng = np.random.default_rng(7)
    queries = [f"q{i:02d}" for i in range(40)]
    rows = [
        (queries[int(rng.integers(40))], float(rng.integers(200)) / 8, bool(rng.random() < 0.2), NO) for _ in range(900)
    ]
    total = ledger(queries, rows, omitted=[queries[i % 40] for i in range(57)])
    means = query_means(total, 997.5)
    curve = sweep(total, means, 66.6)
    n_true = total.n_true[0].tolist()
    scored = [i for i, n in enumerate(n_true) if n]
    for threshold, p_miss, p_fa in zip(curve.threshold, curve.p_miss, curve.p_fa, strict=True):
        hits, alarms = [0] * 40, [0] * 40
        for query, score, target, _ in rows:
            (hits if target else alarms)[queries.index(query)] += bool(score >= threshold)
        miss = sum(Fraction(n_true[i] - hits[i], n_true[i]) for i in scored) / len(scored)
        false = sum(Fraction(alarms[i]) / (Fraction(997.5) - n_true[i]) for i in scored) / len(scored)
        assert abs(Fraction(p_miss) - miss) <= 2 * math.ulp(float(miss))
        assert abs(Fraction(p_fa) - false) <= 2 * math.ulp(float(false))
    at_decisions = means.rates(decided(total), 66.6)
    assert at_decisions.p_miss == curve.p_miss[-1] == 1
    assert at_decisions.p_fa == curve.p_fa[-1] == 0


def test_undefined_false_alarm_rates_are_left_out_where_asked_for():
    # KWSEval -g: a has no non-target segment; only b's rate 1/4 is averaged, both miss rates are.
    total = ledger("ab", [("a", 1.0, TARGET, YES), ("b", 1.0, FALSE, YES), ("b", 2.0, TARGET, YES)], omitted="aaaa")
    rates = query_means(total, 5.0, skip_undefined_p_fa=True).rates(decided(total), 1.0)
    assert (rates.p_miss, rates.p_fa) == (pytest.approx(0.4, abs=1e-16), 0.25)
    assert query_means(total, 5.0).reason == "no_nontarget_trials"


def test_values_equal_up_to_rounding_are_ties():
    assert first_best(np.array([0.1, 0.3, 0.1 + 0.2, 0.2])) == 1
    assert first_best(np.array([0.1, 0.3, 0.3 + 1e-12])) == 2


def test_fixed_point_weights_of_either_sign_add_up_in_any_order():
    weights = [Fraction(1, 3), Fraction(-1, 7), Fraction(10**6, 11), Fraction(1, 10**9 + 7)]
    counts = np.array([5, 9, 2, 10**7])
    fixed = FixedPoint.of(weights, counts.tolist())
    exact = sum(weight * n for weight, n in zip(weights, counts.tolist(), strict=True))
    assert fixed.total(counts) == float(exact)
    order = np.array([2, 0, 3, 1])
    assert fixed.take(order).total(counts[order]) == float(exact)


def test_fixed_point_without_counts_is_zero():
    fixed = FixedPoint.of([Fraction(1, 3), Fraction(0)], [0, 0])
    assert fixed.total(np.array([0, 0])) == 0
