from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest

from pipeline.partials.ledger import Ledger

INF = math.inf

# query, score, YES, target
ROWS = [
    ("b", 0.5, True, True),
    ("a", 0.5, True, False),
    ("b", 0.5, False, False),
    ("b", -0.0, True, False),
    ("b", 0.5, True, False),
    ("a", -INF, False, True),
    ("b", 0.0, True, True),
]


def ledger(rows=ROWS, queries=("a", "b", "silent"), omitted=("b", "silent", "b"), condition="all") -> Ledger:
    code = {name: index for index, name in enumerate(queries)}
    query, score, decision, target = ([row[column] for row in rows] for column in range(4))
    return Ledger.of(
        queries,
        np.array([code[name] for name in query], np.int32),
        np.array(score, np.float64),
        np.array(decision, np.bool_),
        np.array(target, np.bool_),
        np.array([code[name] for name in omitted], np.int32),
        condition,
    )


def table(value: Ledger) -> list[tuple[object, ...]]:
    """Rows as (condition, query, score, n_target, n_nontarget, n_target_yes, n_nontarget_yes)."""
    names = [value.conditions[c] for c in value.condition], [value.queries[q] for q in value.query]
    counts = (value.n_target, value.n_nontarget, value.n_target_yes, value.n_nontarget_yes)
    return list(zip(*names, value.score.tolist(), *(column.tolist() for column in counts), strict=True))


def test_trials_are_counted_by_query_and_distinct_score():
    value = ledger()
    assert table(value) == [
        ("all", "a", -INF, 1, 0, 0, 0),
        ("all", "a", 0.5, 0, 1, 0, 1),
        ("all", "b", 0.0, 1, 1, 1, 1),
        ("all", "b", 0.5, 1, 2, 1, 1),
    ]
    assert value.queries == ("a", "b", "silent")
    assert value.omitted.tolist() == [[0, 2, 1]]
    assert value.n_true.tolist() == [[1, 4, 1]]
    assert not np.signbit(value.score[2])
    assert len(value) == 4


def test_columns_have_their_types():
    value = ledger()
    assert (value.condition.dtype, value.query.dtype, value.score.dtype) == (np.int32, np.int32, np.float64)
    assert value.counts.dtype == np.uint8
    counts = (
        value.omitted,
        value.first,
        value.n_target,
        value.n_nontarget,
        value.n_target_yes,
        value.n_nontarget_yes,
        value.n_true,
    )
    assert {column.dtype for column in counts} == {np.dtype(np.int64)}


def test_the_order_of_trials_and_of_queries_does_not_matter():
    assert ledger(ROWS[::-1], ("silent", "b", "a"), ("b", "b", "silent")) == ledger()


def test_a_sum_holds_what_either_side_holds():
    left = ledger([("b", 0.5, True, True), ("a", 1.0, False, False)], ("a", "b"), ("a",))
    right = ledger([("b", 0.5, False, False), ("c", 1.0, True, True), ("b", 0.25, True, False)], ("b", "c"), ("b", "c"))
    total = left + right
    assert table(total) == [
        ("all", "a", 1.0, 0, 1, 0, 0),
        ("all", "b", 0.25, 0, 1, 0, 1),
        ("all", "b", 0.5, 1, 1, 1, 0),
        ("all", "c", 1.0, 1, 0, 1, 0),
    ]
    assert total.omitted.tolist() == [[1, 1, 1]]


def test_conditions_are_kept_apart():
    total = ledger(ROWS[:1], ("b",), ("b",), "noisy") + ledger(ROWS[1:2], ("a",), (), "clean")
    assert (total.conditions, total.queries) == (("clean", "noisy"), ("a", "b"))
    assert table(total) == [("clean", "a", 0.5, 0, 1, 0, 1), ("noisy", "b", 0.5, 1, 0, 1, 0)]
    assert total.omitted.tolist() == [[0, 0], [0, 1]]
    assert total.n_true.tolist() == [[0, 0], [0, 2]]
    assert total.select(("b",), "noisy") == ledger(ROWS[:1], ("b",), ("b",), "noisy")


