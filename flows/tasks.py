"""Thin Prefect tasks: addresses in, what was made out. All that is scored happens in ``pipeline``, on the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from distributed import Client
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun

from flows.steps import finish
from pipeline.engine.cell import do_cell
from pipeline.engine.plan import Plan, given_up, load_plan
from pipeline.engine.work import Work, total
from pipeline.errors import PlatformError, WorkerDiedError
from pipeline.grid import Run
from pipeline.store.blobs import Store
from pipeline.terms import Cell


class SchedulerLostError(PlatformError):
    """The cluster answered when the run began and does not any more: trying cell after cell would take hours."""


_LOST: set[str] = set()
"""Schedulers that this process has lost."""


def is_platform_fault(_task: Any, _run: TaskRun, state: State[Any]) -> bool:
    """Whether another try may succeed: store, network or cluster failed. Anything else would fail again."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, (PlatformError, OSError)) and not isinstance(error, SchedulerLostError)


def connected(scheduler: str) -> Client:
    """A client of the run's cluster. Raises ``SchedulerLostError``, at once where it is known already."""
    if scheduler not in _LOST:
        try:
            return Client(scheduler, set_as_default=False)
        except OSError:
            _LOST.add(scheduler)
    raise SchedulerLostError(f"the Dask scheduler at {scheduler} is gone. Start it, or say --cluster local.")


@dataclass(frozen=True)
class Place:
    """Where a task works: addresses only."""

    store: str
    plan: str
    scheduler: str


@dataclass(frozen=True)
class Scored:
    """What a task came to: what was made, and the cells, as (query set, dataset, system), whose workers died."""

    work: Work
    died: tuple[tuple[str, str, str], ...] = ()


# The store's record of a cell decides what is done; a cache of Prefect's would be a second opinion.
@task(
    retries=2,
    retry_delay_seconds=[1, 5],
    retry_jitter_factor=0.2,
    retry_condition_fn=is_platform_fault,
    cache_policy=NO_CACHE,
    persist_result=False,
)
def score_cells(place: Place, cells: Sequence[tuple[str, str, str]]) -> Scored:
    """Score cells, given as (query set, dataset, system), one after the other.

    A run of ordinary size has one cell a task.
    """
    kept = Store(place.store)
    planned = planned_once(kept, place.plan)
    works, died = list[Work](), list[tuple[str, str, str]]()
    with connected(place.scheduler) as client:
        for cell in cells:
            try:
                works.append(do_cell(kept, planned, Cell(*cell), client))
            except WorkerDiedError:
                died.append(cell)
    return Scored(total(works), tuple(died))


@lru_cache(maxsize=2)
def planned_once(store: Store, plan: str) -> Plan:
    """A plan that many tasks of this process need; plans never change."""
    return load_plan(store, plan)


@task(
    task_run_name="publish",
    retries=2,
    retry_delay_seconds=[1, 5],
    retry_condition_fn=is_platform_fault,
    cache_policy=NO_CACHE,
    persist_result=False,
)
def publish_run(
    store: str,
    plan: str,
    work: Work,
    staged: bool = False,
    died: Sequence[tuple[str, str, str]] = (),
    notes: Mapping[str, Any] | None = None,
) -> Run:
    """Gather the plan's results, all of which are in the store, into grid and reports, and make them the latest run.

    Cells that ``died`` are rows with that reason. ``notes`` stand in the record of the execution beside ``work``.
    Publishing the same results twice makes one run, so that a retry is harmless.
    """
    kept = Store(store)
    planned = load_plan(kept, plan)
    if died:
        planned = given_up(planned, [Cell(*cell) for cell in died], kept)
        work = total([work, *(do_cell(kept, planned, Cell(*cell)) for cell in died)])
    return finish(kept, planned, work, staged=staged, notes=notes)
