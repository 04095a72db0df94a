"""Figures are folded over blocks of rows: they have the same bits however few rows a block has."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.metrics.entropy.isotonic import blocks
from pipeline.metrics.kws.at_scores import at_scores
from pipeline.metrics.kws.counts import accepted, decided, decision_range
from pipeline.metrics.kws.det import thinned as thinned_curve
from pipeline.metrics.kws.means import query_means
from pipeline.metrics.kws.optimum import optima
from pipeline.metrics.kws.ranking import average_precision
from pipeline.metrics.kws.sweep import sweep
from pipeline.metrics.kws.thin import thinned
from pipeline.partials.ascending import ascending
from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols import find
from pipeline.protocols.base import DRAWN
from pipeline.protocols.kws.ranks import text_condition
from pipeline.terms import Facts
from tests.properties.few_rows import few_rows_at_once

QUERIES = tuple(f"q{number:02d}" for number in range(9))
EXTREME = np.array([0.0, 1.5, *(sign * size for size in (1e308, sys.float_info.max, 5e-324) for sign in (1, -1))])
SETTINGS = (
    ("sws2013", "official", {}),
    ("sws2013", "official", {"censor": "query"}),
    ("sws2013", "official", {"censor": "0.5", "include_no_targets": "true"}),
    ("sws2013", "official", {"censor": "-0.0"}),
    ("sws2013", "official", {"censor": "1e308"}),
    ("sws2012", "plan", {}),
    ("openkws13", "official", {}),
    ("openkws13", "plan", {"skip_undefined_p_fa": "true", "withdrawn": "q03"}),
)


@st.composite
def ledgers(draw, few_scores=True):
    """Parts of a cell, each with all trials of some queries, in two orders of ranks."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    infinite, spread = draw(st.booleans()), draw(st.sampled_from([0, 1, 6, None])) if few_scores else 6
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    bounds = [0, *sorted(draw(st.sets(st.integers(1, len(QUERIES) - 1), max_size=4))), len(QUERIES)]
    return [_part(QUERIES[a:b], random, share, spread, infinite) for a, b in pairwise(bounds)]


def _part(queries, random, share, digits, infinite, rows=12):
    n = int(random.integers(0, rows * len(queries)))
    query = random.integers(0, len(queries), n).astype(np.int32)
    target = random.random(n) < share
    if digits is None:
        score = random.choice(EXTREME, n)
    else:
        score = np.round(random.normal(np.where(target, 1.5, 0.0), 1.5), digits)
    if infinite and n:
        score[random.integers(0, n, 2)] = random.choice([np.inf, -np.inf])
    decision = (score >= 1.0) ^ (random.random(n) < 0.1)
    omitted = random.integers(0, len(queries), random.integers(0, 4)).astype(np.int32)
    ledger = Ledger.of(queries, query, score, decision, target, omitted)
    rank = random.permutation(n).astype(np.float64)
    texts = Ledger.of(queries, query, rank, decision, target, omitted, text_condition("all"))
    return Outcomes.of(ledger + texts, Tally({"outside_ecf": n % 3}))


def bits(conclusion):
    return {name: repr(getattr(conclusion, name)) for name in vars(conclusion)}


@pytest.mark.parametrize(("name", "mode", "overrides"), SETTINGS)
@settings(max_examples=15)
@given(
    parts=ledgers(),
    n_trials=st.sampled_from([4.0, 40.0, 41.3, 1e4 + 1 / 3]),
    at_once=st.sampled_from([2, 7, 64]),
)
def test_figures_do_not_know_of_blocks(name, mode, overrides, parts, n_trials, at_once):
    protocol = find(name, mode=mode, overrides=overrides)
    facts = Facts(t_audio_s=n_trials, n_trials=n_trials, n_trials_exact=n_trials, queries=QUERIES)
    given = protocol, merge_tree(parts, Outcomes()), facts, {"n_rows": 7, "oov_count": {"q00": 0.0, "other": None}}
    try:
        whole = protocol.family.concluded(*given)
    except InputError as refused:
        with few_rows_at_once(at_once), pytest.raises(InputError, match=re.escape(str(refused))):
            protocol.family.concluded(*given)
        return
    drawn = replace(whole, curve=thinned_curve(whole.curve))
    assert bits(protocol.family.concluded(*given, DRAWN)) == bits(drawn)
    with few_rows_at_once(at_once):
        assert bits(protocol.family.concluded(*given)) == bits(whole)
        assert bits(protocol.family.concluded(*given, DRAWN)) == bits(drawn)


def test_many_scores_have_the_bits_of_few_at_a_time():
    random = np.random.default_rng(8)
    parts = [_part(QUERIES, random, 0.02, 9, False, rows=12_000)]
    protocol = find("sws2013")
    facts = Facts(t_audio_s=1.0, n_trials=12_001.0, n_trials_exact=12_000.7, queries=QUERIES)
    given = protocol, merge_tree(parts, Outcomes()), facts, {}
    whole = protocol.family.concluded(*given, DRAWN)
    assert len(parts[0].ledger) > 50_000
    assert whole.figures["min_cnxe_affine"].status == "ok"
    with few_rows_at_once(1000):
        assert bits(protocol.family.concluded(*given, DRAWN)) == bits(whole)


