"""Statistics against SciPy, enumeration and worked examples."""

from __future__ import annotations

from itertools import pairwise, permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pipeline.metrics.statistics.agreement import rbo, tau_ap, tau_b
from pipeline.metrics.statistics.bootstrap import interval, replicates
from pipeline.metrics.statistics.paired import bootstrap_p, exchanges_for, groups, randomisation
from pipeline.metrics.statistics.resampling import Ratios, to_grid
from pipeline.metrics.statistics.variance import pareto, spearman, split_variance


def of_means(values: np.ndarray) -> Ratios:
    names = tuple(f"u{at:03d}" for at in range(values.size))
    return Ratios(names, 0.0, np.ones(1), values[None, :], np.ones((1, values.size)))


@given(seed=st.integers(0, 1000), n=st.integers(2, 9))
def test_randomisation_is_scipys_exact_permutation_test(seed, n):
    random = np.random.default_rng(seed)
    table = np.round(random.normal(0, 1, (3, n)), 1)  # ties are likely
    p = randomisation(table, seed=1)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        found = stats.permutation_test(
            (table[one], table[other]),
            lambda a, b, axis: np.abs(np.round((a - b).sum(axis=axis), 6)),
            permutation_type="samples",
            alternative="greater",
            vectorized=True,
            n_resamples=np.inf,
        )
        assert p[one, other] == pytest.approx(found.pvalue, abs=1e-12)


def test_randomisation_of_many_units_is_near_the_normal_limit_and_the_same_each_time():
    random = np.random.default_rng(5)
    table = random.normal(0, 1, (2, 200))
    table[1] += 0.12
    p = randomisation(table, seed=3)[0, 1]
    d = table[0] - table[1]
    z = d.sum() / np.sqrt((d**2).sum())
    assert p == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.015)
    assert randomisation(table, seed=3)[0, 1] == p
    assert randomisation(np.stack([table[0], table[0]]), seed=3)[0, 1] == 1.0


def test_enough_exchanges_for_fifty_systems():
    assert exchanges_for(3, 0.95) == 10_000
    assert (50 * 49 / 2) / (1 + exchanges_for(50, 0.95)) < 0.05


def test_intervals_are_scipys_from_the_same_replicates():
    sample = of_means(np.random.default_rng(2).gamma(1.0, 1.0, 40))
    values = replicates(sample, 13, range(999))
    data = sample.numerator[0]
    drawn = SimpleNamespace(bootstrap_distribution=values)
    for method, name in (("percentile", "percentile"), ("bca", "BCa")):
        ours = interval(sample, values, level=0.9, method=method)
        theirs = stats.bootstrap(
            (data,), np.mean, n_resamples=0, bootstrap_result=drawn, confidence_level=0.9, method=name
        )
        assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-9)
    fresh = stats.bootstrap((data,), np.mean, n_resamples=9999, rng=1, method="percentile", confidence_level=0.9)
    assert (ours.value, interval(sample, values, level=0.9).low) == pytest.approx(
        (data.mean(), fresh.confidence_interval.low), abs=0.03
    )


def test_intervals_that_do_not_exist_say_why():
    assert interval(of_means(np.array([0.5])), np.array([0.5, 0.5])).reason == "too_few_units"
    same = of_means(np.full(5, 0.5))
    found = interval(same, replicates(same, 1, range(50)))
    assert (found.reason, found.value) == ("constant", 0.5)


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=30), st.integers(1, 2**20))
def test_sums_on_the_grid_are_exact(values, n):
    scaled, bits = to_grid(np.array(values), n)
    assert (np.abs(scaled) * n <= 2.0**53).all()
    assert np.ldexp(scaled, -bits) == pytest.approx(values, rel=1e-6, abs=max(map(abs, values)) * 1e-6)


def test_bootstrap_p_counts_both_sides():
    first = np.array([1.0, 2.0, 3.0, np.nan])
    assert bootstrap_p(first, np.array([0.0, 3.0, 1.0, 1.0])) == pytest.approx(2 * (1 + 1) / 4)
    assert bootstrap_p(first, first) == 1.0
    assert np.isnan(bootstrap_p(np.full(3, np.nan), first[:3]))


