from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest
from made_grid import HOSTILE, SCRIPT

from pipeline.report.board import read_run
from pipeline.report.long_tables import curve_rows, curve_table
from pipeline.report.one_system import file_names, of_system
from pipeline.report.page import render_page
from pipeline.report.page_data import script_json
from pipeline.report.plots.det import det_plots, read_curves
from pipeline.report.plots.iso_cost import iso_lines
from pipeline.report.plots.pareto import front
from pipeline.report.plots.query_map import levels
from pipeline.report.publication import board_tex, escaped, scores_json


def test_latex_prints_any_name_and_sets_the_best_figure_bold(made):
    text = board_tex(read_run(made[0]))
    assert SCRIPT not in text
    assert r"\textless{}script\textgreater{}" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 4
    assert r"\textbf{" in text
    assert escaped("50% of a_b & {c}^2 ~ \\d") == (
        r"50\% of a\_b \& \{c\}\textasciicircum{}2 \textasciitilde{} \textbackslash{}d"
    )


def test_scores_of_a_leaderboard_are_the_grids_numbers(made):
    found = json.loads(scores_json(read_run(made[0]), HOSTILE[0]))
    root = made[0][""].sel(system=HOSTILE[0], condition="all")
    assert found["dev_eval_atwv"] == float(root["value"].sel(query_set="dev", dataset="eval", measure="atwv"))
    assert all(isinstance(value, float) for value in found.values())
    assert "eval_eval_map" not in found  # undefined


def test_curves_read_back_to_the_same_bits(made):
    rows = curve_rows(made[0])
    read = list(csv.DictReader(io.StringIO(curve_table(made[0]).csv().decode())))
    assert len(read) == len(rows) == made[0]["curves"].sizes["point"]
    assert [float(row["p_miss"]) for row in read] == [row["p_miss"] for row in rows]
    assert read[220]["threshold"] == ""


def test_a_systems_page_names_nobody_else(made):
    page = render_page(*made, system=HOSTILE[0])
    assert HOSTILE[4] not in page
    assert HOSTILE[0] in page
    assert '<a href="../index.html">' in page
    own, results = of_system(made[0], made[1], HOSTILE[0])
    assert own[""]["rank"].values.tolist() == made[0][""]["rank"].isel(system=[0]).values.tolist()
    assert len(results) == 4


def test_files_of_systems_have_harmless_and_different_names():
    names = file_names([*HOSTILE, "../../etc/passwd", "عربي", "x" * 300])
    assert len(set(names.values())) == 9
    assert all(name.replace("-", "").replace("_", "").replace(".", "").isascii() for name in names.values())
    assert not any("/" in name or name.startswith(".") for name in names.values())
    assert max(map(len, names.values())) <= 64


def test_no_text_ends_the_data_block():
    text = str(script_json({"a": "</script><!--", "b": "\u2028&"}))
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--", "b": "\u2028&"}


def test_the_front_is_what_none_beats_in_both():
    assert front([(1, 0.5), (2, 0.4), (2, 0.7), (3, 0.7)], "higher") == [(1, 0.5), (2, 0.7)]
    assert front([(1, 0.5), (2, 0.4), (0.5, 0.9)], "lower") == [(0.5, 0.9), (1, 0.5), (2, 0.4)]


@pytest.mark.parametrize(("better", "expected"), [("higher", [0, 5, 9, 0, 9, -1]), ("lower", [9, 5, 0, 9, 0, -1])])
def test_levels_go_from_worst_to_best(better, expected):
    values = np.array([[0.0, 0.5, 1.0, -3.0, math.inf, math.nan]])
    assert levels(values, better).tolist() == [expected]


def test_lines_of_equal_value_are_where_the_sweep_has_it(made):
    plot = det_plots(read_run(made[0]), read_curves(made[0]), iso_lines)[0]
    assert plot.iso
    value = float(plot.iso[0].text.split()[1])
    curve = next(iter(read_curves(made[0]).values()))
    at = int(np.argmin(np.abs(curve.twv - value)))
    beta = (1 - curve.twv[at] - curve.p_miss[at]) / curve.p_fa[at]
    x, y = (float(part) for part in plot.iso[0].path[1:].split("l")[0].split())
    p_fa = 1e-6 + np.linspace(0, 0.1, 200_000)
    nearest = p_fa[np.argmin(np.abs(plot.x.at(p_fa) - x))]
    assert plot.y.on(1 - value - beta * nearest) == pytest.approx(y, abs=1.0)
