"""The cluster of a run on this machine: as many worker processes as there is work for, started beside Prefect.

What takes seconds is not Dask but what its processes import. So they are started before Prefect is, and end while the
run is published: ``begun`` holds a cluster for the flow that is about to run in this process, and ``local`` takes it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from multiprocessing.resource_tracker import ensure_running
from typing import Any

import dask
from distributed import LocalCluster, Security

from flows.cluster_security import secured
from flows.guard import deaf_to_interrupts
from flows.settings import ONE_THREAD, Settings
from pipeline.engine.plan import Job

CELL_S = 0.3
"""Processor time of a cell, however small it is."""
BYTES_PER_S = 10e6
"""Bytes of inputs that a worker scores in a second."""
WORTH_S = 2.0
"""Processor time that a worker takes to start: it is worth that when it has as much to do."""
PRELOAD = "pipeline.engine.warm"
_LOG = logging.getLogger("rescore")


def sized(settings: Settings, jobs: Iterable[Job]) -> Settings:
    """The settings with the workers that the jobs are worth, where nobody said how many, and whether they are brief."""
    todo = tuple(jobs)
    work_s = CELL_S * len(todo) + sum(source.n_bytes for job in todo for source in job.inputs.values()) / BYTES_PER_S
    workers = settings.workers
    if workers is None and settings.cluster == "local":
        workers = max(1, min(dask.system.CPU_COUNT, math.ceil(work_s / WORTH_S)))
    return replace(settings, workers=workers, brief=work_s <= WORTH_S)


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
def local(settings: Settings) -> Iterator[str]:
    """Worker processes on this machine, one thread each, reachable from this machine only."""
    early = _BEGUN.get()
    cluster = None if early is None else early.take()
    if early is None or cluster is None:
        with secured(by_default=False) as security, _cluster(settings, security) as own:
            yield str(own.scheduler_address)
        return
    try:
        yield str(cluster.scheduler_address)
    finally:
        early.end()


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
    """What Dask's configuration has workers load, with its arguments, and ``PRELOAD`` after it."""
    said = dask.config.get("distributed.worker.preload") or []
    names = [said] if isinstance(said, str) else list(said)
    arguments = dask.config.get("distributed.worker.preload-argv") or []
    if not arguments or isinstance(arguments[0], str):  # the same for each
        arguments = [arguments] * len(names)
    return {"preload": [*names, PRELOAD], "preload_argv": [*arguments, []]}
