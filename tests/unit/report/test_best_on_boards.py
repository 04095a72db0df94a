"""Page, LaTeX and terminal mark the same figures as the best of their columns: those that the one rule names."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from pipeline.report import render_page
from pipeline.report.board import Board, RunBoards, read_run
from pipeline.report.headline import best_of, headline, is_best
from pipeline.report.publication import board_tex
from pipeline.report.terminal import COLUMNS, board_table

MADE_UP = {
    "one infinite cost": ([0.3, math.inf, 0.5, 0.4, 0.9, 0.6], 0.3),
    "only infinite costs": ([math.inf] * 6, None),
    "one defined figure": ([0.3, *[math.nan] * 5], None),
    "none": ([math.nan] * 6, None),
    "ties": ([0.3, 0.3, 0.5, 0.4, 0.9, 0.6], 0.3),
    "minus infinity": ([-math.inf, 0.3, 0.5, 0.4, 0.9, 0.6], -math.inf),
}
"""Costs (lower is better) of the six systems of a board, with the best of those that are no canary."""


def changed(grid, values, canary=None):
    root = grid[""].copy(deep=True)
    names = root["measure"].values.tolist()
    costs = [name for name, way in zip(names, root["measure_better"].values.tolist(), strict=True) if way == "lower"]
    root["value"].loc[{"measure": costs, "query_set": "eval", "dataset": "dev", "condition": "all"}] = np.array(values)[
        :, None
    ]
    root["failed"].loc[{"query_set": "eval", "dataset": "dev"}] = ""
    marks = root["system"].values == canary
    return {**grid, "": root.assign(canary=("system", marks))}


def board_of(run: RunBoards) -> Board:
    return next(one for one in run.boards_of("all") if (one.query_set, one.dataset) == ("eval", "dev"))


def marked(run: RunBoards, board: Board) -> list[list[bool]]:
    shown = headline(run)
    bests = best_of(board, shown)
    return [[is_best(entry, measure.name, bests) for measure in shown] for entry in board.entries]


def in_latex(run: RunBoards, board: Board) -> list[list[bool]]:
    tables = board_tex(run).split(r"\begin{table}")
    (own,) = [table for table in tables if f"Query set {board.query_set} on dataset {board.dataset}." in table]
    rows = own.partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    return [["bf{" in cell or "boldsymbol" in cell for cell in row.split(" & ")[2:]] for row in rows]


def on_the_page(run: RunBoards, board: Board, grid, results) -> list[list[bool]]:
    html = render_page(grid, results)
    at = [(one.query_set, one.dataset) for one in run.boards_of("all")].index((board.query_set, board.dataset))
    tables = [one for one in re.findall(r'<table class="sortable".*?</table>', html, re.S) if "Rank</th>" in one]
    rows = re.findall(r"<tr[^>]*data-s.*?</tr>", tables[at], re.S)
    return [["best" in kind.split() for kind in re.findall(r'<td class="(n[^"]*)"', row)[1:]] for row in rows]


def on_the_terminal(run: RunBoards, board: Board) -> list[list[bool]]:
    columns = board_table(run, board).columns[2:]
    cells = [[getattr(cell, "style", "") == "bold" for cell in column.cells] for column in columns]
    return [list(row) for row in zip(*cells, strict=True)]


@pytest.mark.parametrize("case", MADE_UP)
@pytest.mark.parametrize("with_canary", [False, True])
def test_all_mark_the_same(made, case, with_canary):
    values, expected = MADE_UP[case]
    systems = made[0][""]["system"].values.tolist()
    canary = systems[int(np.nanargmin(values))] if with_canary and expected is not None else None
    grid = changed(made[0], values, canary)
    run = read_run(grid)
    board = board_of(run)
    wanted = marked(run, board)
    costs = [at for at, measure in enumerate(headline(run)) if measure.better == "lower"]
    assert costs
    if canary is None:
        n_best = sum(value == expected for value in values)
        assert [sum(row[at] for row in wanted) for at in costs] == [n_best] * len(costs)
    else:
        assert not any(wanted[[entry.system for entry in board.entries].index(canary)])
    assert in_latex(run, board) == wanted
    assert [row[:COLUMNS] for row in wanted] == on_the_terminal(run, board)
    competing = [row for entry, row in zip(board.entries, wanted, strict=True) if not entry.canary]
    assert on_the_page(run, board, grid, made[1]) == competing


def test_a_system_alone_is_the_best_of_nothing(made):
    grid = {name: group.isel(system=[0]) if "system" in group.dims else group for name, group in made[0].items()}
    run = read_run(grid)
    for board in run.boards_of("all"):
        assert not np.any(marked(run, board))
    assert r"\textbf{" not in board_tex(run)
