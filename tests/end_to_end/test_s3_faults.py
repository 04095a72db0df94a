"""Runs on a bucket while the server dies, the network fails and keys are withdrawn; and objects that were spoiled."""

from __future__ import annotations

import os
import random
import threading
import time

import pytest

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine import references
from pipeline.engine.plan import plan
from pipeline.errors import PlatformError
from pipeline.grid import faults, latest
from pipeline.store import manifest
from pipeline.store.blobs import Store
from tests import s3_faults
from tests.s3_faults import FaultProxy
from tests.s3_server import S3Server
from tests.unit.engine import grid_of_cells as cells
from tests.unit.engine import whole_store

STORM_S = float(os.environ.get("RESCORE_STORM_S", "5"))
N_DAMAGED = int(os.environ.get("RESCORE_DAMAGED", "5"))
NEEDED_FOR = {
    "trials": ("results", "totals", "partials"),
    "partials": ("results", "totals"),
    "totals": ("results",),
    "references": ("results", "totals", "partials"),
    "tables": ("results", "totals", "partials", "references"),
    "kin": ("results", "totals", "partials", "references"),
}
"""What is taken away too, so that a run needs an object of a kind."""


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(cells.write(tmp_path_factory.mktemp("evaluation")))


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
    chance, done = random.Random(9), threading.Event()

    def kill() -> None:
        for _ in range(2):
            if not done.wait(chance.uniform(0.2, 0.8)):
                s3_here.kill()
                time.sleep(0.5)
                s3_here.start()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        run(evaluation, store)
    finally:
        done.set()
        killer.join()
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


def spoil(store: Store, path: str, how: str, data: bytes) -> None:
    """Lose an object, cut it short, or flip one bit of it."""
    if how == "lost":
        store.remove(path)
    elif how == "cut":
        store.put(path, data[: len(data) // 2])
    else:
        at = len(data) // 2
        store.put(path, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


@pytest.mark.timeout(900)
def test_each_spoiled_object_is_noticed_and_made_again(
    s3_here: S3Server, evaluation: str, undisturbed: dict[str, bytes]
) -> None:
    store = Store(f"s3://{s3_here.bucket()}/store")
    first = run(evaluation, store)
    paths = sorted(undisturbed)
    for number, path in enumerate(random.Random(5).sample(paths, min(N_DAMAGED, len(paths)))):
        how = ("lost", "cut", "flipped")[number % 3]
        spoil(store, path, how, undisturbed[path])
        for other in [one for folder in NEEDED_FOR.get(path.partition("/")[0], ()) for one in store.listing(folder)]:
            store.remove(other)
        references.load.cache_clear()
        assert run(evaluation, store) == first
        assert store.get(path) == undisturbed[path], (how, path)
        assert whole_store.contents(store, "refs") == undisturbed, (how, path)