def brute_tau_ap(truth: np.ndarray, other: np.ndarray) -> float:
    """Over every order of the ties of ``other``, by the definition (Yilmaz et al. 2008)."""
    values, n = [], truth.size
    for order in permutations(range(n)):
        if any(other[a] < other[b] for a, b in pairwise(order)):
            continue
        right = 0.0
        for place in range(1, n):
            above = [
                (truth[at] > truth[order[place]]) + 0.5 * (truth[at] == truth[order[place]]) for at in order[:place]
            ]
            right += sum(above) / place
        values.append(2.0 * right / (n - 1) - 1.0)
    return float(np.mean(values))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6))
def test_tau_ap_is_its_definition_averaged_over_ties(pairs):
    truth, other = (np.array(side, np.float64) for side in zip(*pairs, strict=True))
    assert tau_ap(truth, other) == pytest.approx(brute_tau_ap(truth, other), abs=1e-12)


def test_tau_ap_weighs_the_top_more_than_tau_b():
    truth = np.array([4.0, 3.0, 2.0, 1.0])
    top, bottom = np.array([3.0, 4.0, 2.0, 1.0]), np.array([4.0, 3.0, 1.0, 2.0])
    assert tau_b(truth, top) == tau_b(truth, bottom) == pytest.approx(2 / 3)
    assert tau_ap(truth, top) == pytest.approx(2 * (0 + 1 + 1) / 3 - 1)
    assert tau_ap(truth, bottom) == pytest.approx(2 * (1 + 1 + 2 / 3) / 3 - 1)
    assert np.isnan(tau_b(truth, np.ones(4)))


def test_rbo_by_hand():
    """Equation 32 at depth 2 of (a, b, c) and (b, a, d), p = 0.9: X = 0, 2, 2."""
    first, second = ({name: -at for at, name in enumerate(names)} for names in ("abc", "bad"))
    expected = (2 / 3) * 0.9**3 + (0.1 / 0.9) * (0 * 0.9 + 1 * 0.9**2 + (2 / 3) * 0.9**3)
    assert rbo(first, second) == pytest.approx(expected, abs=1e-15)
    assert rbo(first, first) == pytest.approx(1.0)
    assert rbo(first, {"x": 1.0, "y": 0.0, "z": -1.0}) == 0.0


@given(st.lists(st.booleans(), min_size=10, max_size=10))
def test_groups_are_the_longest_runs_without_a_difference(flags):
    differs = np.zeros((5, 5), np.bool_)
    differs[np.triu_indices(5, 1)] = flags
    found = groups(5, differs)
    runs = [range(a, b) for a, b in product(range(5), range(1, 6)) if a < b and not differs[a:b, a:b].any()]
    longest = [run for run in runs if not any(set(run) < set(other) for other in runs)]
    assert list(found) == sorted(longest, key=lambda run: run.start)


def test_variance_splits_as_an_analysis_by_hand():
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    found = split_variance(table)
    # Grand mean 4; by unit (1.5, 3.5, 7), by system (3, 5): 2 * 15.5 = 31, 3 * 2 = 6, total 40.
    assert found.share_unit == pytest.approx(31 / 40)
    assert found.share_system == pytest.approx(6 / 40)
    assert found.share_rest == pytest.approx(3 / 40)
    assert (found.variance_unit, found.variance_system) == pytest.approx(((15.5 - 1.5) / 2, (6 - 1.5) / 3))
    assert np.isnan(split_variance(table[:1]).share_unit)


def test_pareto_front_and_spearman():
    value, load = np.array([0.9, 0.8, 0.7, 0.9, np.nan]), np.array([9.0, 2.0, 3.0, 10.0, 1.0])
    assert pareto(value, load).tolist() == [True, True, False, False, False]
    assert spearman(value[:3], load[:3]) == pytest.approx(stats.spearmanr(value[:3], load[:3]).statistic)
    assert np.isnan(spearman(value[:2], load[:2]))
