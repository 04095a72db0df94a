"""Thin Prefect tasks: addresses in, addresses out. All that is scored happens in ``pipeline``, on the Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from distributed import Client
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun

from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import load_plan
from pipeline.errors import PlatformError
from pipeline.grid import Run, publish
from pipeline.report import write_reports
from pipeline.store.blobs import Store
from pipeline.terms import Cell


def is_platform_fault(_task: Any, _run: TaskRun, state: State[Any]) -> bool:
    """Whether another try may succeed: store, network or cluster failed. Anything else would fail again."""
    return isinstance(state.result(raise_on_failure=False), (PlatformError, OSError))


# The store's record of a cell decides what is done; a cache of Prefect's would be a second opinion.
@task(
    retries=2,
    retry_delay_seconds=[1, 5],
    retry_jitter_factor=0.2,
    retry_condition_fn=is_platform_fault,
    cache_policy=NO_CACHE,
    persist_result=False,
)
def score_cells(store: str, plan: str, cells: Sequence[tuple[str, str, str]], scheduler: str) -> list[str]:
    """Score cells, given as (query set, dataset, system), one after the other; returns their results' addresses.

    A run of ordinary size has one cell a task.
    """
    kept = Store(store)
    planned = load_plan(kept, plan)
    with Client(scheduler, set_as_default=False) as client:
        return [score_cell(kept, planned, Cell(*cell), client) for cell in cells]


@task(
    task_run_name="publish",
    retries=2,
    retry_delay_seconds=[1, 5],
    retry_condition_fn=is_platform_fault,
    cache_policy=NO_CACHE,
    persist_result=False,
)
def publish_run(store: str, plan: str) -> Run:
    """Gather the plan's results, all of which are in the store, into grid and reports, and make them the latest run.

    Publishing the same results twice makes one run, so that a retry is harmless.
    """
    kept = Store(store)
    planned = load_plan(kept, plan)
    results = [load_result(kept, job.address) for job in planned.jobs]
    return publish(kept, planned, results, report=write_reports)
