"""Leases: who is at work in a store, so that a collection takes nothing that a run is about to use.

A run leaves ``leases/run-<id>.json`` and writes it again while it lasts, a collection ``leases/gc-<id>.json``. Each
writes its own first and looks for others then, so that of two that meet one at least sees the other.
The collection gives way; the run waits until it has. A lease that nobody renewed is that of a process that was killed,
and counts no more. How old leases are is said by the store's clock alone: clocks of machines may differ.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from pipeline.errors import PlatformError, StoreError
from pipeline.store import faults
from pipeline.store.blobs import Store

FOLDER = "leases"
RUN, COLLECTION = "run", "gc"
BEAT_S = 60.0
"""How often a run renews its lease."""
EXPIRES_S = {RUN: 900.0, COLLECTION: 300.0}
"""After how long without renewal a lease of a kind counts no more."""
MARGIN_S = 200.0
"""What an operation of a store takes at most, its tries again included: who holds a lease begins none that may end
after it."""
_LOOK_S = 1.0
_LOG = logging.getLogger("rescore")


class Lease:
    """A lease that is held. ``renew`` may be called by another thread."""

    def __init__(self, store: Store, kind: str) -> None:
        self.store, self.kind = store, kind
        self.path = f"{FOLDER}/{kind}-{uuid4().hex}.json"
        self.n_holders = 1
        self._is_lost = False
        self._renewed_s = time.time()
        self._write()

    def renew(self) -> None:
        """Write it again, unless it was left alone for so long that it may have counted no more for a while."""
        began_s = time.time()
        if self.is_held():
            self._write()
            self._renewed_s = began_s

    def is_held(self) -> bool:
        """Whether an operation that begins now ends while the lease counts."""
        elapsed_s = time.time() - self._renewed_s
        self._is_lost = self._is_lost or not 0 <= elapsed_s < EXPIRES_S[self.kind] - MARGIN_S
        return not self._is_lost

    def others(self, kind: str) -> list[str]:
        """Leases of a kind that count; its own is the clock."""
        times = self.store.times(FOLDER)
        now_s = times.get(self.path, max(times.values(), default=0.0))
        return [path for path, at_s in times.items() if kind_of(path) == kind and now_s - at_s < EXPIRES_S[kind]]

    def sweep(self) -> None:
        """Remove the leases of killed processes."""
        times = self.store.times(FOLDER)
        now_s = times.get(self.path, 0.0)
        for path, at_s in times.items():
            if now_s - at_s >= EXPIRES_S.get(kind_of(path), 0.0):
                self.store.remove(path)

    def end(self) -> None:
        """Remove it; where the store does not let go of it, it counts until it is old."""
        try:
            self.store.remove(self.path)
        except StoreError as error:
            _LOG.warning("%s stays in the store until it is old: %s", self.path, error)

    def _write(self) -> None:
        about = {"kind": self.kind, "host": socket.gethostname(), "pid": os.getpid()}
        self.store.put_sealed(self.path, json.dumps(about, sort_keys=True).encode())


_HELD: dict[str, Lease] = {}
"""The run's lease that this process holds, by the store's root."""
_LOCK = threading.Lock()


@contextmanager
def at_work(store: Store) -> Iterator[None]:
    """Keep collections from the store while the context lasts. Within one, or beside one of this process, it is shared.

    Waits for a collection that is under way. A store that may only be read needs no lease: who has nothing to write
    ends well, and whatever is written there raises ``StoreError``.
    """
    with _LOCK:
        held = _HELD.get(store.root)
        if held is not None:
            held.n_holders += 1
    try:
        lease = held or _begun(store)
    except StoreError as error:
        if not faults.is_read_only(error):
            raise
        _LOG.info("the store cannot be written: a run that finds all it needs there goes on without a lease")
        yield
        return
    try:
        with _renewing(lease):
            yield
    finally:
        with _LOCK:
            lease.n_holders -= 1
            is_last = not lease.n_holders
            if is_last and _HELD.get(store.root) is lease:
                del _HELD[store.root]
        if is_last:
            lease.end()


def ensure_held(store: Store) -> None:
    """Raise ``PlatformError`` where this process's run lost its lease: objects that it stands on may be gone.

    Nothing is asked where no run of this process has one.
    """
    lease = _HELD.get(store.root)
    if lease is not None and not lease.is_held():
        raise PlatformError(
            f"{store.url('')}: the run could not renew its lease for minutes, so that `rescore gc` may have taken what "
            "it made. Run again; what is there is reused."
        )


@contextmanager
def alone(store: Store) -> Iterator[Lease | None]:
    """A collection's lease while the context lasts; None, and no lease, where a run is at work."""
    lease = Lease(store, COLLECTION)
    try:
        yield None if lease.others(RUN) else lease
    finally:
        lease.end()


def kind_of(path: str) -> str:
    """The kind of the lease at ``path``."""
    return path.rpartition("/")[2].partition("-")[0]


def _begun(store: Store) -> Lease:
    """A run's lease, once no collection is under way."""
    lease = Lease(store, RUN)
    try:
        while lease.others(COLLECTION):  # it gives way, and one that was killed grows old
            time.sleep(_LOOK_S)
            lease.renew()
    except BaseException:
        lease.end()
        raise
    with _LOCK:
        _HELD.setdefault(store.root, lease)
    return lease


@contextmanager
def _renewing(lease: Lease) -> Iterator[None]:
    """Renew a lease now and then, in a thread, while the context lasts."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT_S):
            renew_if_possible(lease)

    thread = threading.Thread(target=beat, name="rescore-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def renew_if_possible(lease: Lease) -> None:
    """Renew a lease; a store that does not answer is asked again at the next turn."""
    try:
        lease.renew()
    except StoreError as error:
        _LOG.warning("%s could not be renewed: %s", lease.path, error)
