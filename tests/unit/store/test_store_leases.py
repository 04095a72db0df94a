"""Leases: a run and a collection never work in a store at once, and a killed one keeps nobody for long."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pipeline.errors import PlatformError
from pipeline.grid.sweep import collect
from pipeline.store import leases
from pipeline.store.blobs import Store

GARBAGE = "results/" + "0" * 64 + ".json"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(str(tmp_path / "store"))
    made.put(GARBAGE, b"left by a run that was killed")
    return made


def aged(store: Store, path: str, seconds: float) -> None:
    """Have an object been written so long ago."""
    at_s = time.time() - seconds
    os.utime(store.url(path), (at_s, at_s))


def test_a_collection_removes_nothing_while_a_run_is_at_work(store: Store) -> None:
    with leases.at_work(store):
        sweep, n_removed = collect(store, older_than_s=-60)
        assert (sweep.removable, n_removed) == ((GARBAGE,), 0)
        assert store.exists(GARBAGE)
    assert collect(store, older_than_s=-60)[1] == 1
    assert store.listing() == {}


def test_the_lease_of_a_killed_run_counts_no_more_when_it_is_old_and_is_swept(store: Store) -> None:
    killed = leases.Lease(store, leases.RUN)
    assert collect(store, older_than_s=-60)[1] == 0
    aged(store, killed.path, leases.EXPIRES_S[leases.RUN] + 1)
    assert collect(store, older_than_s=-60)[1] == 1
    assert store.listing() == {}


def test_a_collection_ends_where_a_run_begins(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.grid.sweep.REMOVED_BETWEEN_LOOKS", 1)
    store.put(GARBAGE.replace("0", "1"), b"more of it")
    remove, began = Store.remove, list[leases.Lease]()

    def removed(self: Store, path: str) -> None:
        remove(self, path)
        if not began:
            began.append(leases.Lease(store, leases.RUN))

    monkeypatch.setattr(Store, "remove", removed)
    sweep, n_removed = collect(store, older_than_s=-60)
    assert (len(sweep.removable), n_removed) == (2, 1)


def test_a_run_waits_for_a_collection(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    collection, waited = leases.Lease(store, leases.COLLECTION), list[float]()

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        collection.end()

    monkeypatch.setattr(leases.time, "sleep", sleep)
    with leases.at_work(store):
        assert len(waited) == 1


def test_leases_are_shared_within_a_process_and_gone_at_the_end(store: Store) -> None:
    with leases.at_work(store):
        with leases.at_work(store):
            assert len(store.listing(leases.FOLDER)) == 1
        assert len(store.listing(leases.FOLDER)) == 1
        leases.ensure_held(store)
    assert store.listing(leases.FOLDER) == {}
    leases.ensure_held(store)  # no run of this process has one: nothing is asked


def test_a_run_that_could_not_renew_its_lease_publishes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with leases.at_work(store):
        now_s = time.time()
        monkeypatch.setattr(leases.time, "time", lambda: now_s + leases.EXPIRES_S[leases.RUN])
        with pytest.raises(PlatformError, match="could not renew its lease"):
            leases.ensure_held(store)
        monkeypatch.setattr(leases.time, "time", lambda: now_s + 1)
        with pytest.raises(PlatformError, match="could not renew its lease"):  # what is lost stays lost
            leases.ensure_held(store)
