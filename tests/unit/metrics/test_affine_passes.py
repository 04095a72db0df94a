"""The affine minimum of many trials: a first look, one histogram of moments, and at most two passes that confirm it."""

from __future__ import annotations

import math
from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest

from pipeline.metrics import fixed_point
from pipeline.metrics.entropy import affine

N, N_TARGET = 40_000, 600
SHAPES = {
    "normal": lambda random, target: random.normal(np.where(target, 3.0, -2.0), 2.0),
    "shares": lambda random, target: np.where(target, random.beta(4, 2, N), random.beta(1, 6, N)),
    "heavy tails": lambda random, target: np.where(target, 2.0, 0.0) + random.standard_t(3, N),
    "outliers": lambda random, target: np.where(target, 4.0, 0.0) + random.standard_cauchy(N),
    "one side": lambda random, target: random.exponential(np.where(target, 5.0, 1.0)),
    "ties": lambda random, target: random.normal(np.where(target, 3.0, -2.0), 2.0).round(4),
}


def rows_of(shape):
    """Distinct scores with their weights; a hundred million trials without a score have the lowest."""
    random, target = np.random.default_rng(14), np.arange(N) < N_TARGET
    score, row = np.unique(SHAPES[shape](random, target), return_inverse=True)
    n_target, n_nontarget = np.bincount(row, target).astype(float), np.bincount(row, ~target).astype(float)
    n_nontarget[0] += 1e8 + 1 / 3
    return score, n_target, n_nontarget


@pytest.mark.parametrize("prior", [0.1, 1e-3])
@pytest.mark.parametrize("shape", SHAPES)
def test_two_passes_after_the_histogram_suffice(shape, prior):
    rows, passes = rows_of(shape), Counter()
    cuts = np.sort(np.random.default_rng(3).integers(0, rows[0].size, 6))
    parts = list(zip(*(np.split(column, cuts) for column in rows), strict=True))

    def over(task, *state):
        passes[task.__name__] += 1
        first, *others = (task(part, *state) for part in parts)
        return sum(others, start=first)

    logit = math.log(prior / (1.0 - prior))
    found = affine.minimise_over(over, prior, logit)
    assert rows[0].size > 4 * affine.BINS
    assert found.status == "ok"
    assert passes["moments"] == 1
    assert 1 <= passes["newton_sums"] <= 2
    with patch.object(fixed_point, "_AT_ONCE", 3000):  # passes go over a few rows at a time
        assert found == affine.minimise(*rows, prior, logit)
    with patch.object(affine, "BINS", N):  # without a histogram, from a constant map, to the last bit
        plain = affine.minimise(*rows, prior, logit)
    assert found.value == pytest.approx(plain.value, rel=1e-14)
    assert (found.gamma, found.delta) == pytest.approx((plain.gamma, plain.delta), rel=1e-6)
