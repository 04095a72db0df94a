from __future__ import annotations

import math

import numpy as np
import xarray as xr
from made_grid import CONTROLS, FORMULA, HOSTILE, MESSAGE, QUOTES, SCRIPT, WHERE

from pipeline.report import render_page
from pipeline.report.board import board_rows, read_run
from pipeline.report.headline import best_of, shades


def rows(grid, query_set, dataset, condition="all"):
    place = (query_set, dataset, condition)
    return [row for row in board_rows(grid) if (row["query_set"], row["dataset"], row["condition"]) == place]


def changed(grid, **arrays):
    return {**grid, "": grid[""].assign(arrays)}


def test_rows_follow_the_ranks_and_failed_systems_come_last(made):
    board = rows(made[0], "eval", "dev")
    assert [row["system"] for row in board] == ["gtts-fusion", SCRIPT, CONTROLS, FORMULA, "cuhk-posteriors", QUOTES]
    assert [row["rank"] for row in board] == [1, 2, 3, 4, 5, 0]
    assert board[-1]["failed"] == "refused_input"
    assert board[-1]["failed_where"] == WHERE
    assert board[-1]["failed_message"] == MESSAGE


def test_every_cell_and_condition_has_every_system_once(made):
    found = [(row["query_set"], row["dataset"], row["condition"], row["system"]) for row in board_rows(made[0])]
    assert len(found) == len(set(found)) == 2 * 2 * 2 * 6


def test_condition_all_comes_first_whatever_its_place_in_the_grid(made):
    assert made[0][""]["condition"].values.tolist() == ["T1", "all"]
    assert read_run(made[0]).conditions == ("all", "T1")


def test_a_system_without_a_rank_stands_between_the_ranked_and_the_failed(made):
    grid = {**made[0], "": made[0][""].copy(deep=True)}
    grid[""]["rank"].loc["gtts-fusion", "eval", "dev", "all"] = 0
    board = rows(grid, "eval", "dev")
    assert [row["system"] for row in board[-2:]] == ["gtts-fusion", QUOTES]


def test_equal_ranks_are_ordered_by_name(made):
    ranks = made[0][""]["rank"].copy(deep=True)
    ranks.loc[:, "dev", "dev", "all"] = 1
    board = rows(changed(made[0], rank=ranks), "dev", "dev")
    assert [row["system"] for row in board] == sorted(HOSTILE)


def test_the_primary_measure_leads(made):
    assert made[0][""]["measure"].values[0] == "mtwv"
    assert [measure.name for measure in read_run(made[0]).measures[:3]] == ["atwv", "mtwv", "mtwv_threshold"]


def test_figures_are_the_grids_own_bits(made):
    root = made[0][""]
    for row in rows(made[0], "dev", "eval"):
        value = root["value"].sel(system=row["system"], query_set="dev", dataset="eval", condition="all")
        for measure in root["measure"].values.tolist():
            assert np.array_equal(row[measure], float(value.sel(measure=measure)), equal_nan=True)


def test_undefined_figures_carry_their_reason(made):
    (row,) = [row for row in rows(made[0], "dev", "dev") if row["system"] == "cuhk-posteriors"]
    assert math.isnan(row["mtwv_threshold"])
    assert row["reasons"] == {"mtwv_threshold": "reject_all"}


def test_a_nan_without_a_reason_is_still_not_silent(made):
    grid = changed(made[0], reason=xr.full_like(made[0][""]["reason"], ""))
    (row,) = [row for row in rows(grid, "dev", "dev") if row["system"] == "cuhk-posteriors"]
    assert row["reasons"] == {"mtwv_threshold": "undefined"}


def test_contrastive_systems_are_marked(made):
    assert {row["system"] for row in board_rows(made[0]) if not row["primary"]} == {QUOTES}


def test_canaries_compete_with_nobody(made):
    grid, results = made
    best = next(row["system"] for row in rows(grid, "eval", "dev"))
    canary = xr.DataArray(grid[""]["system"].values == best, dims="system")
    run = read_run(changed(grid, canary=canary))
    board = next(one for one in run.boards_of("all") if (one.query_set, one.dataset) == ("eval", "dev"))
    others = [entry.figures["atwv"].value for entry in board.entries if entry.system != best]
    assert best_of(board, run.measures)["atwv"] == max(value for value in others if not math.isnan(value))
    assert {system for *_, system in shades(run, run.boards_of("all"))}.isdisjoint({best})
    assert f">{best}<" in render_page(grid, results)
    assert best not in render_page(changed(grid, canary=canary), results)


def test_storage_types_and_dimension_order_do_not_matter(made):
    root = made[0][""].transpose(..., "system")
    text = np.dtypes.StringDType()
    names = [name for name, array in root.variables.items() if array.dtype.kind in "OU"]
    root = root.assign({name: (root[name].dims, root[name].values.astype(text)) for name in names})
    assert repr(board_rows({**made[0], "": root})) == repr(board_rows(made[0]))
