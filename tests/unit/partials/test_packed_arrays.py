from __future__ import annotations

import numpy as np
import pytest

from pipeline.partials.ledger import Ledger
from pipeline.partials.packed import Decimals, Packed
from pipeline.partials.rows import collapse, tally


@pytest.mark.parametrize(
    ("values", "places"),
    [([], 0), ([1.0, -3.0], 0), ([0.1, 0.25], 2), ([-0.0, 1e-9], 9), ([0.1 + 0.2], None), ([np.inf], None)],
)
def test_decimals_give_the_same_doubles_back(values, places):
    given = np.array(values, np.float64)
    found = Decimals.of(given)
    assert (None if found is None else found.places) == places
    if found is not None:
        assert np.array_equal(found.values(found.whole), given)


def test_a_number_beyond_the_sample_of_the_first_look_counts():
    values = np.full(100_000, 0.5)
    values[77_777] = 1 / 3
    assert Decimals.of(values) is None
    values[77_777] = 0.125
    assert Decimals.of(values).places == 3


def test_words_sort_as_columns_do_and_keep_the_order_of_equal_rows():
    random = np.random.default_rng(1)
    columns = random.integers(-5, 5, 70_000), random.integers(0, 3, 70_000).astype(np.int32)
    packed = Packed.of(columns, rows=True)
    packed.sort()
    assert packed.column(2).tolist() == np.lexsort(columns[::-1]).tolist()
    assert [packed.column(n).tolist() for n in (0, 1)] == [np.asarray(c)[packed.column(2)].tolist() for c in columns]


def test_narrow_numbers_may_be_far_apart():
    columns = np.array([1, 0, 1]), np.array([2**31 - 1, 5, -(2**31)], np.int32), np.array([0, 255, 7], np.uint8)
    packed = Packed.of(columns)
    assert [packed.column(n).tolist() for n in range(3)] == [column.tolist() for column in columns]


def test_what_does_not_fit_into_a_word_is_declined():
    wide = np.array([-(2**62), 2**62 - 1])
    assert Packed.of((wide, np.array([0, 1]))) is None


@pytest.mark.parametrize("n_rows", [0, 1, 500, 50_000])
@pytest.mark.parametrize("decimals", [1, 17])
def test_a_tally_is_what_collapsing_gives(decimals, n_rows):
    random = np.random.default_rng(2)
    group, score = 2 * random.integers(1, 5, n_rows), random.normal(size=n_rows).round(decimals) + 0.0
    target, yes = random.random((2, n_rows)) < 0.3
    counts = np.stack([target, ~target, target & yes, ~target & yes])
    found, wanted = tally(group, score, target, yes, 12), collapse(group, score, counts, 12)
    assert np.array_equal(found.first, wanted.first)
    assert found.scores.places == wanted.scores.places
    assert np.array_equal(found.scores.values, wanted.scores.values)
    assert np.array_equal(found.counts, wanted.counts)
    assert found.counts.dtype == (np.uint16 if n_rows == 50_000 and decimals == 1 else np.uint8)


@pytest.mark.parametrize(("n", "kind"), [(255, np.uint8), (256, np.uint16), (65_535, np.uint16), (65_536, np.int64)])
def test_counts_are_as_wide_as_they_must_be(n, kind):
    """Also where each of the parts is narrower."""
    one, some = np.zeros(n, np.int32), np.ones(n, np.bool_)
    whole = Ledger.of(["a"], one, np.zeros(n), some, ~some, one[:0])
    parts = [Ledger.of(["a"], one[:k], np.zeros(k), some[:k], ~some[:k], one[:0]) for k in (n // 2, n - n // 2)]
    assert whole.counts.dtype == kind
    assert whole.counts.ravel().tolist() == [0, n, 0, n]
    added = Ledger.joined(parts)
    assert added == whole
    assert added.counts.dtype == kind
    both = added + Ledger.of(["b"], one[:1], np.zeros(1), some[:1], ~some[:1], one[:0])
    few = np.zeros(300, np.int32), np.zeros(300), np.arange(300) % 2 == 0, np.arange(300) % 3 == 0, one[:0]
    assert Ledger.of(["a"], *few).counts.dtype == np.uint8, "no count is more than 255"
    assert both.select(["b"]).counts.dtype == np.uint8


@pytest.mark.parametrize("shared", [False, True])
def test_joining_many_ledgers_is_adding_them_up(shared):
    random = np.random.default_rng(3)

    def part(n):
        names = ["a"] if shared else [f"{n}{letter}" for letter in "cab"]
        yes, target = random.random((2, 20)) < 0.5
        query = random.integers(0, len(names), 20, dtype=np.int32)
        return Ledger.of(names, query, random.normal(size=20).round(1), yes, target, np.array([0], np.int32))

    parts = [part(n) for n in range(5)]
    assert Ledger.joined(parts) == sum(parts[1:], start=parts[0])
