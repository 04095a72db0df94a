from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from made_grid import HOSTILE, make_grid

from pipeline.report.board import read_run
from pipeline.report.plots.det import Axis, DetCurve, describe, det_plots, read_curves

# Φ⁻¹(0.02) = -2.053749, Φ⁻¹(0.2) = -0.841621, Φ⁻¹(0.5) = 0: tables of the normal distribution.
SHARE_OF_20_PERCENT = (2.053749 - 0.841621) / 2.053749


def test_the_axis_is_a_normal_deviate_scale():
    axis = Axis(0.02, 0.5, 100.0, 300.0)
    assert axis.at(np.array([0.02, 0.2, 0.5])) == pytest.approx([100, 100 + 200 * SHARE_OF_20_PERCENT, 300], abs=1e-4)


def test_an_axis_may_run_upwards():
    axis = Axis(0.02, 0.5, 300.0, 100.0)
    assert axis.on(0.02) == 300.0
    assert axis.on(0.5) == 100.0


@pytest.mark.parametrize(("probability", "pixel"), [(0.0, 100.0), (1e-9, 100.0), (0.7, 300.0), (1.0, 300.0)])
def test_points_beyond_the_axis_are_put_on_its_edge(probability, pixel):
    assert Axis(0.02, 0.5, 100.0, 300.0).on(probability) == pixel


def test_ticks_are_percent_and_never_crowd():
    ticks = Axis(0.001, 0.4, 0.0, 400.0).ticks(gap=40.0)
    assert ticks[0].text == "0.1"
    labelled = [tick for tick in ticks if tick.text]
    assert all(b.at - a.at >= 40 for a, b in pairwise(labelled))
    assert {tick.text for tick in labelled} <= {"0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "40"}
    assert len(ticks) == 9


def test_small_percentages_are_written_out():
    assert Axis(1e-7, 1e-4, 0.0, 400.0).ticks(gap=40.0)[0].text == "0.00001"


def test_certain_and_impossible_errors_have_no_place_on_the_curve():
    curve = DetCurve(np.array([0.2, 1.0, 0.5, 0.0, np.nan]), np.array([0.1, 0.1, 0.0, 0.3, 0.2]), None)
    assert curve.inner.tolist() == [True, False, False, False, False]
    assert curve.best is None


def test_the_maximum_is_where_the_term_weighted_value_is_greatest():
    assert DetCurve(np.zeros(3), np.zeros(3), np.array([0.1, np.nan, 0.4])).best == 2
    assert DetCurve(np.zeros(2), np.zeros(2), np.array([np.nan, np.nan])).best is None


def test_curves_are_cut_out_of_the_grid_by_first_and_last(made):
    grid, _ = made
    curves = read_curves(grid)
    assert len(curves) == 22
    first = int(grid["curves"]["first"].sel(system=HOSTILE[2], query_set="dev", dataset="eval"))
    wanted = grid["curves"]["p_miss"].values[first : first + 221]
    assert np.array_equal(curves[HOSTILE[2], "dev", "eval"].p_miss, wanted)


def test_plots_share_axes_and_styles_and_omit_cells_without_a_curve(made):
    grid, _ = made
    plots = det_plots(read_run(grid), read_curves(grid))
    assert [(plot.query_set, plot.dataset, len(plot.traces)) for plot in plots] == [
        ("dev", "dev", 6),
        ("dev", "eval", 6),
        ("eval", "dev", 5),
        ("eval", "eval", 5),
    ]
    assert len({(plot.x, plot.y) for plot in plots}) == 1
    for plot in plots:
        for trace in plot.traces:
            assert HOSTILE[trace.style] == trace.system


def test_the_actual_point_lies_where_its_probabilities_say(made):
    grid, results = made
    plot = det_plots(read_run(grid), read_curves(grid))[0]
    trace = plot.traces[0]
    figures = results[0].figures
    assert trace.actual.x == plot.x.on(figures["p_fa"].value)
    assert trace.actual.y == plot.y.on(figures["p_miss"].value)
    assert "P_miss 0.0529" in trace.actual.text


def test_the_description_names_systems_and_their_points_without_control_characters(made):
    grid, _ = made
    text = describe(det_plots(read_run(grid), read_curves(grid))[0])
    assert "6 systems" in text
    assert "gtts-fusion: actual P_miss 0.0529" in text
    assert "\x1b" not in text


def test_a_grid_without_curves_has_no_plots():
    grid, _ = make_grid()
    run = read_run(grid)
    assert det_plots(run, read_curves({"": grid[""]})) == ()
    nothing = grid["curves"].assign(last=grid["curves"]["first"])
    assert det_plots(run, read_curves({**grid, "curves": nothing})) == ()


def test_systems_that_never_err_still_have_their_points():
    grid, _ = make_grid()
    curves = grid["curves"].assign(p_miss=grid["curves"]["p_miss"] * 0, p_fa=grid["curves"]["p_fa"] * 0)
    plot = det_plots(read_run(grid), read_curves({**grid, "curves": curves}))[0]
    assert plot.traces[0].path == ""
    assert plot.traces[0].actual is not None
