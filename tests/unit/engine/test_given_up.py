"""A cell whose workers died: a row with that reason in its run, and no result where the next run looks for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.steps import finish, is_small, score_here
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.cell import do_cell, load_result
from pipeline.engine.plan import Plan, given_up, load_plan, missing, plan
from pipeline.grid import faults, latest
from pipeline.grid.sweep import survey
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells


@pytest.fixture
def planned(tmp_path: Path) -> tuple[Store, Plan]:
    store = Store(str(tmp_path / "store"))
    return store, plan(load_evaluation(str(cells.write(tmp_path))), store)


def night(store: Store, work: Plan) -> Plan:
    """A run on which the first cell's workers died; its plan."""
    lost = work.jobs[0].cell
    score_here(store, work, work.jobs[1:])
    without = given_up(work, [lost], store)
    finish(store, without, do_cell(store, without, lost))
    return without


def test_the_run_is_whole_and_the_next_tries_again(planned: tuple[Store, Plan]) -> None:
    store, work = planned
    without = night(store, work)
    run = latest(store, "grid")
    assert (run.n_scored, run.n_failed, faults(store, run.id)) == (7, 1, [])
    result = load_result(store, run.results[str(work.jobs[0].cell)])
    assert (result.failed, result.figures) == ("worker_died", {})
    assert load_plan(store, run.plan).jobs == without.jobs
    assert survey(store, older_than_s=-60).removable == (f"plans/{work.address}.json",)
    again = plan(load_evaluation(str(Path(store.root).parent / "evaluation.yaml")), store)
    assert again.address == work.address != run.plan
    assert missing(again.jobs, store) == work.jobs[:1]
    finish(store, again, score_here(store, again, again.jobs[:1]))
    assert (latest(store, "grid").n_scored, latest(store, "grid").n_failed) == (8, 0)


def test_it_is_never_scored_in_the_process_of_the_flow(planned: tuple[Store, Plan]) -> None:
    """Its trials may be there, and so it would count as small."""
    store, work = planned
    score_here(store, work, work.jobs)
    for path in (work.jobs[0].path, *store.listing("labels")):
        store.remove(path)
    assert is_small(store, work, work.jobs[:1])
    without = given_up(work, [work.jobs[0].cell], store)
    do_cell(store, without, work.jobs[0].cell)
    assert not is_small(store, work, work.jobs[:1])


def test_the_row_can_be_verified_like_any_other(
    planned: tuple[Store, Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    store, work = planned
    night(store, work)
    cell = str(work.jobs[0].cell)
    assert main(["verify", cell, "--run", "grid", "--store", store.root]) == 0
    assert main(["show", "grid", "--store", store.root]) == 0
    shown = capsys.readouterr().out
    assert "worker_died" in shown
    assert "peak memory" in shown
