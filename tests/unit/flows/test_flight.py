"""Cells in flight: as many as the cluster keeps busy, and nobody waits for a cluster that is lost."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from flows import lookout as looking
from flows.clusters.cluster import Cluster
from flows.flight import AT_LEAST, REFUSED, Flight, LostError, flying
from flows.lookout import Lookout
from flows.settings import Settings
from pipeline.errors import StoreError
from pipeline.terms import Cell

WAIT_S = 30.0
NOBODY: Any = None


def cells(n_cells: int) -> list[Cell]:
    return [Cell("q", "d", f"s{number}") for number in range(n_cells)]


def test_there_is_room_for_twice_the_threads_that_the_cluster_has_now() -> None:
    flight = Flight(NOBODY)
    assert flight.limit == AT_LEAST
    flight.follow(12)
    flight.send(cells(23))
    assert flight.has_room
    flight.send(cells(24))
    assert not flight.has_room
    flight.follow(13)
    assert flight.has_room
    flight.follow(1)
    assert not flight.has_room
    flight.land(cells(22))
    flight.land(cells(22))
    assert (flight.n_landed, flight.has_room) == (22, True)


def test_a_batch_starts_as_many_cells_as_there_are_places_and_more_when_the_cluster_grows() -> None:
    flight, aloft, on, enough = Flight(NOBODY), list[Cell](), threading.Event(), threading.Semaphore(0)

    def fly(cell: Cell) -> None:
        with flight.aloft(cell):
            aloft.append(cell)
            enough.release()
            assert on.wait(WAIT_S)

    with ThreadPoolExecutor(10) as pool:
        done = [pool.submit(fly, cell) for cell in cells(10)]
        assert all(enough.acquire(timeout=WAIT_S) for _ in range(AT_LEAST))
        assert not enough.acquire(timeout=0.2)
        flight.follow(4)
        assert all(enough.acquire(timeout=WAIT_S) for _ in range(4))
        assert len(aloft) == 8
        on.set()
        [future.result(WAIT_S) for future in done]
    assert flight.n_landed == 10


def test_who_waits_for_a_place_ends_when_the_cluster_is_lost_or_the_run_over() -> None:
    with flying(NOBODY) as flight, ThreadPoolExecutor(1) as pool:
        flight.limit = 0
        waiting = pool.submit(flight.aloft(cells(1)[0]).__enter__)
        flight.give_up(LostError("the scheduler is gone"))
        flight.give_up(LostError("so is the server"))
        with pytest.raises(LostError, match="the scheduler is gone"):
            waiting.result(WAIT_S)
    with flying(NOBODY) as flight:
        pass
    with pytest.raises(LostError, match="the run has ended"):
        flight.aloft(cells(1)[0]).__enter__()


class Watched:
    """A cluster whose threads, and a clock whose seconds, a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tries: int = 3) -> None:
        self.n_threads: int | None = 2
        self.now_s = 100.0
        self.n_renewed = 0
        monkeypatch.setattr(looking, "_n_threads", lambda _: self.n_threads)
        monkeypatch.setattr(looking.time, "monotonic", lambda: self.now_s)
        client: Any = type("Client", (), {"status": "running"})()
        cluster = Cluster("tcp://x", 30, "Start it.", tries, renew=self.renewed)
        self.flight = Flight(client)
        self.lookout = Lookout(self.flight, cluster, Settings())

    def renewed(self) -> None:
        self.n_renewed += 1

    def look_for(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now_s += 1
            self.lookout.look()


def test_workers_that_are_gone_for_too_long_are_started_again_thrice(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch)
    watched.look_for(100)
    watched.n_threads = 0
    watched.look_for(29)
    assert (watched.n_renewed, watched.flight.lost) == (0, None)
    watched.look_for(2)
    assert watched.n_renewed == 1
    watched.n_threads = 4
    watched.look_for(50)
    assert (watched.n_renewed, watched.flight.limit) == (1, 8)
    watched.n_threads = 0
    watched.look_for(100)
    assert watched.n_renewed == 4
    assert watched.flight.lost is None
    watched.look_for(31)
    assert "no worker for 120 s, though new ones were started 3 times. Start it." in str(watched.flight.lost)


def test_a_cluster_of_somebody_elses_is_waited_for_and_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch, tries=0)
    watched.n_threads = 0
    watched.look_for(32)
    assert "has had no worker for 30 s. Start it. What is done is reused." in str(watched.flight.lost)
    assert watched.n_renewed == 0


def test_a_scheduler_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch)
    watched.n_threads = None
    watched.look_for(29)
    watched.n_threads = 2
    watched.look_for(5)
    watched.n_threads = None
    watched.look_for(29)
    assert watched.flight.lost is None
    watched.look_for(2)
    assert "scheduler at tcp://x is gone" in str(watched.flight.lost)


def test_a_server_that_is_lost_ends_the_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(monkeypatch)
    watched.lookout.server_is_lost = lambda: True
    watched.look_for(1)
    assert "Prefect's server is gone" in str(watched.flight.lost)


def test_a_store_that_fails_cell_after_cell_is_gone_and_one_that_fails_some_is_not() -> None:
    flight, error = Flight(NOBODY), StoreError("s3://b is gone.")
    for cell in cells(9):
        for _ in range(REFUSED - 1):
            flight.refused(error)
        flight.land([cell])
    assert flight.lost is None
    for _ in range(REFUSED):
        flight.refused(error)
    assert str(flight.lost) == "the store fails cell after cell. s3://b is gone."
