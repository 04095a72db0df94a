"""Two runs at once on one store, and publishing that dies: readers see one whole run, or the other."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grid_of_cells as cells
import pytest
import whole_store

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import Plan, missing, plan
from pipeline.engine.work import Work
from pipeline.errors import StoreError
from pipeline.grid import Run, faults, latest, load_grid
from pipeline.store import manifest
from pipeline.store.blobs import Store
from pipeline.store.local import Folder

ROOT = Path(__file__).parents[3]
ONE_RUN = """
import sys, time
from pathlib import Path
from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.store.blobs import Store
evaluation, place, gate = sys.argv[1:]
import pipeline.report.write
print("ready", flush=True)
while not Path(gate).exists():
    time.sleep(0.005)
store = Store(place)
planned = plan(load_evaluation(evaluation), store)
print(finish(store, planned, score_here(store, planned, missing(planned.jobs, store))).id)
"""


def scored(folder: Path, store: Store) -> tuple[Plan, Work]:
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    return planned, score_here(store, planned, missing(planned.jobs, store))


def run(folder: Path, store: Store) -> Run:
    return finish(store, *scored(folder, store))


def corrected(folder: Path, old: str, new: str) -> Path:
    key = folder / "d.rttm"
    text = key.read_text()
    assert old in text
    key.write_text(text.replace(old, new))
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation with a published run; nobody changes it."""
    root = tmp_path_factory.mktemp("together")
    cells.write(root)
    run(root, Store(str(root / "store")))
    return root


def test_two_runs_at_once_are_both_whole_and_readers_see_one_or_the_other(base: Path, tmp_path: Path) -> None:
    folders = [Path(shutil.copytree(base, tmp_path / name)) for name in ("left", "right")]
    corrected(folders[0], "a 1 30.0", "a 1 30.5")
    corrected(folders[1], "a 1 10.0", "a 1 10.5")
    store, gate = Store(str(folders[0] / "store")), tmp_path / "gate"
    first = latest(store, "grid")
    ours = [
        subprocess.Popen(
            [sys.executable, "-c", ONE_RUN, str(folder / "evaluation.yaml"), store.root, str(gate)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for folder in folders
    ]
    assert [process.stdout.readline() for process in ours] == ["ready\n"] * 2
    gate.touch()
    seen = set()
    while any(process.poll() is None for process in ours):
        found = latest(store, "grid")
        assert faults(store, found.id) == []
        assert load_grid(store, found)[""].attrs["run"] == found.id
        seen.add(found.id)
    ids = [process.communicate()[0].strip() for process in ours]
    assert [process.returncode for process in ours] == [0, 0]
    assert seen <= {first.id, *ids}
    assert {entry["run"] for entry in manifest.history(store, "grid").values()} == {first.id, *ids}
    assert latest(store, "grid").id in ids
    assert [fault for one in ids for fault in faults(store, one)] == []
    whole_store.check(store)
    for folder, one in zip(folders, ids, strict=True):
        clean = Store(str(folder / "clean"))
        assert run(folder, clean).id == one
        results = whole_store.contents(clean, "refs", "reports", "runs")
        assert {path: store.get(path) for path in results} == results


class Dying:
    """A process that dies at one of its writes to a folder: nothing is written from then on."""

    def __init__(self, n_left: int) -> None:
        self.n_left, self.lock = n_left, threading.Lock()

    def __call__(self, write: Callable[..., Any]) -> Callable[..., Any]:
        """A way to write until then."""

        def counted(*arguments: Any) -> Any:
            with self.lock:
                self.n_left -= 1
                if self.n_left < 0:
                    raise StoreError("the process died here")
            return write(*arguments)

        return counted


def test_publishing_that_dies_at_any_write_leaves_the_run_before(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = corrected(Path(shutil.copytree(base, tmp_path / "copy")), "a 1 30.0", "a 1 30.5")
    store = Store(str(folder / "store"))
    first = latest(store, "grid")
    planned, work = scored(folder, store)
    before = whole_store.contents(store)

    undisturbed = Store(str(shutil.copytree(folder / "store", tmp_path / "undisturbed")))
    second = finish(undisturbed, planned, work)
    wanted = whole_store.contents(undisturbed)
    n_writes = len(wanted) - len(before)

    rng = random.Random(8)
    for n_done in sorted({*rng.sample(range(n_writes), 4), n_writes - 3, n_writes - 2, n_writes - 1}):
        with monkeypatch.context() as patched:
            dying = Dying(n_done)
            for name in ("put", "create"):
                patched.setattr(Folder, name, dying(getattr(Folder, name)))
            with pytest.raises(StoreError, match="died here"):
                finish(store, planned, work)
        assert latest(store, "grid").id == first.id
        assert faults(store, first.id) == []
    finish(store, planned, work)
    assert latest(store, "grid").id == second.id
    again = whole_store.contents(store)
    assert again.keys() == wanted.keys()  # references say what each execution took
    assert {path for path in wanted if again[path] != wanted[path]} <= set(store.listing("refs"))
