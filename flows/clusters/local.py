"""The cluster of a run on this machine: as many worker processes as there is work for, started beside Prefect.

What takes seconds is not Dask but what its processes import. So they are started before Prefect is, and end while the
run is published: ``begun`` holds a cluster for the flow that is about to run in this process, and ``local`` takes it.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from multiprocessing.resource_tracker import ensure_running
from typing import Any

import dask
from distributed import LocalCluster, Security
from distributed.core import Status

from flows.clusters.cluster import Cluster
from flows.clusters.security import secured
from flows.estimate import work_s
from flows.guard import deaf_to_interrupts
from flows.settings import ONE_THREAD, Settings
from pipeline.engine.plan import Job
from pipeline.errors import PlatformError

WORTH_S = 2.0
"""Processor time that a worker takes to start: it is worth that when it has as much to do."""
TRIES = 3
"""Times that workers which do not start are started."""
IDLE_S = 3.0
"""How long a nanny may be without a process: it starts the next one at once, or never."""
_OVER = (Status.stopped, Status.closed, Status.failed)
_MEND = "Look whether there is memory for them, and room for their files (TMPDIR)."
PRELOAD = "pipeline.engine.warm"
_LOG = logging.getLogger("rescore")


def sized(settings: Settings, jobs: Iterable[Job]) -> Settings:
    """The settings with the workers that the jobs are worth, where nobody said how many, and whether they are brief."""
    takes_s, workers = work_s(jobs), settings.workers
    if workers is None and settings.cluster == "local":
        workers = max(1, min(dask.system.CPU_COUNT, math.ceil(takes_s / WORTH_S)))
    return replace(settings, workers=workers, brief=takes_s <= WORTH_S)


@dataclass
class _Begun:
    """A cluster that starts in a thread of its own, and ends in it."""

    thread: ThreadPoolExecutor
    cluster: Future[LocalCluster]
    ended: Future[None] | None = None
    is_taken: bool = False

    def take(self) -> LocalCluster | None:
        """The cluster, waited for; None where it did not start, or was taken before."""
        is_first, self.is_taken = not self.is_taken, True
        return self.cluster.result() if is_first and self.cluster.exception() is None else None

    def end(self) -> Future[None]:
        """Begin to close it, once."""
        if self.ended is None:
            self.ended = self.thread.submit(self._close)
        return self.ended

    def _close(self) -> None:
        if self.cluster.exception() is None:
            self.cluster.result().close()


_BEGUN: ContextVar[_Begun | None] = ContextVar("begun", default=None)


@contextmanager
def begun(settings: Settings) -> Iterator[None]:
    """While the context lasts, a local cluster starts or is there; the first ``local`` within it takes it.

    Nothing happens for other kinds of clusters. One that does not start is started once more by who would take it.
    """
    if settings.cluster != "local":
        yield
        return
    with secured(by_default=False) as security, ThreadPoolExecutor(1, "rescore-cluster") as thread:
        early = _Begun(thread, thread.submit(_cluster, settings, security))
        token = _BEGUN.set(early)
        try:
            yield
        finally:
            _BEGUN.reset(token)
            if error := early.end().exception():
                _LOG.warning("the cluster did not end well (%s: %s)", type(error).__name__, error)


@contextmanager
def local(settings: Settings) -> Iterator[Cluster]:
    """Worker processes on this machine, one thread each, reachable from this machine only.

    Raises ``PlatformError`` where they do not start, and not again either.
    """
    early = _BEGUN.get()
    cluster = None if early is None else early.take()
    if early is None or cluster is None:
        with secured(by_default=False) as security, _started(settings, security) as own:
            yield _tended(own, settings)
        return
    try:
        yield _tended(cluster, settings)
    finally:
        early.end()


def _started(settings: Settings, security: Security | None) -> LocalCluster:
    """The cluster, at the third try at most: a worker that dies while it starts takes the others along."""
    for _ in range(TRIES - 1):
        try:
            return _cluster(settings, security)
        except (OSError, RuntimeError) as error:
            _LOG.warning("the workers did not start (%s: %s) and are started again", type(error).__name__, error)
    try:
        return _cluster(settings, security)
    except (OSError, RuntimeError) as error:
        message = f"worker processes do not start here ({type(error).__name__}: {error}), tried {TRIES} times."
        raise PlatformError(f"{message} {_MEND}") from error


def _tended(cluster: LocalCluster, settings: Settings) -> Cluster:
    """As the run knows it."""
    nannies = Nannies(cluster)
    return Cluster(
        str(cluster.scheduler_address),
        patience_s=settings.no_worker_s,
        mend=f"{_MEND} Run again.",
        tries=TRIES,
        tend=nannies.replace_idle,
        renew=nannies.replace_all,
        dashboard="" if settings.brief else str(cluster.dashboard_link),
    )


class Nannies:
    """The processes that start a local cluster's workers, and start them again. One whose worker died does, but not
    one whose worker died while it started."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster
        self._idle_since_s: dict[Any, float] = {}

    def replace_idle(self) -> None:
        """Replace those that have had no process for a while, and will not start one."""
        now_s = time.monotonic()
        idle = [name for name, nanny in list(self._cluster.workers.items()) if _is_idle(nanny)]
        self._idle_since_s = {name: self._idle_since_s.get(name, now_s) for name in idle}
        late = [name for name, since_s in self._idle_since_s.items() if now_s - since_s >= IDLE_S]
        if late:
            self._replace(late)

    def replace_all(self) -> None:
        """Replace every one."""
        self._replace(list(self._cluster.worker_spec))

    def _replace(self, names: list[Any]) -> None:
        _LOG.warning("%d of %d workers are started again", len(names), len(self._cluster.worker_spec))

        def replaced() -> None:
            n_workers = len(self._cluster.worker_spec)
            for name in names:
                self._cluster.worker_spec.pop(name, None)
            self._cluster.scale(n_workers)

        if (loop := self._cluster.loop) is not None:
            loop.add_callback(replaced)


def _is_idle(nanny: Any) -> bool:
    """Whether a nanny has no process, neither one that runs nor one that starts."""
    process = getattr(nanny, "process", None)
    return nanny.status in _OVER or process is None or process.status in _OVER


def _cluster(settings: Settings, security: Security | None) -> LocalCluster:
    ensure_running()  # the first process would start it, within, and it would let that one hear
    with deaf_to_interrupts():
        return LocalCluster(
            n_workers=settings.workers or dask.system.CPU_COUNT,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any free port: two runs at once do not meet
            scheduler_kwargs={"dashboard": not settings.brief},  # a brief run is over before anybody looks
            env=ONE_THREAD,
            security=security,
            **preloads(),
        )


def preloads() -> dict[str, Any]:
    """The preloads of Dask's configuration, with their arguments, and ``PRELOAD`` after them."""
    said = dask.config.get("distributed.worker.preload") or []
    names = [said] if isinstance(said, str) else list(said)
    arguments = dask.config.get("distributed.worker.preload-argv") or []
    if not arguments or isinstance(arguments[0], str):  # the same for each
        arguments = [arguments] * len(names)
    return {"preload": [*names, PRELOAD], "preload_argv": [*arguments, []]}
