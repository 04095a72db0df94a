"""Average precision."""

from __future__ import annotations

import pytest
from metric_ledgers import FALSE, NO, TARGET, YES, cell, ledger, worked

from pipeline.metrics.kws.ranking import average_precision, mean_average_precision


def test_precision_at_each_hit_over_all_occurrences():
    # a: ranks 1 and 3 of 2 occurrences, (1/1 + 2/3) / 2; b: rank 1 of 2 occurrences, 1/2. c does not count.
    found = mean_average_precision(worked())
    assert found.value == pytest.approx((5 / 6 + 1 / 2) / 2, abs=1e-15)
    assert found.detail["n_queries"] == 2


def test_non_targets_come_first_inside_one_score():
    total = ledger("a", [("a", 0.5, TARGET, YES), ("a", 0.5, FALSE, YES)])
    assert average_precision(total).tolist() == [0.5]


def test_several_hits_at_one_score():
    # Ranks 3 and 4 behind a hit at rank 1 and a false alarm inside the tie: 1/1, 2/3, 3/4.
    rows = [("a", 2.0, TARGET, YES), ("a", 1.0, TARGET, NO), ("a", 1.0, TARGET, YES), ("a", 1.0, FALSE, NO)]
    assert average_precision(ledger("a", rows)).tolist() == [pytest.approx((1 + 2 / 3 + 3 / 4) / 3, abs=1e-15)]


def test_scores_are_numbers_not_strings():
    # As strings "9.5" and "9" would come before "10".
    rows = [("a", 10.0, TARGET, YES), ("a", 9.5, FALSE, YES), ("a", 9.0, TARGET, YES)]
    assert average_precision(ledger("a", rows)).tolist() == [pytest.approx((1 + 2 / 3) / 2, abs=1e-15)]


def test_nothing_submitted_is_zero_and_no_occurrences_undefined():
    assert mean_average_precision(cell(ledger("a", [], omitted="a"), 9)).value == 0
    assert mean_average_precision(cell(ledger("a", [("a", 1.0, FALSE, YES)]), 9)).reason == "no_targets"
