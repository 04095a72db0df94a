"""The best threshold of every query from few rows of a cell has the bits of a search through all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.metrics.kws.optimum import optima
from pipeline.metrics.kws.shared import means_of, optima_of
from pipeline.metrics.measure import Rules, Scored
from pipeline.partials.ledger import Ledger
from pipeline.terms import Facts, OperatingPoint

QUERIES = tuple(f"q{number}" for number in range(7))
STEPS = (1.0, 0.5, 0.001, 1e-6, 2.0**-20)
"""Between scores: decimals of several lengths, some over several pages of the kernel's table, and none at all."""


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
