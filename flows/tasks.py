"""Thin Prefect tasks: addresses in, what was made out. All that is scored happens in ``pipeline``, on the cluster."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun

from flows.flight import Flight, LostError
from flows.steps import finish
from flows.takes import Takes
from pipeline.engine.cell import do_cell
from pipeline.engine.plan import Plan, given_up, load_plan
from pipeline.engine.runner import OnCluster
from pipeline.engine.work import Work, total
from pipeline.errors import DamageError, PlatformError, StoreError, WorkerDiedError
from pipeline.grid import Run
from pipeline.store.blobs import Store
from pipeline.terms import Cell


def is_platform_fault(_task: Any, _run: TaskRun, state: State[Any]) -> bool:
    """Whether another try may succeed: store, network or cluster failed. Anything else would fail again."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, (PlatformError, OSError)) and not isinstance(error, LostError)


_LOG = logging.getLogger("rescore")


@dataclass(frozen=True)
class TaskPlace:
    """Where a task works: addresses, and the flight of the run that it is part of."""

    store: str
    plan: str
    flight: Flight


@dataclass(frozen=True)
class ScoredCells:
    """The outcome of a task: what was made, and the cells, as (query set, dataset, system), whose workers died."""

    work: Work
    died: tuple[tuple[str, str, str], ...] = ()
    takes: tuple[Takes, ...] = ()


# The store's record of a cell decides what is done; a cache of Prefect's would be a second opinion.
@task(
    task_run_name="{label}",
    retries=2,
    retry_delay_seconds=[1, 5],
    retry_jitter_factor=0.2,
    retry_condition_fn=is_platform_fault,
    cache_policy=NO_CACHE,
    persist_result=False,
)
def score_cells(
    place: TaskPlace,
    cells: Sequence[tuple[str, str, str]],
    label: str,  # noqa: ARG001 - Prefect names the task by it
) -> ScoredCells:
    """Score cells, given as (query set, dataset, system), side by side as far as there is room in flight.

    ``label`` names the task. A cell has one of its own, but for small ones of a large run. One that fails does not keep
    the others from being scored.
    """
    flown = flown_together(place, [Cell(*cell) for cell in cells])
    failures = [done for done in flown if isinstance(done, Exception) and not isinstance(done, WorkerDiedError)]
    if failures:
        raise failures[0]
    died = [cell for cell, done in zip(cells, flown, strict=True) if isinstance(done, WorkerDiedError)]
    works = [(Cell(*cell), done) for cell, done in zip(cells, flown, strict=True) if isinstance(done, Work)]
    takes = tuple(Takes.of(cell, work) for cell, work in works)
    return ScoredCells(total(work for _, work in works), tuple(died), takes)


def flown_together(place: TaskPlace, cells: Sequence[Cell]) -> list[Work | Exception]:
    """The outcome of each cell. A thread waits for each that is in flight, and starts when there is a place for it."""
    kept, flight = Store(place.store), place.flight
    planned, run = planned_once(kept, place.plan), OnCluster(flight.client, lambda: flight.lost)

    def fly(cell: Cell, seat: ExitStack) -> Work | Exception:
        try:
            with seat:
                try:
                    work = do_cell(kept, planned, cell, run)
                except WorkerDiedError as error:
                    return error
                took = Takes.of(cell, work)
                _LOG.info("%s took %.1f s of CPU", cell, took.cpu_s, extra=took.document())
                return work
        except StoreError as error:
            if not isinstance(error, DamageError):
                flight.refused(error)
            return error
        except Exception as error:  # noqa: BLE001 - raised by who waits for all of them
            return error

    found: list[Future[Work | Exception]] = []
    with ThreadPoolExecutor(len(cells), "rescore-cell") as pool:
        for cell in cells:
            with ExitStack() as seat:
                seat.enter_context(flight.aloft(cell))
                found.append(pool.submit(copy_context().run, fly, cell, seat.pop_all()))
    return [future.result() for future in found]


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