def test_zero_changes_nothing():
    assert ledger() + Ledger.zero() == ledger() == Ledger.zero() + ledger()
    assert Ledger.zero() + Ledger.zero() == Ledger.zero()
    assert Ledger.zero().n_true.shape == (0, 0)


def test_selecting_keeps_listed_queries_and_drops_others():
    chosen = ledger().select(["silent", "never", "a", "a"])
    assert chosen.queries == ("a", "never", "silent")
    assert table(chosen) == [("all", "a", -INF, 1, 0, 0, 0), ("all", "a", 0.5, 0, 1, 0, 1)]
    assert chosen.omitted.tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("value", [Ledger.zero(), ledger()])
def test_selecting_a_condition_or_queries_that_never_occurred(value):
    chosen = value.select(["never"], "elsewhere")
    assert (chosen.conditions, chosen.queries, len(chosen)) == (("elsewhere",), ("never",), 0)
    assert chosen.n_true.tolist() == [[0]]
    assert len(value.select([])) == 0
    assert value.select([]).omitted.shape == (1, 0)


def test_operands_are_not_changed():
    left, right = ledger(), ledger(ROWS[:3])
    _ = left.n_true, right.n_true  # kept once they are known
    before = pickle.dumps((left, right))
    _ = left + right, left.select(["a"]), left.n_true
    assert pickle.dumps((left, right)) == before


def test_ledgers_are_equal_by_value():
    assert ledger() == ledger()
    assert ledger() != ledger(omitted=("b",))
    assert ledger() != ledger(queries=("a", "b", "silent", "z"))
    assert ledger() != "ledger"
    changed = dataclasses.replace(ledger(), counts=ledger().counts + 1)
    assert changed != ledger()


def test_more_groups_than_one_pass_of_the_sort_tells_apart():
    n = 70_000
    names = tuple(f"{index:05d}" for index in range(n))
    query = np.arange(n, dtype=np.int32)[::-1]
    ones, none = np.ones(n, np.bool_), np.zeros(0, np.int32)
    value = Ledger.of(names, query, -query.astype(np.float64), ones, ones, none)
    assert value.query.tolist() == list(range(n))
    total = value + Ledger.of(names, query, query.astype(np.float64), ones, ~ones, none)
    assert len(total) == 2 * n - 1
    assert (np.diff(total.query) >= 0).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": np.array([math.nan, 0.0])}, "NaN"),
        ({"query": np.array([0, 2])}, "outside"),
        ({"query": np.array([0, -1])}, "outside"),
        ({"omitted_query": np.array([2])}, "outside"),
        ({"target": np.array([True])}, "equal length"),
        ({"queries": ("a", "a")}, "twice"),
    ],
)
def test_impossible_trials_are_refused(change, message):
    trials = {
        "queries": ("a", "b"),
        "query": np.array([0, 1]),
        "score": np.zeros(2),
        "decision": np.ones(2, np.bool_),
        "target": np.ones(2, np.bool_),
        "omitted_query": np.zeros(0, np.int32),
    }
    assert len(Ledger.of(**trials)) == 2
    with pytest.raises(ValueError, match=message):
        Ledger.of(**{**trials, **change})


@pytest.mark.parametrize("score", [1e300, -1e300])
def test_a_huge_score_among_decimals_is_no_overflow(score):
    scores = np.arange(3000) / 1e9
    scores[1] = score  # not among those that decimals are first tried on
    zeros, none = np.zeros(3000, np.bool_), np.zeros(0, np.int32)
    value = Ledger.of(("a",), np.zeros(3000, np.int32), scores, zeros, zeros, none)
    assert value.score.tolist() == sorted(scores.tolist())


def test_counts_stand_side_by_side_however_rows_were_chosen():
    whole = ledger() + ledger(condition="other")
    group = np.arange(len(whole))[::-1] % 2
    chosen = (
        whole.select(("b", "silent")),
        whole.only(("b",)),
        Ledger.of_rows(
            ("all",), ("x", "y"), np.zeros((1, 2), np.int64), group, np.arange(len(whole)) / 2, whole.counts
        ),
    )
    assert [value.counts.flags.c_contiguous for value in chosen] == [True] * 3
