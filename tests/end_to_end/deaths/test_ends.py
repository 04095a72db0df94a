"""Every wait has an end: SIGTERM where Prefect's server is gone, and studies that lose a worker or that server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.studies import conclude, evaluations, finish_here, prepare
from pipeline.config.meta_file import load_study
from pipeline.demo import evaluation as synthetic
from pipeline.store.blobs import Store
from tests.end_to_end.deaths.killing import BIN, WAIT_S, below, having, left_in, until
from tests.unit.engine import grid_of_cells as cells

PATIENCE = {"RESCORE_NO_WORKER_S": "10", "RESCORE_WORKERS": "2"}
STUDY = """\
name: ends
evaluations:
  y1: {year: 2013, evaluation: one/evaluation.yaml}
resampling: {replicates: 1500, seed: 5}
"""
pytestmark = pytest.mark.timeout(900)


@contextmanager
def started(place: Path, *command: str | Path, **more: str) -> Iterator[subprocess.Popen[str]]:
    """A command of ours in a process of its own, with an embedded Prefect server and files in ``place/tmp``."""
    (place / "tmp").mkdir(exist_ok=True)
    environment = {
        **os.environ,
        **PATIENCE,
        "TMPDIR": str(place / "tmp"),
        "PREFECT_HOME": str(place / "prefect"),
        **more,
    }
    environment.pop("PREFECT_API_URL", None)
    with subprocess.Popen(
        [BIN / "rescore", *command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            yield run
        finally:
            run.kill()


def kill(run: subprocess.Popen[str], word: str) -> None:
    """End one of the run's processes whose command has a word."""
    until(lambda: run.poll() is not None or having(below(run.pid), word), f"a process with {word}")
    for one in having(below(run.pid), word)[:1]:
        os.kill(one.pid, signal.SIGKILL)


def nothing_is_left(place: Path) -> None:
    until(lambda: not left_in(place / "tmp"), "no processes left", limit_s=60)
    until(lambda: not list((place / "tmp").iterdir()), "no files left", limit_s=60)


def test_sigterm_ends_a_run_whose_server_is_gone(tmp_path: Path) -> None:
    cells.write(tmp_path)
    for number in range(30):
        cells.submit(tmp_path, f"late{number}", 0.5 + 0.02 * number)
    store = Store(str(tmp_path / "store"))
    with started(tmp_path, "run", tmp_path / "evaluation.yaml", "--store", store.root, "--cluster", "local") as run:
        until(lambda: run.poll() is not None or store.listing("results"), "a result")
        kill(run, "uvicorn")
        run.send_signal(signal.SIGTERM)
        _, said = run.communicate(timeout=WAIT_S)
    assert run.returncode in (3, 128 + signal.SIGTERM, -signal.SIGTERM), said
    assert "Traceback" not in said
    assert store.listing("results")
    nothing_is_left(tmp_path)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A study's file, and its statistics where nothing died."""
    place = tmp_path_factory.mktemp("study")
    synthetic.write_evaluation(place / "one")
    (place / "meta.yaml").write_text(STUDY)
    asked_for, store = load_study(str(place / "meta.yaml")), Store(str(place / "undisturbed"))
    planned = prepare(asked_for, store)
    conclude(asked_for, store, evaluations(planned, {one.name: finish_here(one) for one in planned}))
    return place, statistics(store)


def asked(place: Path, store: Path) -> list[str]:
    return ["meta", str(place / "meta.yaml"), "--store", str(store), "--cluster", "local", "--quiet"]


def statistics(store: Store) -> bytes:
    [path] = [path for path in store.listing("studies") if path.endswith("statistics.json")]
    return store.get(path)


@pytest.mark.parametrize(
    ("victim", "codes"), [("spawn_main", (0,)), ("uvicorn", (0, 3))], ids=["a worker", "Prefect's server"]
)
def test_a_study_that_loses_something_ends_and_the_next_gives_the_same_bytes(
    study: tuple[Path, bytes], tmp_path: Path, victim: str, codes: tuple[int, ...]
) -> None:
    place, expected = study
    store = Store(str(tmp_path / "store"))
    command = asked(place, tmp_path / "store")
    with started(tmp_path, *command) as run:
        until(lambda: run.poll() is not None or store.listing("resamples"), "replicates")
        kill(run, victim)
        _, said = run.communicate(timeout=WAIT_S)
    assert run.returncode in codes, said
    assert "Traceback" not in said
    nothing_is_left(tmp_path)
    with started(tmp_path, *command) as again:
        _, said = again.communicate(timeout=WAIT_S)
    assert again.returncode == 0, said
    assert statistics(store) == expected


def test_an_output_that_kills_every_worker_that_opens_it_is_a_cell_with_a_reason(faults: Path, tmp_path: Path) -> None:
    """As one that takes all memory would: the hook of the case ends workers, and no others."""
    case = tmp_path / "case"
    shutil.copytree(faults / "10-output-that-kills-its-worker", case)
    asked_for = ["run", str(case / "ev.yaml"), "--store", str(case / "st"), "--json"]
    with started(tmp_path, *asked_for, "--cluster", "local", PYTHONPATH=str(case)) as run:
        said, errors = run.communicate(timeout=WAIT_S)
    assert run.returncode == 0, errors
    why = {row["system"]: row["failed"] for row in json.loads(said)["board"] if row["failed"]}
    assert why == {"poison": "worker_died", "charlie": "refused_input", "foxtrot": "missing_output"}
    nothing_is_left(tmp_path)
    with started(tmp_path, *asked_for, "--cluster", "none") as again:
        said, errors = again.communicate(timeout=WAIT_S)
    assert again.returncode == 0, errors
    assert {row["system"]: row["failed"] for row in json.loads(said)["board"]}["poison"] == ""
