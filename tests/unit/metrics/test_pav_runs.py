"""Calibration of trials that are apart, equal scores too: the same pools and the same separating score."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest

from pipeline.metrics.entropy.affine import minimise, minimise_over
from pipeline.metrics.entropy.crossentropy import TrialSet
from pipeline.metrics.entropy.isotonic import pav
from pipeline.metrics.entropy.pav_runs import InOrder, between, runs

CUTS = ([], [400], [1, 7, 399, 1200])


def trial_set(score, target):
    """Trials one by one in any order; none is censored."""
    distinct, at = np.unique(score, return_inverse=True)
    counts = [np.bincount(at, weights=kind, minlength=distinct.size).astype(np.int64) for kind in (target, ~target)]
    none = np.zeros(0)
    return TrialSet(distinct, *counts, none, none.astype(np.int64), none)


@pytest.fixture(scope="module")
def trials():
    random = np.random.default_rng(5)
    target = random.random(2000) < 0.05
    return np.round(random.normal(np.where(target, 1.0, -1.0), 1.0), 1), target


@pytest.mark.parametrize("cuts", CUTS)
def test_runs_of_parts_pool_as_their_rows(trials, cuts) -> None:
    score, target = trials
    separating = np.unique(score[target])
    parts = [trial_set(*part) for part in zip(np.split(score, cuts), np.split(target, cuts), strict=True)]
    whole = trial_set(score, target)
    largest = float((whole.n_target + whole.n_nontarget).max())
    found = reduce(add, (runs(part, separating) for part in parts)).pooled(largest)
    assert found == pav(whole.rows())
    assert len(found.blocks) > 5


@pytest.mark.parametrize("cuts", CUTS)
def test_places_decide_between_equal_scores(trials, cuts) -> None:
    score, target = trials
    place = np.random.default_rng(6).permutation(score.size)
    order = np.lexsort((place[target], score[target]))
    others = score[target][order], place[target][order]
    parts = zip(np.split(score[~target], cuts), np.split(place[~target], cuts), strict=True)
    found = reduce(add, (between(InOrder.of(*part), *others) for part in parts)).n
    every = target[np.lexsort((place, score))]
    assert (found[:-1] + 1).cumsum().tolist() == (np.flatnonzero(every) + 1).tolist()
    assert found.sum() == (~target).sum()


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("gap", [0.0, 0.5])
def test_a_score_that_separates_is_known_from_parts(trials, cuts, gap) -> None:
    score, target = trials
    score = np.where(target, np.maximum(score, 1.0 + gap), np.minimum(score, 1.0))
    whole = trial_set(score, target)
    parts = [trial_set(*part) for part in zip(np.split(score, cuts), np.split(target, cuts), strict=True)]
    found = minimise_over(lambda task, *state: reduce(add, (task(p.rows(), *state) for p in parts)), 0.1, np.log(1 / 9))
    assert repr(found) == repr(minimise(*whole.rows(), 0.1, np.log(1 / 9)))
    assert found.status == ("separable" if gap else "quasi_separable")
