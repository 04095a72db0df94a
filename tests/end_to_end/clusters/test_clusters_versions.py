"""A worker that really has another version of rescore: refused before work is sent, and when it joins later."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest
from distributed import Client

from flows.clusters.kinds import open_cluster, ready
from flows.settings import Settings
from pipeline.errors import PlatformError
from tests.conftest import ROOT

BIN = Path(sys.executable).parent
OURS = version("rescore")
OTHER = f"{OURS}.post7"
WAIT_S = 90.0


@pytest.fixture(scope="module")
def another_rescore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with this very package installed under another version: what a node has where somebody forgot it."""
    root = tmp_path_factory.mktemp("another")
    source, target = root / "source", root / "target"
    for name in ("pipeline", "flows"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("README.md", "LICENSE", "pyproject.toml"):
        shutil.copy(ROOT / name, source / name)
    project = source / "pyproject.toml"
    project.write_text(project.read_text().replace(f'\nversion = "{OURS}"', f'\nversion = "{OTHER}"', 1))
    install = [BIN / "uv", "pip", "install", "-q", "--offline", "--no-deps", "--no-build-isolation"]
    subprocess.run([*install, "--python", sys.executable, "--target", target, source], check=True)
    return target


@dataclass
class Place:
    """A scheduler, and workers started by hand."""

    address: str
    note: Path
    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def worker(self, name: str, **environment: str) -> subprocess.Popen[bytes]:
        """A nanny and its worker, told in ``name``.log."""
        options = ["--scheduler-file", self.note, "--interface", "lo", "--no-dashboard", "--nthreads", "1"]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [BIN / "dask", "worker", *options, "--name", name, "--local-directory", self.folder],
                env={**os.environ, **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    def said(self, name: str) -> str:
        """What a worker said so far."""
        return (self.folder / f"{name}.log").read_text()


@contextmanager
def scheduler(folder: Path) -> Iterator[Place]:
    """A scheduler of its own process; gone afterwards with all its workers."""
    note = folder / "scheduler.json"
    command = [
        BIN / "dask",
        "scheduler",
        "--port",
        "0",
        "--interface",
        "lo",
        "--no-dashboard",
        "--scheduler-file",
        note,
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    place = Place("", note, folder, [process])
    try:
        until(lambda: note.exists() and note.read_text().endswith("}"))
        place.address = json.loads(note.read_text())["address"]
        yield place
    finally:
        for started in reversed(place.processes):
            family = [*psutil.Process(started.pid).children(recursive=True)] if started.poll() is None else []
            for member in family:
                member.kill()
            started.kill()
            started.wait()


def until(true: Callable[[], object]) -> None:
    """Wait for it."""
    limit = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < limit, "it did not happen"
        time.sleep(0.05)


def test_a_worker_of_another_version_is_refused_now_and_later(
    another_rescore: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = {"PYTHONPATH": str(another_rescore)}
    with scheduler(tmp_path) as place:
        early = place.worker("early", **other)
        with pytest.raises(
            PlatformError, match=rf"do not match: rescore {OTHER} \(here {OURS}\)\. Install the same lock"
        ):
            open_cluster(Settings(cluster=place.address)).__enter__()
        assert early.poll() is None  # a client of the wrong version ends nobody's workers
        early.terminate()
        early.wait()

        place.worker("good")
        with (
            Client(place.address, set_as_default=False) as client,
            ready(place.address, WAIT_S),
        ):
            running = client.submit(time.sleep, 3)
            late = place.worker("late", **other)
            late.wait(timeout=WAIT_S)  # it ends, and its nanny with it
            assert running.result() is None
            names = [worker["name"] for worker in client.scheduler_info()["workers"].values()]
            done_by = set(client.gather([client.submit(os.getpid, pure=False) for _ in range(4)]))
        assert names == ["good"]
        assert len(done_by) == 1
        refused = f"is refused: rescore {OTHER} (the run has {OURS}). Install the same lock file there."
        assert refused in place.said("late")
    assert refused in capfd.readouterr().err
