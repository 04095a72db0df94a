"""Figures of a study in numbers: where lines are cut, where names and boxes go, what is said in a field."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from pipeline.meta.sensitivity import Band
from pipeline.report.meta.figures import Agreement, band_plot, heat_map, rank_plot
from pipeline.report.plots.drawing import spanning, within
from pipeline.report.plots.linear import Linear
from pipeline.report.plots.xy import Log

NAMES = ("good", "poor", "<b>")
STYLES = {name: f"k{at}" for at, name in enumerate(NAMES)}


def band(parameter: str = "beta", at: tuple[float, ...] = (1.0, 10.0, 1000.0), **values: tuple[float, ...]) -> Band:
    rows = values or {"good": (0.9, 0.8, 0.5), "poor": (0.8, 0.2, -60.0)}
    return Band(parameter, "atwv", "higher", np.array(at), at[1], tuple(rows), np.array(list(rows.values())).T)


def test_a_line_is_cut_where_it_leaves_the_plot():
    x, y = Linear(0.0, 3.0, 0.0, 30.0), Linear(0.0, 1.0, 100.0, 0.0)
    assert within([(0.0, 0.5), (1.0, 0.5), (2.0, -0.5), (3.0, 0.5)], x, y) == [
        (0.0, 50.0), (10.0, 50.0), (15.0, 100.0), None, (25.0, 100.0), (30.0, 50.0),
    ]  # fmt: skip
    assert within([(0.0, 0.5), (1.0, math.nan), (2.0, 0.5)], x, y) == [(0.0, 50.0), None, (20.0, 50.0)]
    assert within([(0.0, 0.5), (1.0, -math.inf)], x, y) == [(0.0, 50.0), (0.0, 100.0), None]


def test_axes_hold_their_values_with_room_around():
    assert isinstance(spanning([1.0, 100.0], 0.0, 100.0, log=True), Log)
    assert spanning([math.nan, -1.0], 0.0, 1.0, log=True) is None
    one = spanning([0.5], 0.0, 100.0)
    assert one is not None
    assert one.low < 0.5 < one.high


def test_useless_figures_do_not_flatten_the_useful_ones():
    drawing = band_plot(band(), STYLES)
    assert drawing is not None
    ticks = [text.text for text in drawing.texts if text.anchor == "end" and "τ" not in text.text]
    assert {"0", "0.2", "0.4", "0.6", "0.8"} <= set(ticks)  # and not -60


def test_a_tolerance_shows_all_its_figures():
    drawing = band_plot(band("tolerance_s", (0.1, 0.5, 1.0), good=(-4.0, -4.1, -4.2), poor=(-5.0, -5.0, -5.1)), STYLES)
    assert drawing is not None
    assert len({path for path, *_ in drawing.paths}) == 2
    assert all(path.count("M") == 1 for path, *_ in drawing.paths)


def test_the_strip_fills_the_axis_and_no_more():
    drawing = band_plot(band("tolerance_s", (0.1, 0.25, 1.0)), STYLES)
    assert drawing is not None
    frame = next(line for line in drawing.lines if line.kind == "frame")
    boxes = sorted((rect.x, rect.x + rect.width) for rect in drawing.rects)
    assert boxes[0][0] == pytest.approx(frame.x1 + 1)
    assert boxes[-1][1] == pytest.approx(frame.x2 - 1)
    assert all(one[1] < other[0] for one, other in pairwise(boxes))


@pytest.mark.parametrize("n", [3, 60])
def test_names_at_the_ends_of_lines_keep_apart_and_inside(n):
    rows = {f"s{at}": (0.9, 0.5, 0.1) for at in range(n)}
    drawing = band_plot(band(**rows), dict.fromkeys(rows, "k0"))
    assert drawing is not None
    places = sorted(text.y for text in drawing.texts if text.kind.startswith("name"))
    assert len(places) == n
    assert all(other - one >= 13.0 - 1e-9 for one, other in pairwise(places))
    assert places[0] > 0
    assert places[-1] < min(rect.y for rect in drawing.rects)


def test_a_heat_map_says_what_it_can_in_its_fields():
    values = {("a", "b"): Agreement(-0.333, "protocols differ", is_alike=False), ("a", "c"): Agreement(math.nan)}
    drawing = heat_map(("a", "b", "c"), values | {("b", "c"): Agreement(0.001)}, "tau")
    assert drawing is not None
    said = [text.text for text in drawing.texts if text.kind == "cell"]
    assert said == ["1", "−.33*", "—", "−.33*", "1", "0", "—", "0", "1"]
    assert any("protocols differ" in rect.text for rect in drawing.rects)
    assert heat_map(("a",), {}, "tau") is None


def test_ranks_side_by_side_have_a_line_for_each_system():
    drawing = rank_plot([("one", {"good": 1.0, "poor": 2.0}), ("two", {"good": 2.0, "poor": 1.0})], STYLES)
    assert drawing is not None
    assert len(drawing.paths) == 2
    assert len(drawing.marks) == 4
    assert rank_plot([("one", {"good": 1.0})], STYLES) is None
