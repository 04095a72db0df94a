"""Cells in flight follow the cluster: twelve workers are busy all the time, four are four times as fast as one.

What a cell takes is a sleep of equal length, in real worker processes and through the real flow, so that a machine
with two cores can say how well many are kept busy.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from distributed import Client, LocalCluster, WorkerPlugin, get_task_stream

from flows.clusters.local import preloads
from flows.rescore import run_evaluation
from flows.settings import ONE_THREAD
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells

SLEEP_S = 3.0
N_WORKERS = 12
N_SAMPLES = 1000
pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Sleepy(WorkerPlugin):
    """A worker's cells take a sleep longer than they would."""

    name = "sleepy"

    def setup(self, worker: object) -> None:  # noqa: ARG002  # Dask gives it
        from pipeline.engine import tasks

        counted = tasks.counted

        def slowly(*rows: object) -> object:
            time.sleep(SLEEP_S)
            return counted(*rows)  # type: ignore[arg-type]

        tasks.counted = slowly  # type: ignore[assignment]


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "env": ONE_THREAD}
    with LocalCluster(n_workers=N_WORKERS, threads_per_worker=1, **options, **preloads()) as made:
        with made.get_client() as client:
            client.wait_for_workers(N_WORKERS, timeout=300)
            client.register_plugin(Sleepy())
        yield made


@dataclass(frozen=True)
class Spans:
    """When each cell was worked on, in seconds, and where."""

    begun_s: Sequence[float]
    ended_s: Sequence[float]
    workers: frozenset[str]

    @property
    def whole_s(self) -> float:
        """From the first cell's begin to the last one's end."""
        return max(self.ended_s) - min(self.begun_s)

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """Begin and end of each."""
        return list(zip(self.begun_s, self.ended_s, strict=True))

    def busy(self, n_workers: int) -> float:
        """The share of workers that work on a cell, by samples between first and last."""
        first_s = min(self.begun_s)
        at = [first_s + self.whole_s * (number + 0.5) / N_SAMPLES for number in range(N_SAMPLES)]
        working = sum(begin_s <= now_s < end_s for now_s in at for begin_s, end_s in self.pairs)
        return working / (N_SAMPLES * n_workers)


def run(folder: Path, store: Path, cluster: LocalCluster) -> Spans:
    """The evaluation scored on the cluster, and what Dask saw its workers do."""
    with Client(cluster.scheduler_address, set_as_default=False) as client, get_task_stream(client) as stream:
        summary = run_evaluation(
            str(folder / "evaluation.yaml"), store=str(store), cluster=cluster.scheduler_address, quiet=True
        )
    assert summary.n_failed == 0
    whole = [task for task in stream.data if task["key"].startswith("score_whole-")]
    assert len(whole) == summary.n_scored == len(Store(str(store)).listing("results"))
    computed = [one for task in whole for one in task["startstops"] if one["action"] == "compute"]
    return Spans(
        [one["start"] for one in computed],
        [one["stop"] for one in computed],
        frozenset(task["worker"] for task in whole),
    )


def evaluation(folder: Path, n_systems: int) -> Path:
    """Four cells a system."""
    folder.mkdir()
    cells.write(folder)
    for number in range(n_systems - len(cells.SYSTEMS)):
        cells.submit(folder, f"late{number}", 0.15 + 0.001 * number)
    return folder


def scale(cluster: LocalCluster, n_workers: int) -> None:
    cluster.scale(n_workers)
    limit = time.monotonic() + 300
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        while len(client.nthreads()) != n_workers:
            assert time.monotonic() < limit
            time.sleep(0.1)


def test_all_workers_are_busy_from_the_first_cell_to_the_last(
    tmp_path: Path, cluster: LocalCluster, prefect_server: None
) -> None:
    spans = run(evaluation(tmp_path / "e", 60), tmp_path / "store", cluster)
    assert len(spans.workers) == N_WORKERS
    busy = spans.busy(N_WORKERS)
    sys.stdout.write(f"240 cells on {N_WORKERS} workers: {busy:.0%} busy for {spans.whole_s:.0f} s\n")
    assert busy >= 0.8


def test_four_workers_are_almost_four_times_as_fast_as_one(
    tmp_path: Path, cluster: LocalCluster, prefect_server: None
) -> None:
    folder, took_s = evaluation(tmp_path / "e", 4), dict[int, float]()
    for n_workers in (4, 1):
        scale(cluster, n_workers)
        took_s[n_workers] = run(folder, tmp_path / f"store{n_workers}", cluster).whole_s
    sys.stdout.write(f"16 cells: {took_s[1]:.1f} s on one worker, {took_s[4]:.1f} s on four\n")
    assert took_s[1] / took_s[4] >= 3.6


def test_workers_that_join_and_leave_midway_are_filled_and_missed(
    tmp_path: Path, cluster: LocalCluster, prefect_server: None
) -> None:
    folder, store = evaluation(tmp_path / "e", 8), Store(str(tmp_path / "store"))
    scale(cluster, 1)

    def change() -> None:
        for n_results, n_workers in ((2, 4), (16, 2)):
            while len(store.listing("results")) < n_results:
                time.sleep(0.1)
            cluster.scale(n_workers)

    changing = Thread(target=change, daemon=True)
    changing.start()
    spans = run(folder, Path(store.root), cluster)
    changing.join(60)
    assert not changing.is_alive()
    assert len(spans.workers) >= 4
    at_once = max(sum(begin_s <= now_s < end_s for begin_s, end_s in spans.pairs) for now_s in spans.begun_s)
    assert at_once >= 4  # a cell whose worker left is begun again elsewhere
