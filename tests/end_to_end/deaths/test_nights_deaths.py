"""Nights on which things die: a cell that kills its workers, and a database of Prefect's that is locked meanwhile."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import LocalCluster, WorkerPlugin

from flows.rescore import RunSummary, run_evaluation
from flows.settings import ONE_THREAD
from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.grid import faults, latest, load_run
from pipeline.report.changes.diff import compare, side_of
from pipeline.store.blobs import Store
from tests.end_to_end.deaths.nights import database
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

WITHOUT = ("refs", "performance")
LOCKED_S = 4.0

pytestmark = [
    pytest.mark.timeout(600),
    # Prefect leaves the socket of a client that has done its part to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Poison(WorkerPlugin):
    """Workers die, as of want of memory, when they align a cell of one system; later workers do too.

    Each death is a line in the file ``deaths``.
    """

    name = "poison"

    def __init__(self, system: str, deaths: Path) -> None:
        self.system, self.deaths = system, deaths

    def setup(self, worker: object) -> None:  # noqa: ARG002  # Dask gives it
        from pipeline.engine import tasks

        counted, victim, deaths = tasks.counted, self.system, self.deaths

        def dying(*rows: object) -> object:
            import inspect

            cell = inspect.currentframe().f_back.f_locals["cell"]  # type: ignore[union-attr]
            if cell.system == victim and (cell.query_set, cell.dataset) == ("p", "d"):
                with deaths.open("a") as stream:
                    stream.write(f"{os.getpid()}\n")
                os.kill(os.getpid(), signal.SIGKILL)
            return counted(*rows)  # type: ignore[arg-type]

        tasks.counted = dying  # type: ignore[assignment]


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "env": ONE_THREAD}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as made:
        yield made


def undisturbed(folder: Path) -> Store:
    """A store with a run that nothing happened to."""
    store = Store(str(folder / "undisturbed"))
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    finish(store, planned, score_here(store, planned, planned.jobs))
    return store


def scored(folder: Path, store: Store, address: str) -> RunSummary:
    return run_evaluation(str(folder / "evaluation.yaml"), store=store.root, cluster=address, workers=2, quiet=True)


def test_a_cell_that_kills_three_workers_is_a_row_with_that_reason(
    tmp_path: Path, cluster: LocalCluster, prefect_server: None
) -> None:
    cells.write(tmp_path)
    deaths = tmp_path / "deaths"
    store, whole = Store(str(tmp_path / "store")), undisturbed(tmp_path)
    with cluster.get_client() as client:
        client.register_plugin(Poison("poor", deaths))
        night = scored(tmp_path, store, cluster.scheduler_address)
    assert (night.n_scored, night.n_failed) == (7, 1)
    assert len(deaths.read_text().split()) == 3
    [row] = [row for row in night.board if row["failed"]]
    assert (row["system"], row["query_set"], row["dataset"]) == ("poor", "p", "d")
    assert (row["failed"], row["rank"]) == ("worker_died", 0)
    assert "too little memory" in row["failed_message"]
    others = whole_store.contents(whole, *WITHOUT, "grids", "reports", "runs", "plans")
    kept = whole_store.contents(store)
    lost = [path for path in others if path not in kept]
    assert {path.partition("/")[0] for path in lost} == {"results", "labels"}
    assert all(kept[path] == data for path, data in others.items() if path not in lost)
    assert faults(store, night.run_id) == []

    again = scored(tmp_path, store, "local")
    assert (again.n_scored, again.n_failed, again.n_reused) == (8, 0, 7)
    assert again.run_id == latest(whole, "grid").id != night.run_id
    moved = compare(side_of(store, load_run(store, night.run_id)), side_of(store, load_run(store, again.run_id)))
    [cell] = [cell for cell in moved.cells if cell.failed != ("", "")]
    assert cell.failed == ("worker_died", "")
    # But for the reports, which say what moved since the run before, and the manifest, which has their digests.
    expected = whole_store.contents(whole, *WITHOUT, "reports", "runs")
    assert {path: data for path, data in whole_store.contents(store).items() if path in expected} == expected


def test_a_locked_database_costs_no_result(tmp_path: Path, prefect_server: None) -> None:
    """Somebody else writes to Prefect's SQLite for a while, as a backup does: the run or the next is whole."""
    cells.write(tmp_path)
    store, whole = Store(str(tmp_path / "store")), undisturbed(tmp_path)
    locked, finished = threading.Event(), threading.Event()

    def lock() -> None:
        while not store.listing("results") and not finished.is_set():
            time.sleep(0.02)
        with sqlite3.connect(database(), timeout=60) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            locked.set()
            finished.wait(LOCKED_S)
            connection.rollback()

    other = threading.Thread(target=lock)
    other.start()
    try:
        summary = scored(tmp_path, store, "local")
    finally:
        finished.set()
        other.join()
    assert locked.is_set()
    assert (summary.n_scored, summary.n_failed) == (8, 0)
    assert whole_store.contents(store, *WITHOUT) == whole_store.contents(whole, *WITHOUT)
