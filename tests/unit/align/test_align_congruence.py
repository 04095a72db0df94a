"""What a pair is worth, checked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.align.mapping.congruence import (
    WEIGHT_STEP,
    range_of_codes,
    range_of_runs,
    score_congruence,
    time_congruence,
    weight,
)

INF = math.inf


@pytest.mark.parametrize(
    ("detection", "occurrence", "expected"),
    [
        ((10.0, 11.0), (10.0, 11.0), 1.0),
        ((9.0, 12.0), (10.0, 11.0), 1.0),
        ((10.5, 11.5), (10.0, 12.0), 0.5),
        ((13.0, 14.0), (10.0, 12.0), -0.5),
        ((10.0, 10.5), (10.25, 10.25), 0.0),
        ((10.0, 10.5), (11.0, 11.0), -50000.0),
    ],
    ids=["same", "around", "half", "disjoint", "no length inside", "no length outside"],
)
def test_time_congruence(detection, occurrence, expected):
    arguments = (np.array([value]) for value in (*detection, *occurrence))
    assert time_congruence(*arguments).tolist() == pytest.approx([expected], rel=1e-12)


@pytest.mark.parametrize(
    ("score", "low", "high", "floor", "expected"),
    [
        (0.75, 0.5, 1.0, 1e-5, 0.5),
        (3.0, -1.0, 7.0, 0.0, 0.5),
        (0.5, 0.5, 0.5, 1e-5, 0.0),
        (0.5, 0.5, 0.5, 0.0, 0.0),
        (2e-6, 0.0, 2e-6, 1e-5, 0.2),
        (2e-6, 0.0, 2e-6, 0.0, 1.0),
        (INF, 0.0, 1.0, 1e-5, 1.0),
        (-INF, 0.0, 1.0, 1e-5, 0.0),
        (INF, math.nan, math.nan, 1e-5, 1.0),
        (0.0, -1.5e308, 1.5e308, 0.0, 0.0),
        (1e308, -1.5e308, 1.5e308, 1e-5, 1.0),
        (1.5e308, 0.0, 1.5e308, 1e-5, 1.0),
        (5e-324, 0.0, 1e-323, 0.0, 0.5),
        (5e-324, 5e-324, 1e-323, 0.0, 0.0),
        (2.0, 0.0, 1.0, 0.0, 2.0),
    ],
)
def test_score_congruence(score, low, high, floor, expected):
    found = score_congruence(np.array([score]), np.array([low]), np.array([high]), floor)
    assert found.tolist() == pytest.approx([expected], rel=1e-12)


def test_weight_is_a_whole_number_of_steps():
    steps = weight(np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.25, 1.0]))
    assert steps.dtype == np.int64
    assert (steps * WEIGHT_STEP).tolist() == pytest.approx([1e-8, 5e-9 + 2.5e-7, 1e-6], abs=WEIGHT_STEP)


def test_equal_overlaps_weigh_the_same_though_their_doubles_differ():
    begin = np.array([10.1, 10.55])
    overlap = time_congruence(begin, begin + 0.3, np.full(2, 10.25), np.full(2, 10.7))
    assert overlap[0] != overlap[1]
    assert len(set(weight(overlap, np.zeros(2)).tolist())) == 1


def test_weight_stays_within_bounds():
    steps = weight(np.array([INF, -INF, 0.0]), np.array([INF, -INF, 1e300]))
    assert (steps * WEIGHT_STEP).tolist() == [2.0, -2.0, 1.0]


def test_ranges_are_taken_over_finite_scores():
    score, group = np.array([3.0, INF, 1.0, -INF, 5.0]), np.array([0, 0, 0, 1, 2])
    low, high = range_of_runs(score, group)
    assert low.tolist() == pytest.approx([1, 1, 1, math.nan, 5], nan_ok=True)
    assert high.tolist() == pytest.approx([3, 3, 3, math.nan, 5], nan_ok=True)
    order = np.array([4, 2, 0, 3, 1])
    low, high = range_of_codes(score[order], group[order].astype(np.int32), 4)
    assert low.tolist() == pytest.approx([1, math.nan, 5, math.nan], nan_ok=True)
    assert high.tolist() == pytest.approx([3, math.nan, 5, math.nan], nan_ok=True)
