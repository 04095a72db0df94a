"""SIGKILL of flow, worker or scheduler at seeded instants: then run again, and every byte is as if nothing had been.

Three instants here; ``make soak`` has thirty (RESCORE_KILLS).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.grid import faults, latest
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

N_KILLS = int(os.environ.get("RESCORE_KILLS", "3"))
VICTIMS = ("flow", "worker", "scheduler")
N_SYSTEMS = 6
WAIT_S = 120.0
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation of 24 small cells."""
    root = tmp_path_factory.mktemp("kills")
    cells.write(root)
    for number in range(N_SYSTEMS - len(cells.SYSTEMS)):
        cells.submit(root, f"late{number}", 0.5 + 0.02 * number)
    return root


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> dict[str, bytes]:
    """What the store holds after a run that nobody disturbed; references say what each execution took."""
    store = Store(str(folder / "undisturbed"))
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    finish(store, planned, score_here(store, planned, planned.jobs))
    return whole_store.contents(store, "refs", "performance", "leases")


@pytest.fixture(scope="module")
def environment(prefect_server: None) -> dict[str, str]:
    """Of every process: the one Prefect server, and no patience with a scheduler that is gone."""
    from prefect.settings import PREFECT_API_URL

    patience = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s", "DASK_DISTRIBUTED__COMM__RETRY__COUNT": "0"}
    return {**os.environ, **patience, "PREFECT_API_URL": PREFECT_API_URL.value()}


@dataclass(frozen=True)
class Cluster:
    """A scheduler and a nanny with its worker, each a process of its own."""

    address: str
    scheduler: subprocess.Popen[bytes]
    nanny: subprocess.Popen[bytes]

    def victim(self, name: str) -> int:
        """The process to kill."""
        if name == "scheduler":
            return self.scheduler.pid
        children = psutil.Process(self.nanny.pid).children(recursive=True)
        return max(children, key=lambda child: child.memory_info().rss).pid


@contextmanager
def cluster(place: Path, environment: dict[str, str]) -> Iterator[Cluster]:
    """Started, with its worker there; gone afterwards."""
    place.mkdir()
    note, quiet = place / "scheduler.json", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--scheduler-file", str(note), "--interface", "lo", "--no-dashboard"]
    scheduler = subprocess.Popen([BIN / "dask", "scheduler", "--port", "0", *options], env=environment, **quiet)
    nanny = subprocess.Popen(
        [BIN / "dask", "worker", *options, "--nthreads", "1", "--local-directory", str(place)], env=environment, **quiet
    )
    try:
        until(lambda: note.exists() and note.read_text().endswith("}"))
        yield Cluster(json.loads(note.read_text())["address"], scheduler, nanny)
    finally:
        gone = [*psutil.Process(nanny.pid).children(recursive=True)] if nanny.poll() is None else []
        for process in (scheduler, nanny):
            process.kill()
            process.wait()
        for child in gone:
            if child.is_running():
                child.kill()


def until(true: object) -> None:
    """Wait for it."""
    limit = time.monotonic() + WAIT_S
    while not true():  # type: ignore[operator]
        assert time.monotonic() < limit, "it did not happen"
        time.sleep(0.005)


def started(folder: Path, store: Store, cluster: Cluster, environment: dict[str, str]) -> subprocess.Popen[str]:
    """``rescore run`` on the cluster."""
    command = [BIN / "rescore", "run", folder / "evaluation.yaml", "--store", store.root, "--json"]
    return subprocess.Popen(
        [*map(str, command), "--cluster", cluster.address],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_midway(
    run: subprocess.Popen[str], store: Store, n_objects: int, victim: str, cluster: Cluster
) -> tuple[int, str]:
    """Kill the victim once the store holds so many objects; the run's exit code, and what it said."""
    until(lambda: len(store.listing()) >= n_objects or run.poll() is not None)
    if run.poll() is None:
        os.kill(run.pid if victim == "flow" else cluster.victim(victim), signal.SIGKILL)
    _, said = run.communicate(timeout=WAIT_S)
    return run.returncode, said


def results_of(store: Store) -> dict[str, float]:
    """Results that are there, and when each was written."""
    return store.times("results")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(N_KILLS))
def test_a_killed_run_is_finished_by_the_next_to_the_same_bytes(
    folder: Path, tmp_path: Path, undisturbed: dict[str, bytes], environment: dict[str, str], seed: int
) -> None:
    victim = VICTIMS[seed % len(VICTIMS)]
    n_objects = random.Random(seed).randrange(len(undisturbed) // 10, len(undisturbed))
    store = Store(str(tmp_path / "store"))
    with cluster(tmp_path / "first", environment) as place:
        code, said = kill_midway(started(folder, store, place, environment), store, n_objects, victim, place)
    assert code in ({-signal.SIGKILL, 0} if victim == "flow" else {0, 3}), said
    published = latest(store, "grid")
    assert published is None or faults(store, published.id) == []

    before = results_of(store)
    with cluster(tmp_path / "second", environment) as place:
        run = started(folder, store, place, environment)
        out, said = run.communicate(timeout=WAIT_S)
    assert run.returncode == 0, said
    summary = json.loads(out)
    assert summary["n_reused"] == len(before)
    assert {path: written for path, written in results_of(store).items() if path in before} == before
    assert summary["work"]["damaged"] == []
    whole_store.check(store)
    assert whole_store.contents(store, "refs", "performance", "leases") == undisturbed
    where = f"at {n_objects} of {len(undisturbed)} objects"
    sys.stdout.write(f"{victim} killed {where}: exit {code}, {len(before)} of 24 cells reused\n")
