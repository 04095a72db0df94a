"""No affine minimum is missed: many random score sets, and minima found by other ways."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from recalibration_cases import binary_case, binary_minimum, class_case, class_minimum

from pipeline.metrics.entropy import affine, newton
from pipeline.metrics.entropy.class_costs import prior_entropy
from pipeline.metrics.entropy.maps import AffineMap
from tests.plain_entropies import calibrate

CASES = int(os.environ.get("RESCORE_MINIMA", "0"))
"""Cases of either kind; 0: a few."""
AT_ONCE = 20
CLOSE = 1e-9


def seeds(few):
    """First seeds of some cases each."""
    return range(0, CASES or few, AT_ONCE)


def of_two(seed):
    score, n_target, n_nontarget, prior = case = binary_case(seed)
    return case, affine.minimise(score, n_target, n_nontarget, prior, math.log(prior / (1.0 - prior)))


@pytest.mark.parametrize("first", seeds(300))
def test_no_minimum_of_two_classes_is_missed(first):
    for seed in range(first, first + AT_ONCE):
        (score, n_target, n_nontarget, prior), found = of_two(seed)
        assert found.status != newton.NOT_SETTLED, seed
        assert found.value == pytest.approx(binary_minimum(score, n_target, n_nontarget, prior), abs=CLOSE), seed
        assert found.value <= prior_entropy((prior, 1.0 - prior)) * (1.0 + 1e-13), seed


@pytest.mark.parametrize("first", seeds(100))
def test_no_minimum_of_many_classes_is_missed(first):
    unsettled = []
    for seed in range(first, first + AT_ONCE):
        llh, labels, prior, repeats = class_case(seed)
        found, sums = calibrate(llh, labels, prior, repeats)
        unsettled += [seed] * (found.status == newton.NOT_SETTLED)
        assert found.cross_entropy <= class_minimum(llh, labels, prior, repeats) + CLOSE, seed
        assert found.cross_entropy <= min(sums.cross_entropy(prior), prior_entropy(prior)), seed
    assert len(unsettled) <= 1, "ordinary scores next to the largest floats, once in thousands"


@pytest.mark.parametrize("first", seeds(100))
def test_cuts_and_repeated_rows_change_no_bit(first):
    random = np.random.default_rng(first)
    for seed in range(first, first + AT_ONCE):
        (*rows, prior), found = of_two(seed)
        cuts = np.sort(random.integers(0, rows[0].size + 1, 3))
        parts = list(zip(*(np.split(column, cuts) for column in rows), strict=True))

        def over(task, *state, parts=parts):
            first, *others = (task(part, *state) for part in parts)
            return sum(others, start=first)

        again = affine.minimise_over(over, prior, math.log(prior / (1.0 - prior)))
        assert repr(again) == repr(found), seed
        llh, labels, prior, repeats = class_case(seed)
        order = random.permutation(labels.size)
        shuffled = calibrate(llh[order], labels[order], prior, None if repeats is None else repeats[order])[0]
        assert repr(shuffled) == repr(calibrate(llh, labels, prior, repeats)[0]), seed


def test_a_search_that_does_not_settle_says_so(monkeypatch):
    score, counts = np.array([-1.0, 0.0, 1.0, 2.0]), (np.array([1.0, 2, 4, 9]), np.array([9.0, 4, 1, 2]))
    assert affine.minimise(score, *counts, 0.1, math.log(1 / 9)).status == "ok"
    monkeypatch.setattr(newton, "MAX_PASSES", 1)
    found = affine.minimise(score, *counts, 0.1, math.log(1 / 9))
    assert found.status == newton.NOT_SETTLED
    assert found.value <= prior_entropy((0.1, 0.9))
    llh = np.stack([score, np.zeros(4)], axis=1)
    llh, labels = np.tile(llh, (2, 1)), np.repeat([0, 1], 4)
    stopped, sums = calibrate(llh, labels, (0.1, 0.9), np.concatenate(counts))
    assert stopped.status == newton.NOT_SETTLED
    assert stopped.cross_entropy <= sums.cross_entropy((0.1, 0.9))


@pytest.mark.parametrize("exponent", [-1074, -3, 0, 1000])
def test_a_map_is_the_same_however_it_is_written(exponent):
    score = np.array([-3.0, 0.0, 2.5, 8.0]) * 2.0 ** max(exponent, -1070)
    at = AffineMap(exponent, 0.625, (float(score[2]), 0.0), (0.75, 0.0))
    centred, left = at.centred((2.0,))
    assert left == (0.0,)
    for written in (centred, at.scaled(exponent + 5), at.moved(0.0, (0.0,), exponent)):
        values = written.alpha * written.of_ratios(score) + written.offsets[0]
        assert values == pytest.approx(at.alpha * at.of_ratios(score) + at.offsets[0], rel=1e-14)
