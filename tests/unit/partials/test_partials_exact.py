from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from pipeline.partials.digits import LIMB_BITS, N_LIMBS, ORIGIN, digits
from pipeline.partials.exact import ROW, ExactSum, exact_sums_by_group, values_of_limbs

UNIT = Fraction(1, 1 << (LIMB_BITS * ORIGIN))
SMALLEST, LARGEST = 2.0**-1074, float(np.finfo(np.float64).max)


def test_what_cancels_in_floats_does_not_cancel_here():
    values = np.array([1e300, 1.0, SMALLEST, -1e300, 2.0**-60])
    assert float(values.sum()) == 2.0**-60
    exact = ExactSum.of(values)
    assert exact.value() == 1.0 + 2.0**-60 == 1.0
    assert exact.units * UNIT == 1 + Fraction(SMALLEST) + Fraction(2.0**-60)


def test_the_sum_is_rounded_once_and_half_to_even():
    assert ExactSum.of(np.array([1.0, 2.0**-53])).value() == 1.0
    assert ExactSum.of(np.array([1.0, 2.0**-53, SMALLEST])).value() == 1.0 + 2.0**-52
    assert ExactSum.of(np.array([1.0 + 2.0**-52, 2.0**-53])).value() == 1.0 + 2.0**-51


@pytest.mark.parametrize(
    "values",
    [
        [], [0.0], [-0.0, -0.0], [SMALLEST] * 3, [-SMALLEST, SMALLEST], [2.0**-1022, -SMALLEST],
        [LARGEST, -LARGEST, 1.0], [LARGEST / 2, LARGEST / 2], [0.5, 0.5 - 2.0**-54], [2.0**31, 2.0**-1],
        [2.0**31 + 0.5, 2.0**-33],
        [2.0**k + 2.0 ** (k - 40) for k in range(-1030, 1000, 31)], [0.1] * 10, [2.0**500, 2.0**-500, 2.0**499],
        [1e300, 1e-300, -1e300], [2.0 ** (32 * k - 1) for k in range(-33, 32)],
    ],
)  # fmt: skip
def test_it_equals_fsum(values):
    assert ExactSum.of(np.array(values, np.float64)).value().hex() == math.fsum(values).hex()


def test_digits_stay_within_their_limb_and_add_up():
    rng = np.random.default_rng(1)
    block = np.ldexp(rng.normal(size=300), rng.integers(-1070, 1000, 300))
    total = [Fraction(0)] * block.size
    for limb, digit in digits(block):
        assert np.abs(digit).max() <= 2.0**31
        assert np.array_equal(digit, np.rint(digit))
        total = [t + int(d) * Fraction(2) ** (LIMB_BITS * (limb - ORIGIN)) for t, d in zip(total, digit, strict=True)]
    assert total == [Fraction(value) for value in block.tolist()]


def test_a_remainder_of_exactly_half_a_unit_comes_to_an_end():
    limbs = [limb for limb, _ in digits(np.array([2.0**32 + 0.5, -(2.0**32) - 1.5]))]
    assert limbs == sorted(set(limbs), reverse=True)


def test_a_finite_sum_beyond_float64_is_an_infinity_and_comes_back():
    high = ExactSum.of(np.full(40_000, LARGEST))
    assert high.value() == math.inf
    assert ExactSum.of(np.full(40_000, -LARGEST)).value() == -math.inf
    assert (high + ExactSum.of(np.full(40_000, -LARGEST))).value() == 0.0


def test_infinities_are_counted():
    values = np.array([math.inf, 1.0, math.inf, -math.inf, 0.25])
    assert ExactSum.of(values) == ExactSum(ExactSum.of(np.array([1.25])).units, 2, 1)
    assert ExactSum.of(values[:3]).value() == math.inf
    assert ExactSum.of(values[3:]).value() == -math.inf
    assert math.isnan((ExactSum.of(values[:3]) + ExactSum.of(values[3:])).value())


