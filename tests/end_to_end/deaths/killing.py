"""A run in processes of its own, any of which can be killed: main, workers, scheduler, servers of Prefect and S3."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil

from pipeline.store.blobs import Store
from tests.s3_server import S3Server

BIN = Path(sys.executable).parent
WAIT_S = 300.0
"""How long anything may take on a busy machine."""
YOUNG_S = 1.5
"""A worker of this age is starting: it imports for longer."""
WORKER, STARTING, SCHEDULER, PREFECT, MAIN, S3 = (
    "worker scoring",
    "worker starting",
    "scheduler",
    "Prefect server",
    "main",
    "S3 server",
)
VICTIMS = (WORKER, STARTING, SCHEDULER, PREFECT, MAIN, S3)


def until(found: Callable[[], object], what: str, limit_s: float = WAIT_S) -> None:
    """Ask again and again until something is true."""
    limit = time.monotonic() + limit_s
    while not found():
        assert time.monotonic() < limit, f"in vain: {what}"
        time.sleep(0.02)


@dataclass
class Scheduler:
    """A Dask scheduler of somebody else's, with a nanny and its worker."""

    address: str
    process: subprocess.Popen[bytes]
    nanny: subprocess.Popen[bytes]


@contextmanager
def scheduler(place: Path, environment: dict[str, str]) -> Iterator[Scheduler]:
    """Started, with its worker; gone afterwards."""
    place.mkdir()
    note, quiet = place / "scheduler.json", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--scheduler-file", str(note), "--interface", "lo", "--no-dashboard"]
    process = subprocess.Popen([BIN / "dask", "scheduler", "--port", "0", *options], env=environment, **quiet)
    command = [BIN / "dask", "worker", *options, "--nthreads", "1", "--local-directory", str(place)]
    nanny = subprocess.Popen(command, env=environment, **quiet)
    try:
        until(lambda: note.exists() and note.read_text().endswith("}"), "a scheduler")
        yield Scheduler(json.loads(note.read_text())["address"], process, nanny)
    finally:
        left = below(nanny.pid)
        for one in (process, nanny):
            one.kill()
            one.wait()
        for child in left:
            with suppress(psutil.Error):
                child.kill()


def below(pid: int) -> list[psutil.Process]:
    """Descendants of a process, if it lives."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def having(processes: Sequence[psutil.Process], word: str) -> list[psutil.Process]:
    """Those whose command has a word, the youngest last."""
    found = []
    for one in processes:
        with suppress(psutil.Error):
            if any(word in part for part in one.cmdline()) and one.status() != psutil.STATUS_ZOMBIE:
                found.append((one.create_time(), one.pid, one))
    return [one for _, _, one in sorted(found, key=lambda each: each[:2])]


@dataclass
class Ordeal:
    """One run and those who die in it."""

    run: subprocess.Popen[str]
    store: Store
    random: Random
    others: Scheduler | None
    s3: S3Server | None
    n_cells: int
    killed: list[str] = field(default_factory=list)
    killed_s: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.run.poll() is not None

    def workers(self) -> list[psutil.Process]:
        """Worker processes, the youngest last."""
        return having(below(self.run.pid if self.others is None else self.others.nanny.pid), "spawn_main")

    def kill(self, victim: str) -> None:
        """When its time has come, and unless the run is over by then."""
        if victim != STARTING and S3 not in self.killed:
            wanted = self.random.randrange(1, self.n_cells)
            until(lambda: self.is_over or len(self.store.listing("results")) >= wanted, f"{wanted} results")
        if self.is_over:
            return
        if {WORKER: self._worker, STARTING: self._starting}.get(victim, lambda: self._other(victim))():
            self.killed.append(victim)
            self.killed_s = time.monotonic()

    def _worker(self) -> bool:
        return any(_killed(one) for one in self.workers()[:1])

    def _starting(self) -> bool:
        """One that starts now, or the one that comes after one that is killed for it."""

        def young() -> list[psutil.Process]:
            return [one for one in self.workers() if time.time() - one.create_time() < YOUNG_S]

        if S3 in self.killed or self.store.listing("results"):
            self._worker()
        until(lambda: self.is_over or young(), "a worker that starts")
        time.sleep(self.random.random())
        return any(_killed(one) for one in young()[-1:])

    def _other(self, victim: str) -> bool:
        if victim == MAIN:
            return _killed(psutil.Process(self.run.pid))
        if victim == SCHEDULER:
            assert self.others is not None
            return _killed(psutil.Process(self.others.process.pid))
        if victim == S3:
            assert self.s3 is not None
            self.s3.kill()
            return True
        return any(_killed(one) for one in having(below(self.run.pid), "uvicorn"))


def _killed(one: psutil.Process) -> bool:
    try:
        os.kill(one.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def left_in(folder: Path) -> list[str]:
    """Commands of processes whose temporary files go to a folder."""
    found = []
    for one in psutil.process_iter():
        with suppress(psutil.Error):
            if one.environ().get("TMPDIR", "").startswith(str(folder)) and one.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(one.cmdline())[:200])
    return found
