"""The best threshold of each query."""

from __future__ import annotations

import math

import pytest
from metric_ledgers import FALSE, NO, TARGET, YES, cell, ledger

from pipeline.metrics.kws import twv
from pipeline.metrics.kws.means import query_means
from pipeline.metrics.kws.optimum import optima

BETA = 9.0


def test_best_threshold_and_the_counts_there():
    # 1.0 keeps both hits and costs nothing; 0.0 would add a false alarm, 9/10.
    total = ledger("a", [("a", 1.0, TARGET, YES), ("a", 2.0, TARGET, YES), ("a", 0.0, FALSE, NO)])
    best = optima(total, query_means(total, 12.0), BETA)
    assert best.threshold.tolist() == [1.0]
    assert best.twv.tolist() == [1.0]
    assert (best.counts.n_hit.tolist(), best.counts.n_fa.tolist()) == ([2], [0])


def test_the_lowest_of_equally_good_thresholds():
    # N = 4, beta = 1: what 1.0 gains, half the occurrences, its false alarm costs.
    rows = [("a", 2.0, TARGET, YES), ("a", 1.5, FALSE, YES), ("a", 1.0, TARGET, YES)]
    total = ledger("a", rows)
    best = optima(total, query_means(total, 4.0), 1.0)
    assert (best.threshold.tolist(), best.twv.tolist()) == ([1.0], [0.5])


def test_a_query_may_accept_nothing():
    total = ledger("ab", [("a", 1.0, FALSE, YES), ("b", 2.0, TARGET, YES)], omitted="a")
    best = optima(total, query_means(total, 11.0), BETA)
    assert math.isnan(best.threshold[0])
    assert best.twv.tolist() == [0.0, 1.0]


def test_thresholds_of_the_common_sweep_only():
    """KWSEval: the query with the highest score of all cannot accept nothing, any other can."""
    total = ledger("ab", [("a", 1.0, FALSE, NO), ("b", 2.0, FALSE, NO)], omitted="ab")
    best = optima(total, query_means(total, 11.0), BETA, reject_all_point=False)
    assert best.twv.tolist() == [0.0, pytest.approx(-0.9)]
    assert best.threshold[1] == 2.0


def test_a_query_without_occurrences_has_no_value_but_may_stay_silent():
    total = ledger("ab", [("a", 1.0, TARGET, YES), ("b", 2.0, FALSE, YES)])
    means = query_means(total, 11.0, include_no_targets=True)
    best = optima(total, means, BETA)
    assert best.twv[0] == 1
    assert math.isnan(best.twv[1])
    assert best.counts.n_fa.tolist() == [0, 0]
    assert twv.twv_optimum(cell(total, 11, include_no_targets=True)).value == 1
