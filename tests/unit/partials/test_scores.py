from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.partials.ledger import Ledger
from pipeline.partials.packed import MOST_DECIMALS
from pipeline.partials.scores import HIGHEST, Scores

DECIMALS = st.tuples(st.integers(-HIGHEST - 2, HIGHEST + 2), st.integers(0, 10)).map(lambda of: of[0] / 10 ** of[1])
VALUES = st.lists(st.one_of(DECIMALS, st.integers(-30, 30).map(lambda n: n / 10), st.floats(allow_nan=False)))


def scores(values: list[float]) -> np.ndarray:
    return np.array(values, np.float64) + 0.0


def same(one: Scores, other: Scores) -> bool:
    return one.places == other.places and one.values.tobytes() == other.values.tobytes()


def is_canonical(of: Scores) -> bool:
    """As whole numbers with as few decimals as all need, where that is possible."""
    if of.places is None:
        return of.values.dtype == np.float64 and Scores.of(of.values).places is None
    fits = bool(np.abs(of.values.astype(np.int64)).max(initial=0) <= HIGHEST)
    as_few = not of.places or bool((of.values % 10).any())
    return of.values.dtype == np.int32 and 0 <= of.places <= MOST_DECIMALS and fits and as_few


@given(VALUES)
def test_a_form_gives_the_same_doubles_back(values):
    given_scores = scores(values)
    found = Scores.of(given_scores)
    assert found.at(slice(None)).tobytes() == given_scores.tobytes()
    assert is_canonical(found)


@pytest.mark.parametrize(
    ("values", "places"),
    [([0.1, 2.0], 1), ([100.0], 0), ([1e-9], 9), ([2.0, 1e-9], 9), ([3.0, 1e-9], None), ([1e-10], None)],
)
def test_as_few_decimals_as_all_need_within_half_a_word(values, places):
    assert Scores.of(scores(values)).places == places


@given(VALUES, st.data())
def test_some_scores_have_the_form_they_have_alone(values, data):
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), np.bool_)
    assert same(Scores.of(scores(values)).take(kept), Scores.of(scores(values)[kept]))


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.one_of(DECIMALS, st.floats(allow_nan=False)))), st.data())
@example([("a", 3.0), ("b", 1e-9)], None)
@example([("a", 0.5), ("a", 0.25), ("b", 0.5)], None)
def test_a_sum_of_ledgers_has_the_form_of_all_trials_however_they_are_divided(trials, data):
    side = [data.draw(st.integers(0, 2)) if data else n % 3 for n in range(len(trials))]
    parts = [_ledger([row for row, of in zip(trials, side, strict=True) if of == n]) for n in range(3)]
    whole = _ledger(trials)
    for found in (Ledger.joined(parts), parts[0] + parts[1] + parts[2], parts[2] + (parts[1] + parts[0])):
        assert found == whole
        assert same(found.scores, whole.scores)
    some = whole.select(["a", "c"])
    assert same(some.scores, _ledger([row for row in trials if row[0] in "ac"]).scores)


def _ledger(trials: list[tuple[str, float]]) -> Ledger:
    query, yes = np.array(["abcd".index(name) for name, _ in trials], np.int32), np.ones(len(trials), np.bool_)
    return Ledger.of("abcd", query, scores([score for _, score in trials]), yes, ~yes, query[:0])
