"""Damage that changes no size: found by whoever looks, and mended by a run that has nothing else to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flows.rescore import run_evaluation
from flows.steps import finish, score_here
from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.grid import faults, latest
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells

SHALLOW = ("results", "reports", "plans", "grids")
DEEP = ("references", "trials", "labels")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("whole")
    evaluation, store = cells.write(root), Store(str(root / "store"))
    planned = plan(load_evaluation(str(evaluation)), store)
    finish(store, planned, score_here(store, planned, planned.jobs))
    return root


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "store", tmp_path / "store")).parent


def flip(store: Store, folder: str) -> str:
    """Change one bit of the largest object of a folder."""
    sizes = store.listing(folder)
    path = max(sizes, key=lambda path: (sizes[path], path))
    data = bytearray(store.get(path))
    data[len(data) // 2] ^= 1
    store.put(path, bytes(data))
    return path


@pytest.mark.parametrize("folder", [*SHALLOW, *DEEP])
def test_show_verify_reads_everything_that_a_run_stands_on(
    place: Path, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(str(place / "store"))
    path = flip(store, folder)
    capsys.readouterr()
    assert main(["show", "grid", "--verify", "--store", store.root]) == 3
    told = [line for line in capsys.readouterr().out.splitlines() if "damaged: " in line]
    named = path.partition(".zarr")[0] if folder in ("grids", "trials") else path
    assert len(told) == 1
    assert named in told[0]


@pytest.mark.parametrize("folder", ["results", "reports", "grids"])
def test_a_run_with_nothing_to_do_finds_and_mends_it(made: Path, place: Path, folder: str) -> None:
    store = Store(str(place / "store"))
    before = store.get(path := flip(store, folder))
    summary = run_evaluation(str(made / "evaluation.yaml"), store=store.root, quiet=True)
    assert store.get(path) != before
    assert store.get(path) == Store(str(made / "store")).get(path)
    assert faults(store, latest(store, "grid").id) == []
    assert summary.work["labels"]["made"] == summary.work["trials"]["made"] == 0


def test_a_sound_run_is_not_written_again(
    made: Path, place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(str(place / "store"))
    planned, before = plan(load_evaluation(str(made / "evaluation.yaml")), store), latest(store, "grid")
    with monkeypatch.context() as closed:
        closed.setattr(Store, "put", lambda _, path, __: pytest.fail(f"{path} is written again"))
        assert finish(store, planned, score_here(store, planned, ())).id == before.id
    assert caplog.records == []


def test_alignments_are_part_of_the_run_that_asks_for_them(
    made: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, evaluation = Store(str(place / "store")), str(made / "evaluation.yaml")
    before = latest(store, "grid")
    summary = run_evaluation(evaluation, store=store.root, quiet=True, alignments=True)
    run = latest(store, "grid")
    assert (run.id, summary.n_reused) == (summary.run_id, 8)
    assert run.id != before.id
    tables = [name for name in run.reports if name.startswith(("p/", "q/"))]
    assert len(tables) == 3 * 8
    assert summary.paths["alignments"].rpartition("/")[2].startswith(run.id)
    lines = store.get(run.reports["p/d/good/alignment.csv"]).decode().splitlines()
    assert len(lines) > 3
    assert run_evaluation(evaluation, store=store.root, quiet=True, alignments=True).run_id == run.id
    store.put(run.reports["p/d/good/alignment.csv"], b"something else")
    assert main(["show", "grid", "--verify", "--store", store.root]) == 3
    assert "damaged: reports" in capsys.readouterr().out
    run_evaluation(evaluation, store=store.root, quiet=True, alignments=True)
    assert store.get(run.reports["p/d/good/alignment.csv"]).decode().splitlines() == lines
