"""Laws of exact sums: equal to math.fsum, and blind to order, partition and grouping."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.partials.digits import BLOCK, LIMB_BITS, ORIGIN
from pipeline.partials.exact import ExactSum, exact_sums_by_group, values_of_limbs
from pipeline.partials.merge import merge_tree
from tests.partial_bits import sent

UNITS = 1 << (LIMB_BITS * ORIGIN)
LARGEST = sys.float_info.max
# Overflow on the way stops math.fsum but not an exact sum: keep its range, not ours, in mind.
FINITE = st.floats(-1e300, 1e300) | st.floats(-1.0, 1.0) | st.integers(-5, 5).map(lambda n: n * 2.0**-1074)
LISTS = st.lists(FINITE, max_size=40)
COUNTS = st.integers(0, 5) | st.integers(0, 2**63 - 1)


def array(values: list[float]) -> np.ndarray:
    return np.array(values, np.float64)


def exactly(exact: ExactSum) -> Fraction:
    return Fraction(exact.units, UNITS)


@given(LISTS)
def test_it_equals_fsum_and_the_exact_rational(values):
    exact = ExactSum.of(array(values))
    assert exact.value().hex() == math.fsum(values).hex()
    assert exactly(exact) == sum(map(Fraction, values))


@given(arrays(np.uint64, st.integers(0, 40)))
def test_any_bit_pattern_that_is_a_finite_number(bits):
    values = bits.view(np.float64)
    values = values[np.isfinite(values)]
    assert exactly(ExactSum.of(values)) == sum(map(Fraction, values.tolist()))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(1, 9))
def test_the_mean_of_any_finite_numbers_is_next_to_the_exact_one(values, mass):
    mean, exact = ExactSum.of(array(values)).mean(mass), sum(map(Fraction, values)) / mass
    if abs(exact) <= Fraction(LARGEST):
        assert abs(Fraction(mean) - exact) <= Fraction(2) ** -52 * abs(exact) + Fraction(2) ** -1074
    else:
        assert math.isinf(mean) == (abs(exact) >= Fraction(2) ** 1024) or abs(mean) == LARGEST
        assert (mean > 0) == (exact > 0)


@given(st.lists(st.floats(allow_nan=False)))
def test_a_sum_is_its_limbs(values):
    exact = ExactSum.of(array(values))
    limbs = exact_sums_by_group(array(values), np.zeros(len(values), np.int64), 1)
    assert np.array_equal(exact.to_limbs(), limbs[0])
    assert ExactSum.of_limbs(exact.to_limbs()) == exact


@given(LISTS, st.integers(-1100, 1100))
def test_a_shifted_sum_is_rounded_once(values, exponent):
    exact = sum(map(Fraction, values)) * Fraction(2) ** exponent
    try:
        expected = exact.numerator / exact.denominator
    except OverflowError:
        expected = math.inf if exact > 0 else -math.inf
    assert ExactSum.of(array(values)).value(exponent) == expected


@given(LISTS, st.randoms(use_true_random=False), st.integers(1, 6))
def test_order_and_partition_do_not_matter(values, random, n_parts):
    shuffled = random.sample(values, len(values))
    cuts = sorted(random.randint(0, len(values)) for _ in range(n_parts - 1))
    parts = [ExactSum.of(part) for part in np.split(array(shuffled), cuts)]
    random.shuffle(parts)
    assert merge_tree(parts, ExactSum.zero()) == ExactSum.of(array(values))


@given(st.integers(0, 2**32 - 1), st.sampled_from(["normal", "costs", "wide", "subnormal"]))
def test_many_blocks_equal_fsum(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3 * BLOCK))
    values = {
        "normal": lambda: rng.normal(size=n),
        "costs": lambda: -np.log(rng.random(n) + 1e-12),
        "wide": lambda: np.ldexp(rng.normal(size=n), rng.integers(-1060, 900, n)),
        "subnormal": lambda: np.ldexp(rng.integers(-5, 6, n).astype(np.float64), -1074),
    }[kind]()
    exact = ExactSum.of(values)
    assert exact.value() == math.fsum(values.tolist())
    groups = rng.integers(0, 7, n)
    sums = exact_sums_by_group(values, groups, 7)
    assert ExactSum.of_limbs(sums.sum(axis=0)) == exact
    assert values_of_limbs(sums).tolist() == [math.fsum(values[groups == group]) for group in range(7)]
    assert np.array_equal(sums, exact_sums_by_group(values[::-1], groups[::-1], 7))


@given(st.lists(st.tuples(FINITE, COUNTS), max_size=30))
def test_products_are_exact(pairs):
    values, counts = array([value for value, _ in pairs]), np.array([count for _, count in pairs], np.int64)
    assert exactly(ExactSum.of_products(values, counts)) == sum(Fraction(value) * count for value, count in pairs)


@given(st.lists(st.tuples(st.floats(allow_nan=False), st.integers(0, 4)), max_size=20))
def test_products_are_repeated_sums(pairs):
    values, counts = array([value for value, _ in pairs]), np.array([count for _, count in pairs], np.int64)
    assert ExactSum.of_products(values, counts) == ExactSum.of(np.repeat(values, counts))


@given(*[st.builds(ExactSum, st.integers(), st.integers(0, 9), st.integers(0, 9))] * 3)
def test_sums_are_a_commutative_monoid(a, b, c):
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + ExactSum.zero() == a


@given(st.builds(ExactSum, st.integers(), st.integers(0, 9), st.integers(0, 9)))
def test_another_process_gets_the_same_sum(exact):
    assert sent(exact) == exact
