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


def test_what_does_not_fit_into_a_word_is_declined():
    wide = np.array([-(2**62), 2**62 - 1])
    assert Packed.of((wide, np.array([0, 1]))) is None


@pytest.mark.parametrize("decimals", [1, 17])
def test_a_tally_is_what_collapsing_gives(decimals):
    random = np.random.default_rng(2)
    group, score = random.integers(0, 4, 500), random.normal(size=500).round(decimals)
    flags = random.random((2, 500)) < 0.3
    found, wanted = tally(group, score, tuple(flags)), collapse(group, score, (np.ones(500, np.int64), *flags))
    assert np.array_equal(found.group, wanted.group)
    assert np.array_equal(found.score, wanted.score)
    assert all(map(np.array_equal, found.counts, wanted.counts))


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
