from __future__ import annotations

import math
import re

import pytest

from pipeline.engine.result import Result
from pipeline.report.cells import ROWS_AT_MOST, BoardCells, ScoredCell, number, plain_table, plain_tables
from pipeline.report.families.speakers import confusions
from pipeline.report.plots.ape import calibrations
from pipeline.report.plots.linear import Linear, joined, round_up
from pipeline.report.plots.reliability import X, Y, reliability_plots


def cell(**tables: list) -> ScoredCell:
    blocks = tuple(tables.pop("blocks", ()))
    made = {name: tuple(rows) for name, rows in tables.items()}
    return ScoredCell("s", 0, Result("p", 1, "official", "", "wer", blocks=blocks, tables=made))


def board(one: ScoredCell) -> tuple[BoardCells, ...]:
    return (BoardCells("q", "d", (one,)),)


@pytest.mark.parametrize(("value", "end"), [(0.0, 1.0), (math.nan, 1.0), (33.3, 35.0), (50.0, 50.0), (0.07, 0.07)])
def test_axes_end_at_round_numbers(value, end):
    assert round_up(value) == pytest.approx(end)


def test_ticks_are_round_and_on_their_places():
    ticks = Linear(-10.0, 10.0, 0.0, 100.0).ticks
    assert [(tick.at, tick.text) for tick in ticks][:2] == [(0.0, "−10"), (10.0, "−8")]
    assert ticks[-1].text == "10"


def test_paths_break_where_a_point_is_missing():
    assert joined([(0, 1), (2, 3), None, None, (4, 5), (6.54, 3)]) == "M 0 1l 2 2M 4 5l 2.5-2"


def test_steps_do_not_drift():
    points = [(0.1 * at / 3, 7.07 * at) for at in range(900)]
    numbers = re.findall(r"-?[\d.]+", joined(points))
    assert sum(map(float, numbers[0::2])) == pytest.approx(points[-1][0], abs=0.051)
    assert sum(map(float, numbers[1::2])) == pytest.approx(points[-1][1], abs=0.051)


def test_numbers_read_stored_infinities_and_nothing_else():
    assert number({"x": "inf"}, "x") == math.inf
    assert all(math.isnan(number({"x": value}, "x")) for value in (None, "text", [1]))


def test_a_table_is_cut_at_its_bound_and_counted():
    table = plain_table("t", tuple({"id": str(n), "v": n} for n in range(ROWS_AT_MOST + 5)))
    assert (len(table.rows), table.n_rows) == (ROWS_AT_MOST, ROWS_AT_MOST + 5)
    assert table.rows[1] == ("1", 1.0)


def test_any_unknown_table_and_blocks_of_a_new_family_are_shown_and_drawn_ones_are_not():
    shown = plain_tables(cell(blocks=[{"id": "a", "x": 1}], new=[{"y": None, "z": [1, "b"]}], ape=[{"x": 1}]))
    assert [table.name for table in shown] == ["blocks", "new"]
    assert math.isnan(shown[1].rows[0][0])
    assert shown[1].rows[0][1] == '[1, "b"]'


def test_empty_tenths_break_the_line():
    rows = [
        {"from": at / 10, "to": (at + 1) / 10, "n": n, "p_correct": p}
        for at, (n, p) in enumerate([(4, 0.25), (0, None), (2, 1.0)])
    ]
    (trace,) = reliability_plots(board(cell(reliability=rows)))[0].traces
    assert trace.path == joined([(X.on(0.05), Y.on(0.25)), None, (X.on(0.25), Y.on(1.0))])
    assert reliability_plots(board(cell(reliability=[{**rows[1]}]))) == ()


def test_twenty_confusions_of_each_kind_in_their_order():
    rows = [
        {"kind": kind, "reference": f"r{n}", "output": "o", "n": 90 - n} for n in range(30) for kind in ("sub", "ins")
    ]
    found = {kind: rows for kind, _, rows in confusions(cell(confusions=rows))}
    assert [row["n"] for row in found["sub"]] == list(range(90, 70, -1))
    assert (len(found["ins"]), len(found["del"])) == (20, 0)


def test_calibration_without_curves_still_has_its_figures_and_reasons():
    rows = [{"id": "cllr", "value": "inf", "reason": None}, {"id": "eer", "value": None, "reason": "no_targets"}]
    (part,) = calibrations(board(cell(calibration=rows, ape=[])))
    assert part.plots == ()
    assert [f.reason for f in part.rows[0][1]] == [None, "undefined", "no_targets"]
    assert part.rows[0][1][0].value == math.inf
