"""The Dask cluster of a run: one function for each kind, each a context that yields a scheduler's address.

Flows know clusters only by address, so that a new kind is one function here and one line in ``KINDS``.
"""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import dask
from distributed import Client, LocalCluster

from flows.settings import ONE_THREAD, Settings
from pipeline.errors import PlatformError, UsageError

CONNECT_TIMEOUT_S = 30
MUST_MATCH = ("rescore", "distributed", "dask", "numpy", "xarray", "zarr")
"""Packages whose versions must be the same here and on every worker: they meet in pickles and stored arrays."""


@contextmanager
def local(settings: Settings) -> Iterator[str]:
    """Worker processes on this machine, one thread each, reachable from this machine only."""
    workers = settings.workers or dask.system.CPU_COUNT
    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # any free port: two runs at once do not meet
        env=ONE_THREAD,
    ) as cluster:
        yield str(cluster.scheduler_address)


@contextmanager
def address(settings: Settings) -> Iterator[str]:
    """A cluster that somebody else started and keeps."""
    yield settings.cluster


KINDS: dict[str, Callable[[Settings], AbstractContextManager[str]]] = {
    "local": local,
    "tcp": address,
    "tls": address,
    "ws": address,
    "wss": address,
}
"""What ``--cluster`` may begin with: a name, or the protocol of a scheduler's address."""


@contextmanager
def open_cluster(settings: Settings) -> Iterator[str]:
    """The scheduler's address of a cluster that is ready: reachable, with workers, all of our versions.

    Raises ``UsageError`` for a kind that does not exist, ``PlatformError`` when nothing usable answers.
    """
    kind = settings.cluster.split("://", 1)[0]
    if kind not in KINDS:
        known = ", ".join(name if name == "local" else f"{name}://HOST:PORT" for name in KINDS)
        raise UsageError(f"unknown cluster {settings.cluster!r} (known: {known}).")
    with KINDS[kind](settings) as scheduler:
        check_workers(scheduler)
        yield scheduler


def check_workers(scheduler: str) -> None:
    """Raise ``PlatformError`` unless workers answer and run the versions that stand here."""
    try:
        with Client(scheduler, set_as_default=False, timeout=CONNECT_TIMEOUT_S) as client:
            client.wait_for_workers(1, timeout=CONNECT_TIMEOUT_S)
            differences = _differences(client)
    except (OSError, TimeoutError) as error:
        message = f"no Dask workers at {scheduler} within {CONNECT_TIMEOUT_S} s ({error})."
        raise PlatformError(f"{message} Start the cluster, or say --cluster local.") from error
    if differences:
        message = f"the workers at {scheduler} do not match: {'; '.join(differences)}."
        raise PlatformError(f"{message} Install the same lock file there.")


def _differences(client: Client) -> list[str]:
    """One line for each package whose version on some worker is not ours, or that no worker can ask for."""
    found = client.run(_versions, on_error="return").values()
    broken = [value for value in found if isinstance(value, BaseException)]
    if broken:
        return [f"{len(broken)} of them cannot import rescore ({broken[0]})"]
    differences = []
    for name, ours in _versions().items():
        theirs = {versions[name] for versions in found}
        if theirs != {ours}:
            differences.append(f"{name} {', '.join(sorted(theirs))} (here {ours})")
    return differences


def _versions() -> dict[str, str]:
    """Python's and the packages' versions in this process."""
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in MUST_MATCH:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "none"
    return versions
