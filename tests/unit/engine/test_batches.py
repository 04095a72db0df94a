"""Cells of many trials: trials and labels lie in batches, and everything that knows a store knows both forms."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny
import xarray as xr
from distributed import Client, LocalCluster

import pipeline
from flows.steps import finish, score_here
from pipeline.engine import tasks
from pipeline.engine.alignments import align_cell
from pipeline.engine.cell import figured, lacks, score_cell
from pipeline.engine.dispute import explain
from pipeline.engine.plan import Plan, plan
from pipeline.engine.stored import labelstore, trialstore
from pipeline.grid import Run, sweep
from pipeline.grid.integrity import deep_faults
from pipeline.store import batched
from pipeline.store.blobs import Store
from pipeline.terms import Evaluation
from tests.unit.engine import whole_store

QUERIES = ("alpha", "beta", "gamma", *(f"q{n}" for n in range(12)))
FOLDERS = ("trials", "labels")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """Fifteen queries with some twenty detections each."""
    rng, rows = random.Random(5), {}
    for query in QUERIES:
        places = [(rng.choice("ab"), rng.randrange(390) / 10) for _ in range(rng.randrange(12, 30))]
        rows[query] = [(file, begin, rng.randrange(40) / 10, rng.choice(("YES", "NO"))) for file, begin in places]
    for query, found in tiny.GOOD.items():
        rows[query] += found
    folder = tmp_path_factory.mktemp("many")
    return tiny.write(folder, *QUERIES, systems={"good": tiny.stdlist(rows)})


@pytest.fixture
def in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", 90)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


@pytest.fixture(scope="module")
def undivided(asked: Evaluation, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Run]:
    store = Store(str(tmp_path_factory.mktemp("undivided")))
    return store, run(asked, store)


def scored(asked: Evaluation, store: Store, client: Client | None = None) -> Plan:
    planned = plan(asked, store)
    score_cell(store, planned, planned.jobs[0].cell, client)
    return planned


def run(asked: Evaluation, store: Store) -> Run:
    planned = plan(asked, store)
    return finish(store, planned, score_here(store, planned, planned.jobs))


def at_another_point(asked: Evaluation) -> Evaluation:
    return replace(asked, overrides=(("p_target_effective", "0.3"),))


def index(store: Store, kind: str) -> str:
    [path] = [path for path in store.listing(kind) if path.count("/") == 1]
    return path


def parts(store: Store, kind: str) -> list[str]:
    """The objects of a folder of the store but its index."""
    return [path for path in store.listing(kind) if path.count("/") > 1]


def contents(store: Store, *folders: str) -> dict[str, bytes]:
    found = whole_store.contents(store, "refs", "performance")
    return {path: data for path, data in found.items() if not folders or path.startswith(folders)}


@pytest.mark.parametrize("rows", [90, 1])
def test_batches_say_what_one_object_says(
    asked: Evaluation, store: Store, undivided: tuple[Store, Run], monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", rows)
    scored(asked, store)
    for kind in FOLDERS:
        assert len(parts(store, kind)) >= (12 if rows == 1 else 3)
        assert parts(undivided[0], kind) == []
        assert index(store, kind) == index(undivided[0], kind)
        found, wanted = (batched.opened(one, index(one, kind)).dataset.load() for one in (store, undivided[0]))
        assert found.identical(wanted)
    assert contents(store, "results") == contents(undivided[0], "results")
    whole_store.check(store)


@pytest.mark.parametrize("rows", [90, 1])
def test_tasks_of_any_size_leave_the_same_bytes(
    asked: Evaluation, store: Store, undivided: tuple[Store, Run], monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    made, count = [], tasks.counted
    monkeypatch.setattr(tasks, "ROWS_PER_TASK", rows)
    monkeypatch.setattr(tasks, "counted", lambda *given: made.append(given) or count(*given))
    scored(asked, store)
    assert len(made) >= (12 if rows == 1 else 3)
    folders = (*FOLDERS, "references", "results")
    assert contents(store, *folders) == contents(undivided[0], *folders)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=4, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as found,
    ):
        yield found


def bounded(rows: int) -> None:
    """Batches of so many trials, in this process."""
    trialstore.ROWS_PER_BATCH = rows


@pytest.mark.usefixtures("in_batches")
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_the_bytes_of_batches_do_not_depend_on_who_wrote_them(
    asked: Evaluation, store: Store, tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch, n_workers: int
) -> None:
    alone = Store(str(tmp_path / "alone"))
    scored(asked, alone)
    monkeypatch.setattr("pipeline.engine.cell.BYTES_PER_TASK", 0)
    client.run(bounded, 90)
    workers, submit = sorted(client.scheduler_info()["workers"])[:n_workers], Client.submit
    monkeypatch.setattr(Client, "submit", lambda *given, **named: submit(*given, workers=workers, **named))
    scored(asked, store, client)
    assert len(parts(store, "labels")) >= 3
    assert contents(store) == contents(alone)


@pytest.mark.usefixtures("in_batches")
@pytest.mark.parametrize("kind", FOLDERS)
@pytest.mark.parametrize("what", ["index", "first", "last"])
@pytest.mark.parametrize("is_lost", [False, True])
def test_what_is_damaged_or_lost_is_found_and_made_again(
    asked: Evaluation, store: Store, tmp_path: Path, kind: str, what: str, *, is_lost: bool
) -> None:
    done, before = run(asked, store), contents(store, *FOLDERS)
    path = index(store, kind) if what == "index" else parts(store, kind)[0 if what == "first" else -1]
    data = store.get(path)
    if is_lost:
        store.remove(path)
    else:
        store.put(path, data[:80] + bytes(40) + data[120:])
    assert deep_faults(store, done.id)[0] == [index(store, kind) if what != "index" else path]
    again, alone = scored(at_another_point(asked), store), Store(str(tmp_path / "alone"))
    assert contents(store, *FOLDERS) == before
    scored(at_another_point(asked), alone)
    assert store.get(again.jobs[0].path) == alone.get(again.jobs[0].path)
    assert deep_faults(store, done.id)[0] == []


@pytest.mark.usefixtures("in_batches")
@pytest.mark.parametrize("kind", FOLDERS)
def test_batches_that_changed_places_are_damage(asked: Evaluation, store: Store, kind: str) -> None:
    done = run(asked, store)
    one, other = parts(store, kind)[:2]
    data = store.get(one)
    store.put(one, store.get(other))
    store.put(other, data)
    assert deep_faults(store, done.id)[0] == [index(store, kind)]


@pytest.mark.usefixtures("in_batches")
def test_a_run_that_was_stopped_leaves_labels_that_the_next_one_uses(
    asked: Evaluation, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, write, written = Store(str(tmp_path / "alone")), labelstore.write_batch, []
    scored(asked, alone)

    def stopping(*given: object) -> object:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(given)
        return write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(labelstore, "write_batch", stopping)
    with pytest.raises(KeyboardInterrupt):
        scored(asked, store)
    assert len(store.listing("labels")) == len(parts(store, "labels")) == 2
    planned = plan(asked, store)
    assert lacks(store, planned, planned.jobs[:1]) == ["labels"]
    monkeypatch.setattr(labelstore, "write_batch", write)
    align, is_aligned = tasks.counted, []
    monkeypatch.setattr(tasks, "counted", lambda *given: is_aligned.append(given[4] is None) or align(*given))
    scored(asked, store)
    assert is_aligned == [False] * 2 + [True] * (len(parts(store, "labels")) - 2)
    assert contents(store) == contents(alone)


@pytest.mark.usefixtures("in_batches")
def test_trials_are_none_until_their_index_is_written(
    asked: Evaluation, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, n_written = Store.put, [0]

    def stopping(self: Store, path: str, data: bytes) -> None:
        n_written[0] += path.startswith("trials/")
        if n_written[0] > 2:
            raise KeyboardInterrupt
        put(self, path, data)

    monkeypatch.setattr(Store, "put", stopping)
    with pytest.raises(KeyboardInterrupt):
        scored(asked, store)
    monkeypatch.setattr(Store, "put", put)
    planned = plan(asked, store)
    assert len(store.listing("trials")) == 2
    assert lacks(store, planned, planned.jobs[:1]) == ["all"]
    later = time.time() + 2 * sweep.DAY_S
    assert set(store.listing("trials")) < set(sweep.survey(store, now_s=later).removable)
    scored(asked, store)
    whole_store.check(store)


@pytest.mark.usefixtures("in_batches")
def test_a_sweep_keeps_batches_with_their_index_and_takes_the_index_first(asked: Evaluation, store: Store) -> None:
    run(asked, store)
    later = time.time() + 2 * sweep.DAY_S
    assert sweep.survey(store, now_s=later).removable == ()
    for path in store.listing("refs"):
        store.remove(path)
    swept = sweep.survey(store, now_s=later)
    for kind in FOLDERS:
        own = [path for path in swept.removable if path.startswith(kind)]
        assert own == [index(store, kind), *parts(store, kind)]
    sweep.remove(store, swept)
    assert store.listing() == {}


@pytest.mark.usefixtures("in_batches")
def test_the_face_opens_batches(asked: Evaluation, store: Store, undivided: tuple[Store, Run]) -> None:
    done = run(asked, store)
    planned = plan(asked, store)
    cell = planned.jobs[0].cell
    one, other = pipeline.open_trials(store, done, cell), pipeline.open_trials(*undivided, cell)
    for chosen in ({"query": "q7"}, {"query": ["q9", "q1"]}, {"query": "beta", "time": slice(10, 75)}):
        assert one.sel(chosen).sizes["trial"] > 3
        assert one.sel(chosen).load().identical(other.sel(chosen).load())
    assert one.load().identical(other.load())
    assert repr(explain(store, planned, cell, "beta")) == repr(explain(undivided[0], planned, cell, "beta")) != "()"
    found, wanted = (align_cell(place, planned, cell).rows for place in (store, undivided[0]))
    for name in wanted.columns:
        np.testing.assert_array_equal(found[name], wanted[name])


@pytest.mark.usefixtures("in_batches")
def test_asking_what_if_keeps_no_labels(asked: Evaluation, store: Store) -> None:
    planned = plan(asked, store)
    figured(store, planned, planned.jobs[0])
    assert parts(store, "trials") != []
    assert store.listing("labels") == store.listing("results") == {}


@pytest.mark.usefixtures("in_batches")
def test_the_readme_opens_a_batch_with_public_tools(asked: Evaluation, store: Store) -> None:
    scored(asked, store)
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    [block] = [block for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "trial_of_batch" in block]
    trials = xr.open_zarr(f"zip::{store.url(index(store, 'trials'))}")
    assert trials.sizes["trial"] == 0
    first, n_rows = (int(trials[name].sel(query="q7")) for name in ("first_row", "n_rows"))
    known = {"xr": xr, "trials": trials, "first": first}
    exec(block.replace("rescore-demo/store", store.root), known)  # noqa: S102
    rows, whole = known["batch"], batched.opened(store, index(store, "trials")).dataset
    begin = int(rows["first_row"].sel(query="q7"))
    assert int(rows["n_rows"].sel(query="q7")) == n_rows > 10
    for name in ("score", "time", "begin", "line"):
        assert np.array_equal(rows[name][begin : begin + n_rows], whole[name][first : first + n_rows])
    assert all({"units", "long_name", "source"} <= set(one.attrs) for one in trials.variables.values())
