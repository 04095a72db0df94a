"""Watching over what a run waits for: its workers, its scheduler, Prefect's server. Each wait has an end.

The run's own loop calls ``look``. Workers that are gone for too long are started again; what is gone for good ends
the flight, with what happened and what to do about it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from distributed import Client

from flows.clusters.cluster import Cluster
from flows.flight import Flight, LostError
from flows.settings import Settings

LOOK_S = 1.0
"""How often a run looks."""
ANSWER_S = 5.0
"""How long a scheduler may take to say how many threads its workers have."""
TRIES = 3
"""Times that workers are started again, one after the other, before the run gives up."""
_LOG = logging.getLogger("rescore")


@dataclass
class Since:
    """For how long something has been so, in seconds; 0 where it is not."""

    _since_s: float | None = None

    def tell(self, *, is_so: bool) -> float:
        """The time, with what is found now."""
        if not is_so:
            self._since_s = None
            return 0.0
        self._since_s = time.monotonic() if self._since_s is None else self._since_s
        return time.monotonic() - self._since_s


@dataclass
class Lookout:
    """Of one run on one cluster."""

    flight: Flight
    cluster: Cluster
    settings: Settings
    server_is_lost: Callable[[], bool] = lambda: False
    n_tries: int = 0
    _looked_s: float = 0.0
    _silent: Since = field(default_factory=Since)
    _alone: Since = field(default_factory=Since)

    def look(self) -> None:
        """Let the flight follow the cluster, replace workers that are gone, give up where nothing more will come."""
        if time.monotonic() - self._looked_s < LOOK_S:
            return
        if self.server_is_lost():
            self.flight.give_up(LostError("Prefect's server is gone. Start it and run again; what is done is reused."))
        self._look_at_the_scheduler()
        self._looked_s = time.monotonic()

    def _look_at_the_scheduler(self) -> None:
        client, patience_s = self.flight.client, self.settings.no_worker_s
        n_threads = _n_threads(client)
        silent_s = self._silent.tell(is_so=n_threads is None)
        if client.status in ("closed", "closing") or silent_s >= patience_s:
            where = self.cluster.scheduler
            self.flight.give_up(
                LostError(f"the Dask scheduler at {where} is gone. Start it and run again; what is done is reused.")
            )
        if n_threads is None:
            return
        self.flight.follow(n_threads)
        self.cluster.tend()
        alone_s = self._alone.tell(is_so=n_threads == 0)
        if n_threads:
            self.n_tries = 0
        elif alone_s >= self.cluster.patience_s:
            self._start_again()

    def _start_again(self) -> None:
        self._alone = Since()
        self.n_tries += 1
        if self.n_tries > self.cluster.tries:
            self.flight.give_up(LostError(f"{self._what_was_tried()} {self.cluster.mend} What is done is reused."))
        else:
            _LOG.warning("no worker for %.0f s: new ones are started", self.cluster.patience_s)
            self.cluster.renew()

    def _what_was_tried(self) -> str:
        gone = f"the cluster has had no worker for {self.cluster.patience_s * self.n_tries:.0f} s"
        return f"{gone}, though new ones were started {self.cluster.tries} times." if self.cluster.tries else f"{gone}."


def _n_threads(client: Client) -> int | None:
    """Threads of all workers now; None where the scheduler does not answer in time."""
    if client.status != "running" or client.loop is None or client.scheduler is None:
        return None
    asked: Future[dict[str, int]] = asyncio.run_coroutine_threadsafe(
        client.scheduler.ncores(),
        client.loop.asyncio_loop,  # type: ignore[attr-defined]  # Tornado's loops have one
    )
    try:
        return sum(asked.result(ANSWER_S).values())
    except (OSError, TimeoutError, RuntimeError):
        asked.cancel()
        return None
