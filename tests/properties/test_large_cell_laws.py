"""Cells in parts: passes over ranges of scores give the bits of a total that is merged in one place."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.engine.parts import Parts
from pipeline.engine.runner import Here, runner
from pipeline.engine.sorted_parts import pass_over
from pipeline.errors import InputError
from pipeline.metrics.entropy.isotonic import blocks
from pipeline.metrics.kws.counts import accepted, decided, decision_range
from pipeline.metrics.kws.means import query_means
from pipeline.metrics.kws.optimum import optima
from pipeline.metrics.kws.thin import thinned
from pipeline.metrics.ranking import average_precision
from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols import find
from pipeline.protocols.kws.ranks import text_condition
from pipeline.terms import Facts

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
@settings(max_examples=40)
@given(parts=ledgers(), n_trials=st.sampled_from([4.0, 40.0, 41.3, 1e4 + 1 / 3]))
def test_parts_conclude_as_their_sum(name, mode, overrides, parts, n_trials):
    protocol = find(name, mode=mode, overrides=overrides)
    facts = Facts(t_audio_s=n_trials, n_trials=n_trials, n_trials_exact=n_trials, queries=QUERIES)
    survey = {"n_rows": 7, "oov_count": {"q00": 0.0, "other": None}}
    family = protocol.family
    try:
        whole = family.conclude(protocol, merge_tree(parts, family.zero()), facts, survey)
    except InputError as refused:
        with pytest.raises(InputError, match=re.escape(str(refused))):
            family.conclude_parts(protocol, Parts(runner(None), parts), facts, survey)
        return
    with (  # several blocks, pieces and ranges even of a few scores
        patch("pipeline.metrics.kws.by_score.BLOCK_ROWS", 7),
        patch("pipeline.engine.sorted_parts.PIECE_ROWS", 3),
        patch("pipeline.engine.sorted_parts.RANGE_ROWS", 9),
    ):
        found = family.conclude_parts(protocol, Parts(runner(None), parts), facts, survey)
    assert bits(found) == bits(replace(whole, curve=family.stored_curve(whole.curve)))


@pytest.mark.parametrize("unknown", ["error", "keep"])
def test_what_is_refused_for_two_reasons_is_told_the_same_one(unknown):
    protocol = find("sws2012", mode="plan", overrides={"unknown_query": unknown})
    parts = [_part(QUERIES[:5], np.random.default_rng(1), 1.0, 1, False)]
    facts = Facts(t_audio_s=3.0, n_trials=3.0, n_trials_exact=3.0, queries=QUERIES)
    said = []
    for conclude, total in (
        (protocol.family.conclude, parts[0]),
        (protocol.family.conclude_parts, Parts(runner(None), parts)),
    ):
        with pytest.raises(InputError) as refused:
            conclude(protocol, total, facts, {"n_rows": 7, "oov_count": {"other": None}})
        said.append(str(refused.value))
    assert said[0] == said[1]
    assert ("other" in said[0]) == (unknown == "error")


def test_many_scores_start_from_moments_and_end_at_the_same_bits():
    random = np.random.default_rng(8)
    cuts = [(0, 2), (2, 3), (3, 9)]
    parts = [_part(QUERIES[a:b], random, 0.02, 9, False, rows=12_000) for a, b in cuts]
    protocol = find("sws2013")
    facts = Facts(t_audio_s=1.0, n_trials=12_001.0, n_trials_exact=12_000.7, queries=QUERIES)
    whole = protocol.family.conclude(protocol, merge_tree(parts, Outcomes()), facts, {})
    assert sum(map(len, (part.ledger for part in parts))) > 50_000
    assert whole.figures["min_cnxe_affine"].status == "ok"
    run = Counting()
    found = protocol.family.conclude_parts(protocol, Parts(run, parts), facts, {})
    assert bits(found) == bits(replace(whole, curve=protocol.family.stored_curve(whole.curve)))
    # Of each part: trials by score; all that is foreseen, of pooled trials and of rows; moments; two Newton steps.
    # What divides buckets reads little.
    assert run.n_tasks["cut"] == len(parts)
    assert run.n_tasks["pass_over"] <= 5 * len(parts)


class Counting(Here):
    """Counts tasks by their names, those only that see whole parts."""

    def __init__(self):
        self.n_tasks = Counter()

    def submit(self, task, *args):
        if task is not pass_over or args[1].spans is None:
            self.n_tasks[task.__name__] += 1
        return task(*args)

    one = submit


@pytest.mark.parametrize(
    ("overrides", "marked"), [({"pooled": "true"}, False), ({}, True)], ids=["pooled", "repeated blocks"]
)
def test_what_needs_its_trials_in_one_place_says_so(overrides, marked):
    protocol = find("openkws13", overrides=overrides)
    facts = Facts(t_audio_s=9.0, n_trials=9.0, n_trials_exact=9.0, queries=QUERIES)
    survey = {"n_rows": 0, "oov_count": {"q00": 0.0, **({"q00\x1f2": 0.0} if marked else {})}}
    assert protocol.family.conclude_parts(protocol, Parts(runner(None), [Outcomes()]), facts, survey) is None


@given(ledgers(), st.floats(-3, 3))
def test_a_thinned_ledger_says_the_same_of_every_query(parts, threshold):
    ledger = merge_tree(parts, Outcomes()).ledger.select(QUERIES)
    thin = thinned(ledger, [threshold])
    assert Ledger.from_columns(*thin.to_columns()) == thin
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
