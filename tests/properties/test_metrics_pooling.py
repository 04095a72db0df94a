"""Laws of pooling adjacent violators and of fixed-point sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.metrics.entropy.isotonic import blocks, minimum
from pipeline.metrics.fixed_point import FixedPoint

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=1, max_size=40)


def columns(rows):
    return tuple(np.array(column, np.float64) for column in zip(*rows, strict=True))


@given(ROWS)
def test_fractions_rise_and_no_weight_is_lost(rows):
    target, nontarget = blocks(*columns(rows))
    fractions = [Fraction(int(a), int(a + b)) for a, b in zip(target, nontarget, strict=True)]
    assert all(low < high for low, high in pairwise(fractions))
    assert (target.sum(), nontarget.sum()) == tuple(column.sum() for column in columns(rows))


@given(ROWS, st.integers(0, 40))
def test_pooling_ranges_and_then_their_blocks_is_the_same(rows, cut):
    target, nontarget = columns(rows)
    low, high = blocks(target[:cut], nontarget[:cut]), blocks(target[cut:], nontarget[cut:])
    merged = blocks(*(np.concatenate(pair) for pair in zip(low, high, strict=True)))
    for piecewise, whole in zip(merged, blocks(target, nontarget), strict=True):
        assert piecewise.tolist() == whole.tolist()


@given(ROWS.filter(lambda rows: all(column.any() for column in columns(rows))), st.integers(0, 40))
def test_merging_two_neighbouring_scores_never_lowers_the_minimum(rows, where):
    where %= len(rows)
    merged = [*rows[:where], tuple(np.sum(rows[where : where + 2], axis=0).tolist()), *rows[where + 2 :]]
    assert minimum(*columns(merged), 0.1) >= minimum(*columns(rows), 0.1) - 1e-14


WEIGHTS = st.lists(st.fractions(-1000, 1000, max_denominator=997), min_size=1, max_size=20)


@given(WEIGHTS, st.data())
def test_fixed_point_sums_are_exact_up_to_one_rounding(weights, data):
    totals = data.draw(st.lists(st.integers(0, 10**6), min_size=len(weights), max_size=len(weights)))
    counts = [data.draw(st.integers(0, total)) for total in totals]
    fixed = FixedPoint.of(weights, totals)
    exact = sum((weight * n for weight, n in zip(weights, counts, strict=True)), Fraction(0))
    scale = sum((abs(weight) * n for weight, n in zip(weights, totals, strict=True)), Fraction(0))
    slack = Fraction(float(abs(exact))) * Fraction(2) ** -53 + scale * Fraction(2) ** -70
    assert abs(Fraction(fixed.total(np.array(counts))) - exact) <= slack
