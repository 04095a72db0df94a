"""Sums of what files say: rounded once, infinite beyond all doubles, and never a fault."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.arrays import summed


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_a_sum_is_that_of_fractions_or_infinite(values: list[float]) -> None:
    exact = sum(map(Fraction, values), Fraction(0))
    try:
        wanted = float(exact)
    except OverflowError:
        wanted = math.copysign(math.inf, exact)
    assert summed(values) == pytest.approx(wanted, rel=1e-15)
    assert math.isfinite(summed(values)) == math.isfinite(wanted)


def test_what_overflows_on_the_way_alone_is_finite() -> None:
    assert summed([1.7e308, 1.7e308, -1.7e308]) == 1.7e308
    assert summed([1.7e308, 1.7e308]) == math.inf
