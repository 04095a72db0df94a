"""The overnight flow: plan → one task per cell → gather → publish. Import after ``settings.prepare_environment``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.futures import PrefectFuture, as_completed
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.utilities.annotations import quote
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from flows.clusters import open_cluster
from flows.settings import CELLS_AT_ONCE, MOST_TASKS, settings_for
from flows.tasks import publish_run, score_cells
from pipeline.config import load_evaluation
from pipeline.engine.plan import Job, load_plan, missing
from pipeline.engine.plan import plan as make_plan
from pipeline.engine.result import plain
from pipeline.engine.work import Work, total, work_text
from pipeline.errors import PlatformError, RescoreError
from pipeline.grid import Run, load_grid
from pipeline.report import board_rows
from pipeline.store.blobs import Store


@flow(
    name="rescore",
    flow_run_name="rescore {evaluation}",
    task_runner=ThreadPoolTaskRunner(max_workers=CELLS_AT_ONCE),  # type: ignore[arg-type]  # Prefect types it too narrowly
    retries=0,
    persist_result=False,
)
def rescore(
    evaluation: str,
    store: str | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    plan: str | None = None,
    prepared: Work | None = None,
    staged: bool = False,
    show_progress: bool = False,
) -> Run:
    """Score every cell of an evaluation that the store does not hold yet, and publish the run.

    What is not given comes from ``flows.settings``; ``plan`` is the address of a plan already made from
    ``evaluation``, ``prepared`` what making it took; a ``staged`` run waits for
    a person to publish it. Refused inputs are cells with a reason.
    Raises ``InputError`` when the organiser's own files are refused, ``PlatformError`` when cells could not be
    scored because store or cluster failed; what is done stays done.
    """
    settings = settings_for(store, cluster, workers)
    kept = Store(settings.store)
    work = make_plan(load_evaluation(evaluation), kept) if plan is None else load_plan(kept, plan)
    todo = missing(work.jobs, kept)
    done = [work.work, prepared or Work()]
    if todo:
        with open_cluster(settings) as scheduler:
            done.append(score_all(kept.root, work.address, todo, scheduler, show_progress))
    made: Any = quote(total(done))  # Prefect would look through thousands of paths for futures
    run: Run = publish_run(kept.root, work.address, made, staged)
    leave_artifacts(kept, run)
    return run


def score_all(store: str, plan: str, jobs: Sequence[Job], scheduler: str, show_progress: bool) -> Work:
    """Submit the jobs' cells and wait for all of them; returns what was made for them.

    Raises ``PlatformError`` when any could not be scored.
    """
    groups = grouped(jobs, MOST_TASKS)
    futures = {}
    for label, group in groups.items():
        cells = [(job.cell.query_set, job.cell.dataset, job.cell.system) for job in group]
        futures[score_cells.with_options(task_run_name=label).submit(store, plan, cells, scheduler)] = label
    failures, done = dict[str, BaseException](), list[Work]()
    with _progress(len(jobs), show_progress) as advance:
        for future in as_completed(list(futures)):
            label = futures[future]
            error = _failure(future)
            if error is None:
                done.append(future.result())
            else:
                failures[label] = error
            advance(len(groups[label]))
    if failures:
        label, error = min(failures.items())
        what = str(error) if isinstance(error, RescoreError) else f"{type(error).__name__}: {error}"
        message = f"{len(failures)} of {len(groups)} tasks failed, first {label}: {what}"
        raise PlatformError(f"{message.rstrip('.')}. Run again; what is done is reused.") from error
    return total(done)


def grouped(jobs: Sequence[Job], most: int) -> dict[str, list[Job]]:
    """Jobs by task: one cell each, or one system each where that makes more than ``most`` tasks."""
    if len(jobs) <= most:
        return {str(job.cell): [job] for job in jobs}
    by_system = sorted(jobs, key=lambda job: job.cell.system)
    return {system: list(group) for system, group in groupby(by_system, key=lambda job: job.cell.system)}


def _failure(future: PrefectFuture[Any]) -> BaseException | None:
    """What a finished task raised, None when it succeeded."""
    future.wait()
    if future.state.is_completed():
        return None
    error = future.state.result(raise_on_failure=False)
    return error if isinstance(error, BaseException) else PlatformError(f"ended as {future.state.name}")


@contextmanager
def _progress(total: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """A bar of cells on stderr while the context lasts, where one is wanted."""
    if not shown:
        yield lambda _: None
        return
    columns = (TextColumn("scoring"), BarColumn(), MofNCompleteColumn(), TextColumn("cells"), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as progress:
        bar = progress.add_task("", total=total)
        yield lambda cells: progress.advance(bar, cells)


def leave_artifacts(store: Store, run: Run) -> None:
    """The board and the cells without figures, as tables beside the flow run."""
    grid = load_grid(store, run)
    primary = str(grid[""].attrs["primary_measure"])
    rows = [row for row in board_rows(grid) if row["condition"] == "all"]
    create_table_artifact(
        key="board",
        description=f"{run.evaluation}: {run.n_scored} cells scored, {run.n_failed} failed; {work_text(run.work)}",
        table=[_shown(row, "query_set", "dataset", "rank", "system", primary) for row in rows if not row["failed"]],
    )
    create_table_artifact(
        key="failed-cells",
        description="Cells without figures, and why",
        table=[
            _shown(row, "query_set", "dataset", "system", "failed", "failed_where", "failed_message")
            for row in rows
            if row["failed"]
        ],
    )


def _shown(row: dict[str, Any], *columns: str) -> dict[str, Any]:
    return {name: plain(row[name]) for name in columns}