SPREADS = ("distinct", "few", "crowded", "tiny", "infinite")
"""How scores lie: all different, tied, in one bucket of every level but the last two, next to zero, some infinite."""


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32),
    spread=st.sampled_from(SPREADS),
    share=st.sampled_from([0.0, 0.02, 0.3, 1.0]),
    n=st.sampled_from([0, 1, 7, 300]),
    n_trials=st.sampled_from([50.0, 301.5, 1e6 + 1 / 3]),
    beta=st.sampled_from([0.0, 0.2, 9.0, 999.9, 1e9]),
    all_queries=st.booleans(),
    reject_all=st.booleans(),
    at_once=st.sampled_from([1, 5, 64, 1 << 16]),
)
def test_a_sweep_keeps_its_maximum_and_what_is_drawn(
    seed, spread, share, n, n_trials, beta, all_queries, reject_all, at_once
):
    random = np.random.default_rng(seed)
    query, target = random.integers(0, len(QUERIES), n).astype(np.int32), random.random(n) < share
    score = spread_out(random.normal(np.where(target, 1.0, 0.0), 1.5), spread, random)
    omitted = random.integers(0, len(QUERIES), random.integers(0, 9)).astype(np.int32)
    ledger = Ledger.of(QUERIES, query, score, score > 0, target, omitted)
    means = query_means(ledger, n_trials, include_no_targets=all_queries, skip_undefined_p_fa=True)
    expected = sweep(ledger, means, beta, reject_all_point=reject_all)
    with few_rows_at_once(at_once):
        found = sweep(ledger, means, beta, reject_all_point=reject_all, every_point=False)
    assert (found.reason, repr(found.below_best)) == (expected.reason, repr(expected.below_best))
    if expected.reason is None:
        assert seen(found) == seen(expected)
        assert found.threshold.size <= expected.threshold.size


def spread_out(score, spread, random):
    if spread == "few":
        return np.round(score, 0)
    if spread == "crowded":
        return 1.0 + np.round(score * 4) * 2.0**-50
    if spread == "tiny":
        return np.round(score * 4) * 5e-324
    if spread == "infinite" and score.size:
        score[random.integers(0, score.size, 3)] = random.choice([np.inf, -np.inf, -0.0], 3)
    return score


def seen(curve):
    columns = {name: getattr(curve, name) for name in ("threshold", "p_miss", "p_fa", "twv")}
    return repr(([column[curve.best] for column in columns.values()], curve.twv.max(), thinned_curve(columns)))


@given(ledgers(), st.sampled_from([1, 3, 7, 1 << 16]))
def test_blocks_hold_all_rows_in_ascending_order(parts, at_once):
    ledger = merge_tree(parts, Outcomes()).ledger.select(QUERIES)
    with few_rows_at_once(at_once):
        blocks = list(ascending(ledger))
    for block in blocks:
        assert (block.score[1:] >= block.score[:-1]).all()
        assert block.score.size <= 2 * at_once + 8 * len(QUERIES)
    assert all(one.score[-1] < other.score[0] for one, other in pairwise(blocks))
    rows = sorted(row for block in blocks for row in zip(*(column.tolist() for column in block), strict=True))
    assert rows == sorted(zip(ledger.score.tolist(), ledger.query.tolist(), ledger.n_nontarget.tolist(), strict=True))


@given(ledgers(), st.integers(0, 2**32))
def test_sums_at_scores_are_those_of_their_rows(parts, seed):
    ledger, random = merge_tree(parts, Outcomes()).ledger.select(QUERIES), np.random.default_rng(seed)
    used, weights = random.random(len(QUERIES)) < 0.7, random.integers(-(2**40), 2**40, len(QUERIES))
    with few_rows_at_once(5):
        blocks = [(one.score, one.n_nontarget(), one.sums(weights)) for one in at_scores(ledger, used)]
    found = [row for block in blocks for row in zip(*(column.tolist() for column in block), strict=True)]
    rows = used[ledger.query]
    score, place = np.unique(ledger.score[rows], return_inverse=True)
    sums = np.zeros((2, score.size), np.int64)
    np.add.at(sums[0], place, ledger.n_nontarget[rows])
    np.add.at(sums[1], place, (weights[ledger.query] * ledger.n_nontarget)[rows])
    assert found == list(zip(score.tolist(), *sums.tolist(), strict=True))


@given(ledgers(), st.floats(-3, 3))
def test_a_thinned_ledger_says_the_same_of_every_query(parts, threshold):
    ledger = merge_tree(parts, Outcomes()).ledger.select(QUERIES)
    thin = thinned(ledger, [threshold])
    assert len(thin) <= 6 * int(ledger.n_target.sum()) + 10 * len(QUERIES)
    means = [query_means(side, 50.0, include_no_targets=True) for side in (ledger, thin)]
    pairs = [
        (decided(ledger), decided(thin)),
        (accepted(ledger, threshold), accepted(thin, threshold)),
        (decision_range(ledger), decision_range(thin)),
        (average_precision(ledger), average_precision(thin)),
        (optima(ledger, means[0], 3.0), optima(thin, means[1], 3.0)),
        (pooled(ledger), pooled(thin)),
        (ledger.n_true, thin.n_true),
    ]
    for whole, short in pairs:
        assert repr(whole) == repr(short)


def pooled(ledger):
    rows = [ledger.query == code for code in range(len(QUERIES))]
    return [blocks(ledger.n_target[r].astype(float), ledger.n_nontarget[r].astype(float)) for r in rows]
