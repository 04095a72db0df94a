"""A local cluster has the workers that there is work for, starts beside what else is started, and ends with the run."""

from __future__ import annotations

import gc
import os
import signal
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import dask
import psutil
import pytest
from distributed import Client, LocalCluster
from distributed.core import Status
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, get_current_settings, temporary_settings

from flows.clusters import local as cluster_local
from flows.clusters.kinds import open_cluster
from flows.clusters.local import PRELOAD, begun, preloads, sized
from flows.rescore import run_evaluation
from flows.settings import Settings
from flows.told import unheard
from pipeline.demo.evaluation import write_evaluation
from pipeline.engine.memory import without_collector
from pipeline.engine.plan import Job
from pipeline.engine.warm import NEEDED
from pipeline.errors import PlatformError, UsageError
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


def heard() -> tuple[int, bool]:
    """Asked of a worker: its process, and whether Ctrl-C would reach it."""
    return os.getpid(), signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_cluster_that_was_begun_is_taken_once_and_ends_with_the_context():
    with begun(ONE):
        with open_cluster(ONE) as first, Client(first.scheduler, set_as_default=False) as client:
            assert list(client.run(loaded).values()) == [(True, True)]
            pids = list(client.run(os.getpid).values())
            os.kill(pids[0], signal.SIGINT)  # a terminal sends it to all processes; ending workers is the run's part
            assert list(client.run(heard).values()) == [(pids[0], False)]
        with open_cluster(ONE) as second, Client(second.scheduler, set_as_default=False) as client:
            pids += client.run(os.getpid).values()
    assert first.scheduler != second.scheduler
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


def test_a_cluster_that_does_not_start_is_started_thrice_by_who_would_take_it(monkeypatch):
    asked = []

    def refused(*_: object) -> None:
        asked.append(len(asked))
        raise OSError("no more processes")

    monkeypatch.setattr(cluster_local, "_cluster", refused)
    with begun(ONE):
        pass
    assert asked == [0]
    with begun(ONE), pytest.raises(PlatformError, match="no more processes"):
        open_cluster(ONE).__enter__()
    assert asked == [*range(2 + cluster_local.TRIES)]


@pytest.mark.parametrize(
    ("preload", "arguments", "expected"),
    [
        ([], [], {"preload": [PRELOAD], "preload_argv": [[]]}),
        (None, None, {"preload": [PRELOAD], "preload_argv": [[]]}),
        ("own.py", [], {"preload": ["own.py", PRELOAD], "preload_argv": [[], []]}),
        (["a", "b"], ["--x", "1"], {"preload": ["a", "b", PRELOAD], "preload_argv": [["--x", "1"]] * 2 + [[]]}),
        (["a", "b"], [["--x"], []], {"preload": ["a", "b", PRELOAD], "preload_argv": [["--x"], [], []]}),
    ],
)
def test_what_workers_are_configured_to_load_they_load_with_its_arguments(preload, arguments, expected):
    configured = {"distributed.worker.preload": preload, "distributed.worker.preload-argv": arguments}
    with dask.config.set(configured):
        assert preloads() == expected


@pytest.mark.parametrize(("said", "given", "workers"), [("3", None, 3), ("3", 2, 2), ("", None, 1)])
def test_a_run_begins_with_the_workers_of_its_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, given: int | None, workers: int
) -> None:
    asked = []

    def nothing_begins(settings: Settings) -> None:
        asked.append(settings.workers)
        raise UsageError("that is enough")

    monkeypatch.setattr(dask.system, "CPU_COUNT", 1)
    monkeypatch.setattr(cluster_local, "begun", nothing_begins)
    monkeypatch.setenv("RESCORE_WORKERS", said)
    with pytest.raises(UsageError, match="that is enough"):
        run_evaluation(
            str(write_evaluation(tmp_path)), store=str(tmp_path / "s"), cluster="local", workers=given, quiet=True
        )
    assert asked == [workers]


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


@pytest.fixture
def nothing_frozen() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_the_collector_rests_during_imports_only(nothing_frozen: None) -> None:
    with without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_a_process_that_runs_many_times_keeps_no_garbage(nothing_frozen: None) -> None:
    with without_collector():
        pass
    circle = Circle()
    circle.itself = circle
    known = weakref.ref(circle)
    del circle
    with without_collector():
        assert gc.isenabled()
    gc.collect()
    assert known() is None


class Circle:
    """Only the collector frees it."""

    itself: Circle
