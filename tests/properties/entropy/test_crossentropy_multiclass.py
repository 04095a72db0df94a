"""Laws of the K-class core over small random problems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.metrics.entropy.class_costs import LogCostSums, log_cost, prior_entropy
from pipeline.metrics.multiclass.figures import multiclass_figures
from pipeline.metrics.multiclass.passes import Part, calibrate_over
from tests.plain_entropies import calibrate, normalized_cross_entropy

ROUNDING = 1e-11


@dataclass(frozen=True)
class Problem:
    llh: np.ndarray
    labels: np.ndarray
    prior: tuple[float, ...]


@st.composite
def problems(draw, most=4):
    """Every class has a trial; scores on a coarse grid, so that ties and separable sets are common."""
    k = draw(st.integers(2, most))
    labels = [*range(k), *draw(st.lists(st.integers(0, k - 1), max_size=16))]
    scores = st.one_of(st.integers(-3, 3).map(float), st.floats(-8, 8, width=16))
    llh = draw(st.lists(st.lists(scores, min_size=k, max_size=k), min_size=len(labels), max_size=len(labels)))
    parts = draw(st.lists(st.integers(1, 9), min_size=k, max_size=k))
    return Problem(np.array(llh), np.array(labels), tuple(part / sum(parts) for part in parts))


def solve(problem):
    return calibrate(problem.llh, problem.labels, problem.prior)


@given(problems(), st.sampled_from([0.25, 16.0, -9000.0]))
def test_a_constant_of_each_row_cancels(problem, size):
    shift = size * np.arange(problem.labels.size)[:, None]
    moved = Problem(np.round(problem.llh * 4) / 4 + shift, problem.labels, problem.prior)
    plain = Problem(np.round(problem.llh * 4) / 4, problem.labels, problem.prior)
    assert (
        log_cost(moved.llh, moved.labels, moved.prior).tolist()
        == log_cost(plain.llh, plain.labels, plain.prior).tolist()
    )
    assert solve(moved)[0] == solve(plain)[0] or math.isnan(solve(plain)[0].scale)


@example(Problem(np.zeros((2, 2)), np.array([0, 1]), (1 / 9, 8 / 9)))
@given(problems())
def test_the_minimum_is_below_the_cost_and_that_of_saying_nothing(problem):
    found, first = solve(problem)
    assert 0.0 <= found.cross_entropy <= min(first.cross_entropy(problem.prior), prior_entropy(problem.prior))
    figures = multiclass_figures(first, found, problem.prior)
    assert figures["f_dis"].value <= 1.0
    assert figures["f_cal"].reason is not None or figures["f_cal"].value >= 0.0


@given(problems(), st.sampled_from([0.5, 3.0, -1.0, -0.125]), st.data())
def test_an_affine_map_moves_nothing_but_scale_and_offsets(problem, alpha, data):
    beta = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=len(problem.prior), max_size=len(problem.prior))))
    before, _ = solve(problem)
    after, _ = solve(Problem(alpha * problem.llh + beta, problem.labels, problem.prior))
    assert after.cross_entropy == pytest.approx(before.cross_entropy, rel=1e-9, abs=ROUNDING)
    if before.status == after.status == "overlap":
        assert after.scale * alpha == pytest.approx(before.scale, rel=1e-5, abs=1e-6)
        middle = before.scale / alpha * beta
        expected = np.array(before.offsets) - (middle - middle.mean())
        assert np.array(after.offsets) == pytest.approx(expected, rel=1e-5, abs=1e-5)


@given(problems(), st.randoms(use_true_random=False))
def test_exchanged_classes_exchange_offsets(problem, random):
    order = random.sample(range(len(problem.prior)), len(problem.prior))
    back = np.argsort(order)
    moved = Problem(problem.llh[:, order], back[problem.labels], tuple(problem.prior[i] for i in order))
    before, after = solve(problem)[0], solve(moved)[0]
    assert (after.status, after.cross_entropy) == (before.status, pytest.approx(before.cross_entropy, abs=ROUNDING))
    if before.offsets is not None:
        assert after.offsets == pytest.approx([before.offsets[i] for i in order], rel=1e-6, abs=1e-6)


@given(problems(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_any_order_and_partition_give_the_same_bits(problem, n, random):
    rows = random.sample(range(problem.labels.size), problem.labels.size)
    parts = [Part(problem.llh[share], problem.labels[share]) for share in np.array_split(np.array(rows), n)]
    whole, first = solve(problem)
    found = calibrate_over(lambda task, *state: reduce(add, (task(part, *state) for part in parts)), problem.prior)[0]
    assert repr(found) == repr(whole)
    sums = [LogCostSums.from_trials(part.llh, part.labels, problem.prior) for part in parts]
    assert sum(sums[1:], sums[0]).cross_entropy(problem.prior) == first.cross_entropy(problem.prior)


@given(problems(), st.data())
def test_repeated_rows_are_a_multiplicity(problem, data):
    n = problem.labels.size
    repeats = np.array(data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
    long = calibrate(np.repeat(problem.llh, repeats, axis=0), np.repeat(problem.labels, repeats), problem.prior)[0]
    short = calibrate(problem.llh, problem.labels, problem.prior, repeats.astype(float))[0]
    assert repr(short) == repr(long)


@given(problems(most=2))
def test_two_classes_are_scored_by_their_log_likelihood_ratio(problem):
    found, first = solve(problem)
    llr = problem.llh[:, 0] - problem.llh[:, 1]
    binary = normalized_cross_entropy(llr, problem.labels == 0, problem.prior[0])
    bound = prior_entropy(problem.prior)
    assert binary["cnxe"].value * bound == pytest.approx(first.cross_entropy(problem.prior), rel=1e-12)
    assert binary["cnxe_min"].value * bound == pytest.approx(found.cross_entropy, rel=1e-9, abs=ROUNDING)


@given(problems())
def test_the_minimum_is_stationary(problem):
    found, _ = solve(problem)
    if found.offsets is None:
        return
    weights = np.array(problem.prior) / np.bincount(problem.labels, minlength=len(problem.prior))
    logits = found.scale * problem.llh + np.array(found.offsets) + np.log(problem.prior)
    posterior = np.exp(logits - logits.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    rows = weights[problem.labels][:, None] * posterior
    # The weighted mean posterior is the prior, and the weighted expected score is the true class's.
    assert rows.sum(axis=0) == pytest.approx(problem.prior, abs=1e-9)
    true = (weights[problem.labels] * problem.llh[np.arange(problem.labels.size), problem.labels]).sum()
    assert (rows * problem.llh).sum() == pytest.approx(true, abs=1e-7)
