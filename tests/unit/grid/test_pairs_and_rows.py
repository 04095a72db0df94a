"""Cells that there are and cells that there are not; what is told by query stands with its cell."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import pipeline
from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import Plan, load_plan, plan
from pipeline.grid import Run
from pipeline.grid.query_rows import read_rows
from pipeline.report.board import read_run
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells

PAIRS = [("p", "e"), ("q", "d")]
"""Of the second dataset with the first query set: the order of jobs is not that of the axes."""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Plan, Run]:
    folder = tmp_path_factory.mktemp("pairs")
    path = cells.write(folder)
    for file in (*folder.glob("out/*/p_d.xml"), *folder.glob("out/*/q_e.xml")):
        file.unlink()
    path.write_text(path.read_text() + "pairs: [[q, d], [p, e]]\n")
    store = Store(str(folder / "store"))
    planned = plan(load_evaluation(str(path)), store)
    return store, planned, finish(store, planned, score_here(store, planned, planned.jobs))


def test_only_cells_that_exist_are_jobs_references_results_and_boards(done: tuple[Store, Plan, Run]) -> None:
    store, planned, run = done
    assert [(job.cell.query_set, job.cell.dataset) for job in planned.jobs] == PAIRS * 2
    assert len({job.reference for job in planned.jobs}) == 2
    assert load_plan(store, planned.address).datasets == planned.datasets == ("d", "e")
    assert len(run.results) == 4
    boards = read_run({"": pipeline.open_grid(store, run)}).boards
    assert [(board.query_set, board.dataset) for board in boards] == PAIRS
    reports = Path(store.url("")) / f"reports/{planned.evaluation}"
    assert "no_such_cell" not in "".join(file.read_text() for file in reports.rglob("*.*") if file.is_file())


def test_the_axes_are_full_and_the_reason_is_told(done: tuple[Store, Plan, Run]) -> None:
    grid = pipeline.open_grid(done[0], done[2])
    assert (grid["query_set"].values.tolist(), grid["dataset"].values.tolist()) == (["p", "q"], ["d", "e"])
    for query_set in ("p", "q"):
        for dataset in ("d", "e"):
            cell = grid.sel(query_set=query_set, dataset=dataset)
            absent = (query_set, dataset) not in PAIRS
            assert (cell["reason"] == "no_such_cell").all().item() is absent
            assert (cell["failed"] == "no_such_cell").all().item() is absent
            if absent:
                assert np.isnan(cell["value"]).all()
                assert (cell["rank"] == 0).all()
                assert (cell["signature"] == "").all()


def test_rows_of_a_cell_are_those_of_its_queries(done: tuple[Store, Plan, Run]) -> None:
    group = pipeline.open_grid(done[0], done[2], "queries").load()
    assert group.sizes["row"] == 2 * (2 + 1)  # two systems; two queries of p, one of q
    assert group["value"].dims == ("row", "count")
    cell = group.sel(query_set="p", dataset="e", system="good")
    rows = slice(int(cell["first_row"]), int(cell["first_row"] + cell["n_rows"]))
    assert group["query"].values[group["query_place"].values[rows]].tolist() == ["alpha", "beta"]
    assert group["value"].sel(count="n_target").values[rows].tolist() == [1.0, 0.0]
    assert not group["n_rows"].sel(query_set="p", dataset="d").any()


def test_what_was_published_dense_reads_the_same() -> None:
    rng = np.random.default_rng(3)
    value = rng.uniform(size=(2, 2, 2, 3, 2))
    value[:, 0, 1] = value[1, 1, 1, 2] = math.nan
    axes = {"system": ["a", "b"], "query_set": ["p", "q"], "dataset": ["d", "e"]}
    dense = xr.Dataset(
        {"value": ((*axes, "query", "count"), value), "text": ("query", ["x", "y", "z"])},
        coords={**axes, "query": ["1", "2", "3"], "count": ["n", "twv"]},
    )
    rows = read_rows(dense)
    assert len(rows.value) == 24 - 6 - 1
    for place in np.ndindex(2, 2, 2):
        own = rows.of(place)
        known = ~np.isnan(value[place]).all(axis=1)
        assert rows.query[own].tolist() == np.flatnonzero(known).tolist()
        assert np.array_equal(rows.value[own], value[place][known])
    told = pipeline.query_rows({"queries": dense})
    assert [(row["query_set"], row["dataset"], row["system"], row["query"]) for row in told[:4]] == [
        ("p", "d", "a", "1"), ("p", "d", "a", "2"), ("p", "d", "a", "3"), ("p", "d", "b", "1"),
    ]  # fmt: skip
