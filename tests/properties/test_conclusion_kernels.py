"""What Numba compiles of a conclusion has the bits of what NumPy does, and so has a cell without its dull rows."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.metrics.entropy import binary_sums
from pipeline.metrics.entropy.maps import AffineMap
from pipeline.metrics.kws.optimum import optima
from pipeline.metrics.kws.shared import means_of, optima_of
from pipeline.metrics.measure import Rules, Scored
from pipeline.partials import exact
from pipeline.partials.exact import ExactSum
from pipeline.partials.ledger import Ledger
from pipeline.terms import Facts, OperatingPoint

NEVER = 1 << 60
QUERIES = tuple(f"q{number}" for number in range(7))
STEPS = (1.0, 0.5, 0.001, 1e-6, 2.0**-20)
"""Between scores: decimals of several lengths, some over several pages of the kernel's table, and none at all."""


pytestmark = pytest.mark.usefixtures("numba")


@st.composite
def ledgers(draw):
    """Ledgers of some queries, two of which have no rows, with more than a byte of trials at some scores."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, reach = draw(st.sampled_from([1, 30, 400])), draw(st.sampled_from([3, 40, 100_000]))
    score = random.integers(-reach, reach, n) * draw(st.sampled_from(STEPS))
    odd = draw(st.sampled_from([None, None, 1 / 3, -1 / 3, np.inf, -np.inf, 1e308, -1e308, 5e-324]))
    if odd is not None:
        score[random.integers(0, n)] = odd
    if draw(st.booleans()):
        score = np.append(score, np.full(300, score[0]))
    query = random.integers(0, 5, score.size)
    target = random.random(score.size) < draw(st.sampled_from([0.0, 0.1, 0.9]))
    return Ledger.of(QUERIES, query, score, score > 0, target & (query > 0), random.integers(0, 3, 4))


@settings(max_examples=100, deadline=None)
@given(arrays(np.uint64, 40), arrays(np.int64, 40, elements=st.integers(0, 2**20)))
def test_compiled_products_are_as_exact(bits, counts):
    values = np.where(np.isnan(bits.view(np.float64)), 0.0, bits.view(np.float64))
    with patch.object(exact, "COMPILED_FROM", 0):
        found = ExactSum.of_products(values, counts)
    with patch.object(exact, "COMPILED_FROM", NEVER):
        assert found == ExactSum.of_products(values, counts)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([(0.0, 0.5), (1.5, -2.0), (40.0, 3.0)]))
def test_compiled_sums_of_a_recalibration_have_the_same_limbs(seed, place):
    random = np.random.default_rng(seed)
    weights = tuple(random.choice([0.0, 1.0, 3.0, 31.0, 32.0, 1e6, 2.5], 50) for _ in range(2))
    x, found = random.normal(size=50), []
    for compiled_from in (0, NEVER):
        with patch.object(binary_sums, "COMPILED_FROM", compiled_from):
            at = AffineMap(0, place[0], (0.125, 0.0), (place[1], 0.0))
            found.append(binary_sums.binary_sums(x, weights, (0.1, 0.9), at).limbs)
    assert np.array_equal(*found)


@settings(max_examples=60, deadline=None)
@given(ledgers(), st.sampled_from([1e-30, 1e-13, 3e-13, 1e-12, 1e-3, 1.0, 1e6]), st.booleans(), st.booleans())
def test_best_thresholds_of_queries_need_few_rows(ledger, beta, reject_all, include_all):
    facts = Facts(t_audio_s=1.0, n_trials=999.0, n_trials_exact=999.0, queries=QUERIES)
    rules = Rules(reject_all_point=reject_all, include_no_targets=include_all)
    scored = Scored(ledger, facts, OperatingPoint(c_miss=1.0, c_fa=beta, p_target=0.5), rules)
    means = scored.once(means_of)
    if means.reason is None:
        found = scored.once(optima_of)
        expected = optima(ledger, means, scored.point.beta, reject_all_point=reject_all)
        for ours, theirs in ((found, expected), (found.counts, expected.counts)):
            for name in vars(ours).keys() - {"counts"}:
                assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes()
