"""Curves on normal-deviate axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from metric_ledgers import worked

from pipeline.metrics.kws import det
from pipeline.metrics.kws.shared import curve_of
from pipeline.metrics.kws.sweep import Curve


def staircase(n, seed=0):
    rng = np.random.default_rng(seed)
    step = rng.random(n) < 0.3
    p_miss, p_fa = np.cumsum(step) / n, 1 - np.cumsum(~step) / n
    twv = 1 - (p_miss + 2 * p_fa)
    return Curve(np.arange(n, dtype=float), p_miss, p_fa, twv, int(np.argmax(twv)))


def test_normal_deviates():
    assert det.probit(np.array([0.5, 0.975])).tolist() == [0, pytest.approx(1.959963984540054)]


def test_rates_at_and_beyond_the_ends_are_clipped():
    ends = det.probit(np.array([0.0, 1.0, -0.1, 2.0]))
    assert ends.tolist() == pytest.approx([-8.1258906647, 8.1258906647, -8.1258906647, 8.1258906647])


def test_points_of_a_curve():
    curve = worked().once(curve_of)
    x, y = det.probit(curve.p_fa), det.probit(curve.p_miss)
    assert x[0] == pytest.approx(-2.053748910631823)
    assert y[1] == 0


def test_a_straight_stretch_loses_nothing_but_its_inside():
    p_miss = np.array([0.1, 0.1, 0.1, 0.1, 0.4, 0.7])
    p_fa = np.array([0.4, 0.3, 0.2, 0.1, 0.1, 0.1])
    assert det.visible(p_miss, p_fa).tolist() == [True, False, False, True, False, True]


def test_every_point_left_out_is_within_a_cell_of_a_kept_one():
    curve = staircase(3000)
    kept = det.visible(curve.p_miss, curve.p_fa, 0.05)
    x, y = det.probit(curve.p_fa), det.probit(curve.p_miss)
    assert 3 < kept.sum() < 400
    assert kept[0]
    assert kept[-1]
    corners = np.flatnonzero(det.visible(curve.p_miss, curve.p_fa, 1e-9))
    near = (np.abs(x[corners, None] - x[kept]) < 0.05) & (np.abs(y[corners, None] - y[kept]) < 0.05)
    assert near.any(axis=1).all()


def test_thinning_keeps_the_ends_and_the_best_point():
    peak = 2500
    curve = replace(staircase(5000, seed=1), twv=-np.abs(np.arange(5000.0) - peak), best=peak)
    assert not det.visible(curve.p_miss, curve.p_fa, 20.0)[peak]
    thinned = det.thin(curve, 20.0)
    assert thinned.threshold.size < 10
    assert (thinned.threshold[0], thinned.threshold[-1]) == (0, 4999)
    assert thinned.twv[thinned.best] == curve.twv.max()
    assert thinned.threshold[thinned.best] == curve.threshold[curve.best]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_short_curves_stay_whole(n):
    column = np.linspace(0.1, 0.9, n)
    curve = Curve(column, column, column[::-1], column, best=n - 1)
    assert det.thin(curve).twv.tolist() == column.tolist()
    assert det.thin(curve).best == n - 1
