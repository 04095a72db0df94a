"""How long cells take, from their number and their bytes: enough to know what starting Prefect and Dask is worth."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pipeline.engine.inputs import COMPRESSED, INFLATED
from pipeline.engine.plan import Job

CELL_S = 0.3
"""Processor time of a cell, however small it is."""
BYTES_PER_S = 10e6
"""Bytes of inputs that a worker scores in a second."""
START_S = 8.0
"""What a run takes until its first cell is scored by a worker, with Prefect's embedded server, on a quiet machine."""


def work_s(jobs: Iterable[Job]) -> float:
    """Processor time that the jobs take."""
    todo = tuple(jobs)
    n_bytes = sum(
        source.n_bytes * (INFLATED if source.uri.endswith(COMPRESSED) else 1)
        for job in todo
        for source in job.inputs.values()
    )
    return CELL_S * len(todo) + n_bytes / BYTES_PER_S


def is_sooner_here(jobs: Iterable[Job]) -> bool:
    """Whether this process alone has done the jobs before all cores have that first start Prefect and Dask."""
    here_s = work_s(jobs)
    return here_s <= START_S + here_s / cores()


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