@pytest.mark.parametrize("count", [0, 1, 3, 2**16 - 1, 2**16, 2**31 + 5, 2**48 + 2**17 + 1, 2**63 - 1])
def test_products_are_exact(count):
    values = [0.1, -SMALLEST, 1e300, 3.0, -1e300, LARGEST]
    exact = ExactSum.of_products(np.array(values), np.full(6, count, np.int64))
    assert exact.units * UNIT == count * sum(map(Fraction, values))


def test_products_of_a_full_block_do_not_overflow():
    value, count = 2**31 - 1, 2**63 - 1  # all digits and all parts of counts as large as they can be
    exact = ExactSum.of_products(np.full(20_000, float(value)), np.full(20_000, count))
    assert exact.units * UNIT == 20_000 * value * count


def test_products_with_infinities():
    values = np.array([math.inf, -math.inf, 2.0, math.inf])
    assert ExactSum.of_products(values, np.array([0, 0, 3, 0])).value() == 6.0
    assert ExactSum.of_products(values, np.array([2, 0, 3, 1])).n_positive_infinite == 3


def test_groups_are_summed_apart():
    values = np.array([0.1, 1e300, math.inf, 0.2, -1e300, 1.0, -math.inf])
    sums = exact_sums_by_group(values, np.array([0, 2, 3, 0, 2, 2, 3]), 5)
    assert sums.shape == (5, ROW)
    assert values_of_limbs(sums).tolist()[:3] == [math.fsum([0.1, 0.2]), 0.0, 1.0]
    assert math.isnan(values_of_limbs(sums)[3])
    assert ExactSum.of_limbs(sums.sum(axis=0)) == ExactSum.of(values)


def test_grouped_sums_are_canonical():
    sums = exact_sums_by_group(np.array([-0.1, 2.0**40, -(2.0**33), 2.0**32 - 1, 5.0]), np.array([0, 1, 1, 2, 2]), 3)
    assert ((sums[:, : N_LIMBS - 1] >= 0) & (sums[:, : N_LIMBS - 1] < 2**32)).all()
    assert np.array_equal(sums[2:], exact_sums_by_group(np.array([2.0**32 + 4]), np.array([0]), 1))


def test_many_rows_of_limbs_are_added_as_plain_integers():
    rows = [exact_sums_by_group(np.full(1, -0.1), np.zeros(1, np.int64), 1)[0]] * 1000
    assert ExactSum.of_limbs(np.sum(rows, axis=0)).value() == math.fsum([-0.1] * 1000)


def test_more_groups_than_a_block_has_values():
    rng = np.random.default_rng(0)
    values, groups = rng.normal(size=50_000), rng.integers(0, 30_000, 50_000)
    sums = values_of_limbs(exact_sums_by_group(values, groups, 30_000))
    assert sums[groups[7]] == math.fsum(values[groups == groups[7]])
    assert ExactSum.of(values).value() == math.fsum(values)


def test_what_cannot_be_summed_is_refused():
    one, nan = np.ones(1), np.array([math.nan])
    with pytest.raises(ValueError, match="NaN"):
        ExactSum.of(nan)
    with pytest.raises(ValueError, match="NaN"):
        ExactSum.of_products(nan, np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="1-D"):
        ExactSum.of(np.ones((2, 2)))
    with pytest.raises(ValueError, match="counts"):
        ExactSum.of_products(one, np.array([-1]))
    with pytest.raises(ValueError, match="counts"):
        ExactSum.of_products(one, np.array([1, 2]))
    for groups in ([1], [-1], [0, 0]):
        with pytest.raises(ValueError, match="group code"):
            exact_sums_by_group(one, np.array(groups), 1)


def test_nothing_is_zero():
    assert ExactSum.zero() == ExactSum.of(np.zeros(0)) == ExactSum.of_products(np.zeros(0), np.zeros(0, np.int64))
    assert ExactSum.zero().value() == 0.0
    assert exact_sums_by_group(np.zeros(0), np.zeros(0, np.int64), 2).tolist() == [[0] * ROW] * 2
