"""What moved since the run before: every figure with its direction, and a picture of the primary measure."""

from __future__ import annotations

import math
import re

from made_grid import TIDY, make_grid

from pipeline.report.board import read_run
from pipeline.report.changes.diff import CellDiff, Diff, Moved
from pipeline.report.changes.moved import NOTHING, movement
from pipeline.report.page import render_changes, render_page
from pipeline.terms import Cell

CELLS = (
    CellDiff(
        Cell("dev", "eval", TIDY[2]),
        "changed",
        rank=(3, 2),
        figures=(Moved("p_miss", 0.5, 0.25), Moved("atwv", 0.25, 0.5), Moved("cxe", 1.0, 2.0), Moved("cnxe", 1.0, 2.0)),
    ),
    CellDiff(Cell("dev", "eval", TIDY[0]), "changed", figures=(Moved("atwv", math.nan, 0.5),)),
    CellDiff(Cell("dev", "eval", "gone"), "withdrawn", rank=(1, 0)),
)
CHANGES = Diff("before-0", "after-0", "sws", "atwv", CELLS, 24)


def test_the_figures_that_boards_lead_with_are_told_with_their_direction():
    found = movement(CHANGES, read_run(make_grid(TIDY)[0]))
    told = [(row.cell.cell.system, row.moved.name, row.way) for row in found.rows]
    assert told == [(TIDY[2], "atwv", 1), (TIDY[2], "p_miss", 1), (TIDY[2], "cnxe", -1), (TIDY[0], "atwv", 0)]
    (plot,) = found.plots
    assert (plot.query_set, plot.dataset, [row.label for row in plot.rows]) == ("dev", "eval", [TIDY[2]])
    assert [point.text for point in plot.rows[0].points] == ["before 0.2500", "now 0.5000"]
    assert movement(None, read_run(make_grid(TIDY)[0])) == NOTHING


def test_the_page_has_a_row_a_figure_and_its_exact_values():
    page = render_page(*make_grid(TIDY), CHANGES)
    section = page[page.index('<section id="changes"') :].partition("</section>")[0]
    assert "4 figures that moved" in section
    assert re.findall(r'<data value="([^"]+)"', section)[:3] == ["0.25", "0.5", "0.25"]
    assert (section.count("<td>better</td>"), section.count("<td>worse</td>")) == (2, 1)
    assert "before 0.2500" in section
    assert "before-0" in render_changes(CHANGES)
