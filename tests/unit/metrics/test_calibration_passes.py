"""Calibration as passes over blocks: for any cut the same bits."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest

from pipeline.metrics.multiclass.passes import Part, calibrate_over
from pipeline.partials.ledger import Ledger
from tests.plain_entropies import calibrate

PRIOR = (0.5, 0.3, 0.2)


def calibrate_parts(parts, prior):
    return calibrate_over(lambda task, *state: reduce(add, (task(part, *state) for part in parts)), prior)[0]


def bits(found):
    offsets = found.offsets or ()
    return found.status, found.scale.hex(), [b.hex() for b in offsets], found.cross_entropy.hex(), found.passes


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 3, 3000)
    llh = rng.normal(0, 2, (3000, 3))
    llh[np.arange(3000), labels] += 1.5
    return llh, labels


def cut(llh, labels, n, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(labels.size)
    return [Part(llh[share], labels[share]) for share in np.array_split(order, n)]


@pytest.mark.parametrize("n", [1, 2, 19])
def test_any_cut_and_order_of_the_rows_give_the_same_bits(rows, n):
    whole, _ = calibrate(*rows, PRIOR)
    assert whole.status == "overlap"
    assert bits(calibrate_parts(cut(*rows, n, seed=n), PRIOR)) == bits(whole)


def part_of(ledger):
    """The scored trials of a ledger as K = 2, targets first: one row a query, distinct score and class."""
    counts = np.concatenate([ledger.n_target, ledger.n_nontarget]).astype(np.float64)
    llh = np.stack([np.concatenate([ledger.score, ledger.score]), np.zeros(counts.size)], axis=1)
    used = counts > 0
    return Part(llh[used], np.repeat(np.arange(2), len(ledger))[used], counts[used])


def test_ledgers_of_tiles_calibrate_as_their_sum(rows):
    rng = np.random.default_rng(12)
    target = rng.random(4000) < 0.1
    score = np.round(rng.normal(np.where(target, 2.0, -1.0), 1.5), 1)
    tile = rng.integers(0, 7, 4000)

    def ledger(mask):
        n = int(mask.sum())
        none = np.zeros(0, np.int64)
        return Ledger.of(("q",), np.zeros(n, np.int64), score[mask], target[mask], target[mask], none)

    whole = calibrate_parts([part_of(ledger(np.ones(4000, bool)))], (0.1, 0.9))
    tiles = [part_of(ledger(tile == t)) for t in range(7)]
    assert bits(calibrate_parts(tiles, (0.1, 0.9))) == bits(whole)
    plain = np.stack([score, np.zeros(4000)], axis=1)
    assert bits(calibrate(plain, np.where(target, 0, 1), (0.1, 0.9))[0]) == bits(whole)


def test_a_quasi_separable_set_counts_its_ties_over_parts():
    llh = np.array([[3.0, 0, 0], [1, 1, 0], [1, 1, 0], [0, 2, 0], [0, 2, 0], [0, 2, 0], [0, 0, 5]])
    labels = np.array([0, 0, 1, 1, 1, 1, 2])
    whole, _ = calibrate(llh, labels, PRIOR)
    assert whole.status == "quasi"
    for n in (2, 3, 7):
        parts = [Part(llh[rows], labels[rows]) for rows in np.array_split(np.arange(7), n)]
        assert bits(calibrate_parts(parts, PRIOR)) == bits(whole)
