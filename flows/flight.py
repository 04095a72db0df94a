"""Which cells are in flight: at least twice as many as the cluster has threads, whatever joins or leaves it meanwhile.

A cell waits for most of its time on workers; one that is in flight costs this process a thread that sleeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Condition

from distributed import Client

from pipeline.errors import PlatformError, StoreError
from pipeline.terms import Cell

PER_THREAD = 2
"""Cells in flight for each worker thread: while one is worked on, the next is there already."""
AT_LEAST = 4
"""Cells in flight however few workers there are: a cluster that grows finds work before anybody has looked at it."""
REFUSED = 4
"""Cells, one after the other, that a store fails before it is taken for gone."""


class LostError(PlatformError):
    """Scheduler, workers or server are gone, and have not come back: trying cell after cell would take hours."""


class Flight:
    """The cells of one run that are in flight, the one client they share, and how many they may be."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.lost: LostError | None = None
        """Why nothing more comes of this cluster; who waits for it ends with that."""
        self.limit = AT_LEAST
        """Cells that may be in flight now."""
        self._changed = Condition()
        self._n_refused = 0
        self._n_changes = self._n_seen = self._n_aloft = 0
        self._sent, self._landed = set[Cell](), set[Cell]()

    def follow(self, n_threads: int) -> None:
        """Let so many fly as a cluster of ``n_threads`` worker threads keeps busy with."""
        with self._changed:
            self.limit = max(AT_LEAST, PER_THREAD * n_threads)
            self._changed.notify_all()

    def give_up(self, why: LostError) -> None:
        """Have everybody who waits, for a place or for the cluster, end with ``why``."""
        with self._changed:
            self.lost = self.lost or why
            self._changed.notify_all()

    def refused(self, error: StoreError) -> None:
        """Count a cell that the store failed, after all its patience: where several in a row are, the store is gone."""
        with self._changed:
            self._n_refused += 1
            is_lost = self._n_refused >= REFUSED
        if is_lost:
            self.give_up(LostError(f"the store fails cell after cell. {error}"))

    def send(self, cells: Iterable[Cell]) -> None:
        """Count cells as given to a task."""
        self._sent |= set(cells)

    @property
    def has_room(self) -> bool:
        """Whether the cells given to tasks leave places in flight."""
        return len(self._sent) - len(self._landed) < self.limit

    @property
    def n_landed(self) -> int:
        """Cells that have ended, one way or another."""
        return len(self._landed)

    def land(self, cells: Iterable[Cell]) -> None:
        """Count cells as ended, once."""
        with self._changed:
            self._landed |= set(cells)
            self._n_refused = 0
            self._n_changes += 1
            self._changed.notify_all()

    @contextmanager
    def aloft(self, cell: Cell) -> Iterator[None]:
        """A place in flight for a cell, waited for; a cell that comes out of it in peace has landed.

        Raises what the cluster was lost by.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.lost is not None or self._n_aloft < self.limit)
            if self.lost is not None:
                raise self.lost
            self._n_aloft += 1
        try:
            yield
            self.land([cell])
        finally:
            with self._changed:
                self._n_aloft -= 1
                self._changed.notify_all()

    def wait(self, timeout_s: float) -> None:
        """Until anything has landed since the last time, the cluster is lost, or the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._n_changes != self._n_seen or self.lost is not None, timeout_s)
            self._n_seen = self._n_changes


@contextmanager
def flying(client: Client) -> Iterator[Flight]:
    """A flight; when the context ends, however it does, nobody waits on."""
    flight = Flight(client)
    try:
        yield flight
    finally:
        flight.give_up(LostError("the run has ended. Run again; what is done is reused."))
