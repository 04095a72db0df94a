"""Versions on workers: compared before work is sent, and again on every worker that joins later.

What runs on workers is sent as code, not by name: a worker is checked whatever of rescore it has, and nothing here
may use anything else of rescore.
"""

from __future__ import annotations

import importlib.metadata
import logging
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import cloudpickle
from distributed import Client, Worker
from distributed.diagnostics.plugin import WorkerPlugin

MUST_MATCH = ("rescore", "distributed", "dask", "numpy", "xarray", "zarr")
"""Packages whose versions must be the same here and on every worker: they meet in pickles and stored arrays."""
GUARD = "rescore-versions"
"""Name of the guard on the scheduler, and of the topic on which refused workers are told."""


def versions_here() -> dict[str, str]:
    """Python's and the packages' versions in this process; ``none`` for what is not installed."""
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in MUST_MATCH:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "none"
    return versions


class Guard(WorkerPlugin):
    """Closes a worker whose versions are not those of the run. It stays on the scheduler until the next run's."""

    name = GUARD

    def __init__(self, versions: Mapping[str, str]) -> None:
        self.versions = dict(versions)

    async def setup(self, worker: Worker) -> None:
        """Called before a worker reads its first message: nothing is run on one that does not match."""
        found = versions_here()
        other = [name for name, ours in self.versions.items() if found[name] != ours]
        if not other:
            return
        what = "; ".join(f"{name} {found[name]} (the run has {self.versions[name]})" for name in other)
        message = f"worker {worker.address} is refused: {what}. Install the same lock file there."
        logging.getLogger("distributed.worker").critical(message)
        worker.log_event(GUARD, message)
        # Tasks that it was given already go to others, and it is not held against them.
        await worker.scheduler.unregister(address=worker.contact_address, stimulus_id=GUARD, expected=True, close=False)
        # Not awaited: its nanny answers only when it has started. A worker that is closing runs nothing.
        worker.loop.add_callback(worker.close, reason=GUARD)


def differences(client: Client) -> list[str]:
    """One line for each package whose version on some worker, or on the scheduler, is not ours."""
    pythons = _pythons(client)
    ours = versions_here()
    if set(pythons) != {ours["python"]}:  # code is not sent to another Python
        return [_difference("python", pythons, ours["python"])]
    with _sent_as_code():
        found = client.run(versions_here, on_error="return").values()
        on_scheduler = client.run_on_scheduler(versions_here)
    broken = [value for value in found if isinstance(value, BaseException)]
    if broken:
        return [f"{len(broken)} of them cannot say theirs ({broken[0]})"]
    everywhere = [*found, on_scheduler]
    return [
        _difference(name, [versions[name] for versions in everywhere], mine)
        for name, mine in ours.items()
        if any(versions[name] != mine for versions in everywhere)
    ]


def _pythons(client: Client) -> list[str]:
    """Major and minor version of Python of every worker and of the scheduler, as Dask's own messages tell them."""
    found: Any = client.get_versions()
    processes = [*found["workers"].values(), found["scheduler"]]
    return [".".join(str(process["host"]["python"]).split(".")[:2]) for process in processes if process]


def _difference(name: str, theirs: list[str], ours: str) -> str:
    return f"{name} {', '.join(sorted(set(theirs) - {ours}))} (here {ours})"


def guard(client: Client) -> None:
    """Refuse workers of other versions that join from now on; this process says so on stderr while the client lives."""
    with _sent_as_code():
        client.register_plugin(Guard(versions_here()), GUARD)
    client.subscribe_topic(GUARD, _tell)


def forget_guard(client: Client) -> None:
    """Remove the guard of an earlier run from a scheduler without workers: those of that version may be gone."""
    with _sent_as_code():
        client.run_on_scheduler(_without_guard)


def _without_guard(dask_scheduler: Any) -> None:
    if not dask_scheduler.workers:
        dask_scheduler.worker_plugins.pop(GUARD, None)


def _tell(event: tuple[float, str]) -> None:
    sys.stderr.write(f"rescore: {event[1]}\n")


@contextmanager
def _sent_as_code() -> Iterator[None]:
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)
