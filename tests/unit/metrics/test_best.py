"""Which figure is best: infinities, undefined ones, figures that stand alone, measures without a direction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.metrics.best import best, change, directed, ranks, worth, worths

VALUES = st.lists(st.sampled_from([math.nan, -math.inf, -1.0, 0.0, 0.5, 2.0, math.inf]), max_size=6)


@pytest.mark.parametrize(
    ("values", "better", "expected"),
    [
        ([0.1, 0.3, 0.2], "higher", 0.3),
        ([0.1, 0.3, 0.2], "lower", 0.1),
        ([0.1, 0.3, 0.2], "none", None),
        ([0.3], "higher", None),
        ([0.3, math.nan], "higher", None),
        ([], "lower", None),
        ([math.nan, math.nan], "lower", None),
        ([0.3, 0.3], "higher", 0.3),
        ([0.3, math.inf], "lower", 0.3),
        ([math.inf, math.inf], "lower", None),
        ([-math.inf, -math.inf], "higher", None),
        ([-math.inf, 1.0], "lower", -math.inf),
        ([math.inf, 1.0], "higher", math.inf),
        ([math.inf, math.nan, 2.0, 3.0], "lower", 2.0),
    ],
)
def test_the_best_of_some_figures(values, better, expected):
    assert best(values, better) == expected


@given(VALUES, st.sampled_from(["higher", "lower", "none"]))
def test_nothing_defined_is_better_than_the_best_and_order_does_not_matter(values, better):
    found = best(values, better)
    assert found == best(values[::-1], better)
    if found is not None:
        assert found in values
        assert not any(worth(value, better) > worth(found, better) for value in values)
        assert directed(better)


@given(VALUES, st.sampled_from(["higher", "lower"]))
def test_ranks_agree_with_the_best(values, better):
    found = ranks(worths(np.array(values), better))
    assert np.isnan(found).tolist() == np.isnan(values).tolist()
    top = best(values, better)
    if top is not None:
        assert [value == top for value in values] == (found == 1.0).tolist()


def test_a_measure_without_a_direction_ranks_nothing():
    assert np.isnan(ranks(worths(np.array([1.0, 2.0]), "none"))).all()


@pytest.mark.parametrize(
    ("before", "after", "better", "way"),
    [
        (1.0, 2.0, "higher", 1),
        (1.0, 2.0, "lower", -1),
        (1.0, 2.0, "none", 0),
        (math.nan, 2.0, "higher", 0),
        (2.0, math.nan, "lower", 0),
        (math.inf, 2.0, "lower", 1),
        (2.0, math.inf, "lower", -1),
        (math.inf, math.inf, "lower", 0),
        (-math.inf, math.inf, "higher", 1),
    ],
)
def test_whether_a_figure_has_become_better(before, after, better, way):
    assert change(before, after, better) == way
