"""Figures as functions of how often units count: against the same measure of a ledger in which they really do."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_ledgers import cell, ledger, worked

from pipeline.metrics.entropy import calibration, cxe
from pipeline.metrics.kws import twv
from pipeline.metrics.measure import Scored
from pipeline.metrics.statistics.draws import signs, weights
from pipeline.metrics.statistics.resampling import Ratios, Sample, Swept
from pipeline.partials.ledger import Ledger
from pipeline.terms import OperatingPoint

MEASURES = {measure.name: measure for measure in (*twv.MEASURES, *cxe.MEASURES, *calibration.MEASURES)}
RESAMPLED = ("atwv", "mtwv", "atwv_all", "mtwv_all", "twv_bayes", "p_miss", "p_fa")


def sampled(scored: Scored[Ledger], name: str) -> Sample | str:
    return MEASURES[name].sample(scored, lambda: (None, None))


def made(seed: int, n_queries: int, **rules: object) -> Scored[Ledger]:
    """A random cell: some queries without occurrences, some without detections, ties of score."""
    random = np.random.default_rng(seed)
    names = tuple(f"q{n}" for n in range(n_queries))
    n_rows = int(random.integers(1, 12 * n_queries))
    query = random.integers(n_queries, size=n_rows)
    target = random.random(n_rows) < 0.3
    score = np.round(random.normal(2.0 * target, 1.5), 1)
    omitted = random.integers(n_queries, size=int(random.integers(1, n_queries + 1)))
    total = Ledger.of(names, query, score, score > 0.7, target, omitted)
    return cell(total, 300.0, OperatingPoint(p_target=0.03), **rules)


def repeated(scored: Scored[Ledger], counts: dict[str, int]) -> Scored[Ledger]:
    """The cell with each query as often as it counts, under names of their own."""
    total = Ledger.zero()
    for query, n in counts.items():
        for copy in range(n):
            one = scored.total.select([query])
            total = total + replace(one, queries=(f"{query}/{copy}",))
    return Scored(total, replace(scored.facts, queries=total.queries), scored.point, scored.rules)


@pytest.mark.parametrize("rules", [{}, {"reject_all_point": False}, {"include_no_targets": True}])
@given(seed=st.integers(0, 10_000), n_queries=st.integers(1, 7))
def test_a_replicate_is_the_measure_of_repeated_queries(seed, n_queries, rules):
    scored = made(seed, n_queries, **rules)
    for name in RESAMPLED:
        sample = sampled(scored, name)
        whole = MEASURES[name].of(scored)
        if isinstance(sample, str):
            assert whole.reason == sample
            continue
        drawn = weights(seed, range(3), sample.strata)
        assert sample.values(np.ones((1, len(sample.units)), np.int64))[0] == pytest.approx(whole.value, abs=1e-11)
        for row, value in zip(drawn, sample.values(drawn), strict=True):
            again = repeated(scored, dict(zip(sample.units, row.tolist(), strict=True)))
            point = scored.point.threshold if name == "twv_bayes" else None
            expected = MEASURES[name].of(again)
            assert point is None or again.point.threshold == point
            assert value == pytest.approx(expected.value, abs=1e-10, nan_ok=True), name


@given(seed=st.integers(0, 10_000), n_queries=st.integers(1, 7))
def test_a_replicate_of_cross_entropy_is_that_of_repeated_queries(seed, n_queries):
    scored = made(seed, n_queries, censor=-3.5)  # a number: the lowest score of a replicate may be another one
    for name in ("cnxe", "cxe"):
        sample = sampled(scored, name)
        assert not isinstance(sample, str)
        drawn = weights(seed, range(3), sample.strata)
        for row, value in zip(drawn, sample.values(drawn), strict=True):
            expected = MEASURES[name].of(repeated(scored, dict(zip(sample.units, row.tolist(), strict=True))))
            assert value == pytest.approx(expected.value, rel=1e-10)


def test_the_worked_cell():
    sample = sampled(worked(), "atwv")
    assert isinstance(sample, Ratios)
    assert sample.units == ("a", "b")
    # a: 1 of 2 missed, 1 of 50 false; b: 1 of 2 missed, no false alarm. beta = 9.
    assert sample.values(np.array([[1, 1], [2, 0], [0, 2]])).tolist() == pytest.approx([0.41, 0.32, 0.5], abs=1e-12)
    assert sample.contributions.tolist() == pytest.approx([-(0.5 + 0.18) / 2, -0.25])


@given(seed=st.integers(0, 10_000))
def test_contributions_add_up_to_the_figure(seed):
    for name in ("atwv", "mtwv", "cnxe"):
        sample = sampled(made(seed, 6), name)
        if not isinstance(sample, str):
            constant = sample.constant if isinstance(sample, Ratios) else 0.0
            value = sample.values(np.ones((1, len(sample.units)), np.int64))[0]
            assert constant + math.fsum(sample.contributions.tolist()) == pytest.approx(value, abs=1e-10)


def test_a_figure_that_is_no_function_of_its_units_says_so():
    assert sampled(worked(), "min_cnxe_pav") == "not_resampled"
    assert sampled(cell(ledger(("a",), ()), 9), "atwv") == "no_targets"
    assert sampled(cell(ledger(("a",), [("a", -math.inf, True, True)]), 9), "cnxe") == "infinite"


@given(seed=st.integers(0, 2**64 - 1), cut=st.integers(0, 20), n_units=st.integers(1, 70))
def test_draws_do_not_depend_on_how_replicates_are_divided(seed, cut, n_units):
    strata = np.arange(n_units) % 3
    whole = weights(seed, range(20), strata)
    parts = np.concatenate([weights(seed, range(cut), strata), weights(seed, range(cut, 20), strata)])
    assert np.array_equal(whole, parts)
    for code in range(3):  # as many of each stratum as there are
        assert (whole[:, strata == code].sum(axis=1) == (strata == code).sum()).all()
    both = signs(seed, range(20), n_units)
    assert np.array_equal(both[cut:], signs(seed, range(cut, 20), n_units))
    assert set(np.unique(both)) <= {-1.0, 1.0}


def philox(key: tuple[int, int], count: int) -> list[int]:
    """Philox4x64-10 (Salmon et al. 2011), written down from the paper."""
    full, c, k = (1 << 64) - 1, [count, 0, 0, 0], list(key)
    for _ in range(10):
        first, second = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [(second >> 64) ^ c[1] ^ k[0], second & full, (first >> 64) ^ c[3] ^ k[1], first & full]
        k = [(k[0] + 0x9E3779B97F4A7C15) & full, (k[1] + 0xBB67AE8584CAA73B) & full]
    return c


def test_draws_are_those_of_the_published_generator():
    """By key and counter alone: another NumPy, machine or year gives the same."""
    for replicate in (0, 1, 5):
        words = [word for block in range(2) for word in philox((13, 0), 2 * replicate + block + 1)][:6]
        counts = [0] * 6
        for word in words:
            counts[((word >> 32) * 6) >> 32] += 1
        assert weights(13, range(replicate, replicate + 1), np.zeros(6, np.int64)).tolist() == [counts]
        bits = philox((13, 1), replicate + 1)[0]
        expected = [1.0 - 2.0 * (bits >> at & 1) for at in range(10)]
        assert signs(13, range(replicate, replicate + 1), 10).tolist() == [expected]


def test_draws_are_uniform():
    counts = weights(5, range(4000), np.zeros(10, np.int64))
    assert counts.mean(axis=0).tolist() == pytest.approx([1.0] * 10, abs=0.06)  # six standard errors
    assert counts.var() == pytest.approx(0.9, abs=0.04)
    assert signs(5, range(4000), 70).mean(axis=0) == pytest.approx(0.0, abs=0.1)


def test_values_do_not_depend_on_how_replicates_are_divided():
    scored = made(7, 6)
    for name in ("atwv", "mtwv", "cnxe"):
        sample = sampled(scored, name)
        assert isinstance(sample, Ratios | Swept)
        drawn = weights(1, range(64), sample.strata)
        apart = np.concatenate([sample.values(drawn[at : at + 1]) for at in range(64)])
        assert np.array_equal(sample.values(drawn).view(np.int64), apart.view(np.int64))
