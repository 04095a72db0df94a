"""A local cluster has the workers that there is work for, starts beside what else is started, and ends with the run."""

from __future__ import annotations

import gc
import os
import sys

import dask
import psutil
import pytest
from distributed import Client, LocalCluster
from distributed.core import Status
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, get_current_settings, temporary_settings

from flows import cluster_local
from flows.cluster_local import begun, sized
from flows.clusters import open_cluster
from flows.settings import Settings, without_collector
from flows.told import unheard
from pipeline.engine.plan import Job
from pipeline.engine.warm import NEEDED
from pipeline.terms import Cell, Source

ONE = Settings(workers=1, brief=True)


def jobs(n_cells: int, n_bytes: int = 0) -> list[Job]:
    output = Source("a.xml", "output", "", n_bytes)
    return [Job(Cell("q", "d", f"s{number}"), "", "", {"output": output}) for number in range(n_cells)]


@pytest.mark.parametrize(
    ("n_cells", "n_bytes", "workers", "brief"),
    [
        (1, 100_000, 1, True),
        (6, 100_000, 1, True),
        (7, 0, 2, False),
        (1, 30_000_000, 2, False),
        (24, 100_000, 4, False),
        (500, 10**9, 8, False),
    ],
)
def test_there_are_workers_for_the_work_that_there_is(monkeypatch, n_cells, n_bytes, workers, brief):
    monkeypatch.setattr(dask.system, "CPU_COUNT", 8)
    found = sized(Settings(), jobs(n_cells, n_bytes))
    assert (found.workers, found.brief) == (workers, brief)


def test_what_somebody_said_and_what_another_cluster_has_stays():
    assert sized(Settings(workers=5), jobs(1)).workers == 5
    assert sized(Settings(cluster="tcp://host:8786"), jobs(500)).workers is None


def loaded() -> tuple[bool, bool]:
    """Asked of a worker that was not given any task yet: what it has imported, and whether the collector is on."""
    return set(NEEDED) <= set(sys.modules), gc.isenabled() and gc.get_freeze_count() > 0


def test_a_cluster_that_was_begun_is_taken_once_and_ends_with_the_context():
    with begun(ONE):
        with open_cluster(ONE) as first, Client(first, set_as_default=False) as client:
            assert list(client.run(loaded).values()) == [(True, True)]
            pids = list(client.run(os.getpid).values())
        with open_cluster(ONE) as second, Client(second, set_as_default=False) as client:
            pids += client.run(os.getpid).values()
    assert first != second
    assert len(set(pids)) == 2
    assert not any(map(psutil.pid_exists, pids))


def test_a_cluster_that_nobody_took_ends_too(monkeypatch):
    made = []

    def cluster(*_: object) -> LocalCluster:
        made.append(LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0"))
        return made[0]

    monkeypatch.setattr(cluster_local, "_cluster", cluster)
    with begun(ONE):
        pass
    assert made[0].status == Status.closed


def test_a_cluster_that_does_not_start_is_started_once_more_by_who_would_take_it(monkeypatch):
    asked = []

    def refused(*_: object) -> None:
        asked.append(len(asked))
        raise OSError("no more processes")

    monkeypatch.setattr(cluster_local, "_cluster", refused)
    with begun(ONE):
        pass
    assert asked == [0]
    with begun(ONE), pytest.raises(OSError, match="no more processes"):
        open_cluster(ONE).__enter__()
    assert asked == [0, 1, 2]


def test_only_a_local_cluster_begins_early():
    with begun(Settings(cluster="slurm")):
        assert cluster_local._BEGUN.get() is None


def test_a_brief_flow_has_no_heartbeats_unless_somebody_wants_them():
    def beat() -> int | None:
        return get_current_settings().flows.heartbeat_frequency

    usual = beat()
    with unheard(False):
        assert beat() == usual
    with unheard(True):
        assert beat() is None
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: 45}), unheard(True):
        assert beat() == 45


def test_the_collector_rests_during_imports_only():
    frozen = gc.get_freeze_count()
    with without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() >= frozen
    gc.unfreeze()
