"""Laws of ledgers: a commutative monoid with canonical bytes, of which trials may be cut anyhow; damage is seen."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree
from tests.partial_bits import bits_of, sent

QUERIES = ("q1", "q10", "q2", "Ω")
CONDITIONS = ("all", "noisy")
SCORES = st.sampled_from([0.0, -0.0, 0.5, 1.0, float("inf"), float("-inf")]) | st.floats(allow_nan=False)
TRIALS = st.lists(st.tuples(st.sampled_from(QUERIES), SCORES, st.booleans(), st.booleans()), max_size=25)
OMITTED = st.lists(st.sampled_from(QUERIES), max_size=6)


def count(trials: list[tuple[str, float, bool, bool]], omitted: list[str], condition: str = "all") -> Ledger:
    """A ledger that names just the queries it has seen, as a tile's does."""
    queries = tuple(dict.fromkeys([*(trial[0] for trial in trials), *omitted]))
    query = np.array([queries.index(trial[0]) for trial in trials], np.int32)
    score, decision, target = (np.array([trial[column] for trial in trials]) for column in (1, 2, 3))
    lost = np.array([queries.index(name) for name in omitted], np.int32)
    return Ledger.of(queries, query, score.astype(float), decision.astype(bool), target.astype(bool), lost, condition)


def brute_force(trials: list[tuple[str, float, bool, bool]]) -> dict[tuple[str, float], list[int]]:
    counts: dict[tuple[str, float], list[int]] = {}
    for query, score, decision, target in trials:
        row = counts.setdefault((query, score), [0, 0, 0, 0])
        row[0 if target else 1] += 1
        row[2 if target else 3] += decision
    return dict(sorted(counts.items()))


LEDGERS = st.builds(
    lambda parts: merge_tree([count(*part) for part in parts], Ledger.zero()),
    st.lists(st.tuples(TRIALS, OMITTED, st.sampled_from(CONDITIONS)), max_size=3),
)


@given(TRIALS, OMITTED)
def test_counting_equals_brute_force(trials, omitted):
    ledger = count(trials, omitted)
    keys = [(ledger.queries[query], score) for query, score in zip(ledger.query, ledger.score.tolist(), strict=True)]
    columns = (ledger.n_target, ledger.n_nontarget, ledger.n_target_yes, ledger.n_nontarget_yes)
    rows = [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    assert list(zip(keys, rows, strict=True)) == list(brute_force(trials).items())
    true = Counter(trial[0] for trial in trials if trial[3]) + Counter(omitted)
    assert ledger.n_true[0].tolist() == [true[query] for query in ledger.queries]


@given(LEDGERS, LEDGERS, LEDGERS)
def test_ledgers_are_a_commutative_monoid_with_canonical_bytes(a, b, c):
    assert bits_of((a + b) + c) == bits_of(a + (b + c))
    assert bits_of(a + b) == bits_of(b + a)
    assert bits_of(a + Ledger.zero()) == bits_of(a) == bits_of(Ledger.zero() + a)


@given(TRIALS, OMITTED, st.randoms(use_true_random=False), st.integers(1, 5))
def test_trials_may_come_in_any_order_and_parts(trials, omitted, random, n_parts):
    mixed, lost = random.sample(trials, len(trials)), random.sample(omitted, len(omitted))
    parts = [count(mixed[part::n_parts], lost[part::n_parts]) for part in range(n_parts)]
    random.shuffle(parts)
    assert bits_of(merge_tree(parts, Ledger.zero())) == bits_of(count(trials, omitted) + Ledger.zero())


@given(TRIALS, OMITTED)
def test_one_tile_per_query_is_the_same_ledger(trials, omitted):
    tiles = [
        count([trial for trial in trials if trial[0] == query], [name for name in omitted if name == query])
        for query in reversed(QUERIES)
    ]
    assert merge_tree(tiles, Ledger.zero()) == count(trials, omitted)


@given(LEDGERS, LEDGERS, st.lists(st.sampled_from((*QUERIES, "never"))), st.sampled_from(CONDITIONS))
def test_selecting_and_adding_commute(a, b, queries, condition):
    assert (a + b).select(queries, condition) == a.select(queries, condition) + b.select(queries, condition)
    assert a.select(queries, condition).select(queries, condition) == a.select(queries, condition)


@given(LEDGERS, st.sampled_from(CONDITIONS))
def test_selecting_loses_nothing_that_is_listed(ledger, condition):
    chosen = ledger.select(ledger.queries, condition)
    assert chosen.queries == ledger.queries
    here = [index for index, name in enumerate(ledger.conditions) if name == condition]
    assert chosen.n_true.tolist() == (ledger.n_true[here].tolist() or [[0] * len(ledger.queries)])
    rows = np.isin(ledger.condition, here)
    assert chosen.score.tobytes() == ledger.score[rows].tobytes()
    assert chosen.n_nontarget.tobytes() == ledger.n_nontarget[rows].tobytes()


@given(LEDGERS, LEDGERS)
def test_equality_is_equality_of_bytes(a, b):
    assert (a == b) == (bits_of(a) == bits_of(b))


@given(LEDGERS)
def test_another_process_gets_the_same_ledger(ledger):
    assert sent(ledger) == ledger
