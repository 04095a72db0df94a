"""Run an evaluation from a terminal: quietly, offline, and without Prefect or Dask when there is nothing to score."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from flows.settings import Settings, prepare_environment
from pipeline.config import load_evaluation
from pipeline.config.urls import masked
from pipeline.engine.plan import Plan, missing, plan
from pipeline.errors import PlatformError, RescoreError
from pipeline.grid import Run, latest, load_grid
from pipeline.report import board_rows, print_boards
from pipeline.store.blobs import Store


@dataclass(frozen=True)
class RunSummary:
    """What a run came to. Every figure in ``board`` comes from the grid; ``paths`` are URLs by name."""

    run_id: str
    store: str
    n_scored: int
    """Cells with figures, those scored earlier included."""
    n_failed: int
    """Cells with a reason instead of figures."""
    n_reused: int
    """Cells, scored or failed, whose result was in the store before this run."""
    paths: Mapping[str, str]
    board: tuple[Mapping[str, Any], ...]
    """One row per system, query set, dataset and condition, as ``pipeline.report.board_rows`` has them."""


def run_evaluation(
    evaluation: str, *, store: str, cluster: str = "local", workers: int | None = None, quiet: bool = False
) -> RunSummary:
    """Score what the store lacks, publish the run, print the boards and where everything is (unless ``quiet``).

    When the latest run has these very inputs, nothing is started and nothing is written.
    Raises ``ConfigError`` and ``InputError`` for the evaluation's own files, ``PlatformError`` for everything else
    that keeps cells from being scored.
    """
    kept = Store(store)
    work = plan(load_evaluation(evaluation), kept)
    todo = missing(work.jobs, kept)
    run = None if todo else latest(kept, work.evaluation)
    if run is None or run.plan != work.address:
        if not quiet:
            _say(f"{len(work.jobs)} cells, {len(todo)} to score. Starting Prefect and Dask ({cluster}) …")
        run = _start_flow(evaluation, work, Settings(store, cluster, workers), show_progress=not quiet)
    grid = load_grid(kept, run)
    summary = RunSummary(
        run_id=run.id,
        store=kept.url(""),
        n_scored=run.n_scored,
        n_failed=run.n_failed,
        n_reused=len(work.jobs) - len(todo),
        paths={name: kept.url(path) for name, path in {**run.reports, "grid": run.grid}.items()},
        board=tuple(board_rows(grid)),
    )
    if not quiet:
        print_boards(grid)
        _print_summary(summary)
    return summary


def _start_flow(evaluation: str, work: Plan, settings: Settings, *, show_progress: bool) -> Run:
    """Run the flow on this plan, with an embedded Prefect server unless the environment names one."""
    prepare_environment()
    from flows.overnight import rescore  # Prefect reads the environment when it is imported, and costs two seconds

    try:
        return rescore(
            evaluation,
            store=settings.store,
            cluster=settings.cluster,
            workers=settings.workers,
            plan=work.address,
            show_progress=show_progress and sys.stderr.isatty(),
        )
    except RescoreError:
        raise
    except Exception as error:  # Prefect and its HTTP client raise all sorts when the server does not answer
        raise PlatformError(f"the flow failed ({type(error).__name__}: {error}).") from error


def _say(text: str) -> None:
    Console(file=sys.stderr, highlight=False).print(text, style="dim")


def _print_summary(summary: RunSummary) -> None:
    """Counts, and where everything is, on stdout."""
    console = Console(highlight=False, soft_wrap=True)
    counts = f"{summary.n_scored} cells scored, {summary.n_failed} failed, {summary.n_reused} reused from earlier runs"
    console.print(f"Run {summary.run_id}: {counts}")
    for name, place in {"store": summary.store, **summary.paths}.items():
        console.print(f"  {name:<13} {masked(place)}", markup=False)
