"""How many workers a task may take with it: three in all, and its cell is a row with that reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import dask
from distributed import Client

IN_COMPANY = 2
"""Deaths after which a task is suspected while others run: a worker takes along what else it was given."""
ALONE = 1
"""Deaths after which a suspect that has the cluster to itself is guilty: the third."""


@contextmanager
def suspected_after(client: Client, deaths: int) -> Iterator[None]:
    """While the context lasts, a task whose workers died so often is not tried again; then as Dask is configured.

    Dask knows one number for a whole scheduler, so that runs which share one share this.
    """
    blame_after(client, deaths)
    try:
        yield
    finally:
        if client.status == "running":
            with suppress(OSError):
                blame_after(client, None)


def blame_after(client: Client, deaths: int | None) -> None:
    """Tell the scheduler; None is what its configuration says."""
    client.run_on_scheduler(_allow, None if deaths is None else deaths - 1)


def _allow(failures: int | None, dask_scheduler: Any = None) -> None:
    """Called in the scheduler's process."""
    if failures is None:
        failures = int(dask.config.get("distributed.scheduler.allowed-failures"))
    dask_scheduler.allowed_failures = failures
