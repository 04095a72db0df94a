"""The affine recalibration of two classes: the sums of K classes, whatever the weights and however rows are cut."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.metrics.entropy.binary_sums import binary_sums, rough_objective
from pipeline.metrics.entropy.maps import AffineMap
from pipeline.metrics.entropy.newton_sums import NewtonSums

PRIOR = (0.02, 0.98)
WEIGHTS = (2e-5, 3e-6)
PLACES = [
    AffineMap(0, 0.0, (0.0, 0.0), (0.0, 0.0)),
    AffineMap(-2, 0.875, (0.1, 0.0), (-1.25, 0.0)),
    AffineMap(1, -4.0, (-0.3, 0.0), (4.0, 0.0)),
    AffineMap(-10, 0.9, (0.0, 0.0), (30.0, 0.0)),
]


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Most weights are small and whole; some are large, some are not whole."""
    random = np.random.default_rng(8)
    x = np.sort(random.uniform(-1, 1, 9000))
    weights = [random.integers(0, 3, x.size).astype(float) for _ in range(2)]
    weights[0][::700], weights[1][::900], weights[1][5] = 70_000.0, 31.5, 3.6e7
    used = weights[0] + weights[1] > 0
    return x[used], (weights[0][used], weights[1][used])


def as_classes(x, weights, place):
    used = [weight > 0 for weight in weights]
    score = np.concatenate([x[mask] for mask in used])
    labels = np.repeat([0, 1], [mask.sum() for mask in used])
    repeats = np.concatenate([weight[mask] for weight, mask in zip(weights, used, strict=True)])
    return NewtonSums.from_trials(np.stack([score, np.zeros(score.size)], axis=1), labels, PRIOR, place, repeats)


def pieces(split, where, *columns):
    return zip(*(split(column, where) for column in columns), strict=True)


def flat(objective):
    return np.concatenate([np.ravel(part) for part in vars(objective).values()]).tolist()


@pytest.mark.parametrize("place", PLACES)
def test_two_classes_are_k_classes(rows, place) -> None:
    found, expected = (
        flat(sums.objective(WEIGHTS)) for sums in (binary_sums(*rows, PRIOR, place), as_classes(*rows, place))
    )
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("place", PLACES)
def test_the_rough_objective_is_near(rows, place) -> None:
    x, (target, nontarget) = rows
    scores, masses = (x[target > 0], x[nontarget > 0]), (target[target > 0], nontarget[nontarget > 0])
    found = flat(rough_objective(scores, masses, PRIOR, WEIGHTS)(place))
    expected = flat(binary_sums(*rows, PRIOR, place).objective(WEIGHTS))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("cuts", [[1], [4096], [17, 4000, 5999]])
def test_sums_do_not_depend_on_cuts(rows, cuts) -> None:
    x, (target, nontarget) = rows
    parts = [
        binary_sums(part, (own_target, own_nontarget), PRIOR, PLACES[1])
        for part, own_target, own_nontarget in pieces(np.split, cuts, x, target, nontarget)
    ]
    total = parts[0]
    for part in parts[1:]:
        total += part
    assert flat(total.objective(WEIGHTS)) == flat(binary_sums(*rows, PRIOR, PLACES[1]).objective(WEIGHTS))
