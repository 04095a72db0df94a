"""Sweeps by branch and bound over buckets of scores have the bits of a sweep over every score."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.metrics.kws import radix
from pipeline.metrics.kws.det import EPS_PROBIT, probit, representative, thinned
from pipeline.metrics.kws.means import query_means
from pipeline.metrics.kws.radix import LEVELS, Divide, divided, images, prefixes
from pipeline.metrics.kws.radix_sweep import sweep_over, sweepable
from pipeline.metrics.kws.sweep import sweep
from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree

QUERIES = tuple(f"q{number:02d}" for number in range(11))
SPREADS = ("distinct", "few", "crowded", "tiny", "infinite")
"""How scores lie: all different, tied, in one bucket of every level but the last two, next to zero, some infinite."""


@st.composite
def parted(draw):
    """Ledgers that name all queries and have all trials of some each, and the scores' spread."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread, share = draw(st.sampled_from(SPREADS)), draw(st.sampled_from([0.0, 0.02, 0.3, 1.0]))
    n, n_parts = draw(st.sampled_from([0, 1, 7, 300])), draw(st.integers(1, 5))
    query = random.integers(0, len(QUERIES), n).astype(np.int32)
    target = random.random(n) < share
    score = spread_out(random.normal(np.where(target, 1.0, 0.0), 1.5), spread, random)
    omitted = random.integers(0, len(QUERIES), random.integers(0, 9)).astype(np.int32)
    part, of_omitted = random.integers(0, n_parts, len(QUERIES)), []
    parts = []
    for number in range(n_parts):
        rows, of_omitted = part[query] == number, omitted[part[omitted] == number]
        parts.append(Ledger.of(QUERIES, query[rows], score[rows], score[rows] > 0, target[rows], of_omitted))
    return parts


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


def over(parts):
    return lambda task, *state: merge_tree([task(part, *state) for part in parts], None)


def bits(curve):
    best = curve.best
    extremes = [column[best] for column in (curve.threshold, curve.p_miss, curve.p_fa, curve.twv)]
    columns = {name: getattr(curve, name).tolist() for name in ("threshold", "p_miss", "p_fa", "twv")}
    return repr((extremes, curve.twv.max(), thinned(columns)))


@settings(max_examples=150)
@given(
    parts=parted(),
    n_trials=st.sampled_from([50.0, 301.5, 1e6 + 1 / 3]),
    beta=st.sampled_from([0.0, 0.2, 9.0, 999.9, 1e9]),
    all_queries=st.booleans(),
    reject_all=st.booleans(),
    at_once=st.sampled_from([0, 5, 4096]),
    compiled=st.booleans(),
)
@pytest.mark.usefixtures("numba")
def test_a_sweep_in_parts_has_the_bits_of_a_whole_one(
    parts, n_trials, beta, all_queries, reject_all, at_once, compiled
):
    whole = merge_tree(parts, Ledger.zero())
    means = query_means(whole, n_trials, include_no_targets=all_queries, skip_undefined_p_fa=True)
    if means.reason is not None or not sweepable(means, beta):
        return
    with (
        patch("pipeline.metrics.kws.radix_sweep.ROWS_AT_ONCE", at_once),
        patch.object(radix, "COMPILED_FROM", 0 if compiled else 1 << 60),
    ):
        found = sweep_over(over(parts), means, whole.omitted[0], beta, reject_all_point=reject_all)
        undrawn = sweep_over(over(parts), means, whole.omitted[0], beta, reject_all_point=reject_all, drawn=False)
    expected = sweep(whole, means, beta, reject_all_point=reject_all)
    assert (found is None) == (undrawn is None) == (len(whole) == 0 or not means.scored[whole.query].any())
    if found is not None:
        assert bits(found) == bits(expected)
        assert undrawn.twv.max() == expected.twv.max()
        assert repr(undrawn.threshold[undrawn.best]) == repr(expected.threshold[expected.best])


def test_few_trials_are_looked_at_one_by_one():
    random = np.random.default_rng(5)
    n, seen = 200_000, []
    query = np.sort(random.integers(0, len(QUERIES), n)).astype(np.int32)
    target = random.random(n) < 0.01
    score = random.normal(np.where(target, 2.0, 0.0), 1.0)
    ledger = Ledger.of(QUERIES, query, score, score > 1, target, query[:0])
    means = query_means(ledger, 1e6)

    def counted(task, *state):
        made = task(ledger, *state)
        seen.append(sum(buckets.key.size for buckets in made.levels))
        return made

    found = sweep_over(counted, means, ledger.omitted[0], 20.0, reject_all_point=True)
    assert bits(found) == bits(sweep(ledger, means, 20.0))
    assert sum(seen) < 12_000
    assert len(seen) <= 3


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40))
def test_buckets_have_the_order_of_scores(scores):
    score = np.sort(np.array(scores)) + 0.0
    image = images(score)
    assert (np.diff(image.astype(object)) >= 0).all()
    assert ((image[1:] == image[:-1]) == (score[1:] == score[:-1])).all()
    assert images(np.array([-0.0])) == images(np.array([0.0]))
    assert images(np.array([np.nan])) > images(np.array([np.inf]))
    assert prefixes(images(np.array([np.nan, np.inf])), LEVELS[0]).tolist() == [0xFFF80, 0xFFF00]


@given(parted())
@pytest.mark.usefixtures("numba")
def test_both_kernels_give_the_same_buckets(parts):
    whole = merge_tree(parts, Ledger.zero())
    means = query_means(whole, 1e4)
    coarse = (Divide(LEVELS[0]),)
    found = {}
    for rows in (0, 1 << 60):
        with patch.object(radix, "COMPILED_FROM", rows):
            [buckets] = divided(whole, means, coarse).levels
            [finer] = divided(whole, means, (Divide(64, LEVELS[0], buckets.key[::2].astype(np.uint64)),)).levels
        found[rows] = [
            [repr(column.tolist()) for column in vars(each).values() if np.ndim(column)] for each in (buckets, finer)
        ]
    assert found[0] == found[1 << 60]


@given(st.integers(0, 2**32), st.sampled_from([0.005, 0.05, 0.5]))
def test_a_point_left_out_is_within_the_tolerance_of_the_line_on_one_axis(seed, eps):
    random = np.random.default_rng(seed)
    target = random.random(2000) < 0.3
    score = np.sort(random.normal(size=2000))
    p_miss, p_fa = np.cumsum(target) / 700, 1.0 - np.cumsum(~target) / 2000
    kept = np.flatnonzero(representative(score, p_miss, p_fa, eps))
    assert kept[0] == 0
    assert kept[-1] == 1999
    x, y = probit(p_fa), probit(p_miss)
    low, high = kept[:-1], kept[1:]
    inside = high - low > 1
    narrow = np.minimum(np.abs(x[high] - x[low]), np.abs(y[high] - y[low]))
    assert (narrow[inside] <= eps).all()
    assert EPS_PROBIT == 0.005
