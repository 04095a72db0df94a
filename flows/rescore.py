"""Run an evaluation from a terminal: quietly, offline, and without Prefect or Dask when there is nothing to score."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from flows.estimate import is_sooner_here
from flows.guard import guarded, leave
from flows.settings import NONE, Settings, check_cluster, prepare_environment, settings_for, workers_said
from flows.steps import any_given_up, boards_of, document, finish, is_small, score_here
from flows.takes import most_rows
from pipeline.config import load_evaluation
from pipeline.config.urls import masked
from pipeline.engine.memory import seldom_collected, without_collector
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Job, Plan, missing, plan, told
from pipeline.engine.work import Work, work_text
from pipeline.errors import Finding, PlatformError, RescoreError, told_lines
from pipeline.grid import Run, check_objects, latest
from pipeline.report.board import RunBoards, rows_of
from pipeline.report.terminal import show_boards
from pipeline.season.gate import waits_for
from pipeline.store.blobs import Store
from pipeline.store.leases import at_work

_MEND = "Run again; what is done is reused."
_MEND_SERVER = (
    f"{_MEND} Where Prefect's SQLite is locked or slow, set PREFECT_API_URL to a server with PostgreSQL "
    "(deploy/prefect/README.md)."
)


@dataclass(frozen=True)
class RunSummary:
    """The outcome of a run. Every figure in ``board`` comes from the grid; ``paths`` are URLs by name."""

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
    work: Mapping[str, Any] = field(default_factory=dict)
    """Objects made, reused and found damaged, and bytes read, as ``pipeline.engine.work`` has them."""
    waits: tuple[str, ...] = ()
    """Why the gate keeps the run from readers until a person releases it; nothing where it does not."""
    findings: tuple[Finding, ...] = ()
    """What was found and is not taken for an output, and what else the organiser should hear of."""


@seldom_collected()
def run_evaluation(
    evaluation: str,
    *,
    store: str,
    cluster: str | None = None,
    workers: int | str | None = None,
    quiet: bool = False,
    alignments: bool = False,
    det: Sequence[str] = (),
    own_process: bool = False,
) -> RunSummary:
    """Score what the store lacks, publish the run, print the boards and where everything is (unless ``quiet``).

    With ``alignments`` the run has the organisers' tables of every cell beside its reports, with ``det`` (svg, pdf) its
    DET curve.

    When the latest run has these very inputs, nothing is started and nothing is written. Without a ``cluster``, here or
    in the environment, one on this machine is started where the run ends sooner with it; ``none`` starts none.
    Raises ``UsageError`` for a cluster that cannot be had, before anything is read; ``ConfigError`` and ``InputError``
    for the evaluation's own files, ``PlatformError`` for everything else that keeps cells from being scored.
    """
    settings, kept = settings_for(store, cluster, workers), Store(store)
    check_cluster(settings)
    if det:
        from pipeline.report.det_file import check_forms

        check_forms(det)
    work = plan(load_evaluation(evaluation), kept, alignments=alignments, det=det)
    findings = told(work, kept)
    if not quiet:
        for line in told_lines(findings):
            _say(line)
    todo = missing(work.jobs, kept)
    found = None if todo else unless_damaged(lambda: _standing(kept, work), "the latest run")
    if found is None:
        with at_work(kept):
            run = _make(evaluation, work, todo, settings, quiet=quiet, own_process=own_process)
        boards = boards_of(kept, run)
    else:
        run, boards = found
    summary = RunSummary(
        run_id=run.id,
        store=kept.url(""),
        n_scored=run.n_scored,
        n_failed=run.n_failed,
        n_reused=len(work.jobs) - len(todo),
        work=run.work,
        paths={name: kept.url(path) for name, path in run.places.items()},
        board=tuple(rows_of(boards)),
        waits=waits_for(kept, run),
        findings=findings,
    )
    if not quiet:
        show_boards(boards)
        _print_summary(summary)
    return summary


def _standing(store: Store, work: Plan) -> tuple[Run, RunBoards] | None:
    """The latest run and its boards, if it is of this plan and whole. Raises ``DamageError`` where it is not."""
    run = latest(store, work.evaluation)
    if run is None or run.plan != work.address:
        return None
    check_objects(store, run)
    nothing = document(work, work.work + Work.of_reused(*(job.path for job in work.jobs)))
    return replace(run, work=nothing), boards_of(store, run)


def _make(
    evaluation: str, work: Plan, todo: Sequence[Job], settings: Settings, *, quiet: bool, own_process: bool
) -> Run:
    """Score and publish: here where that is over sooner, or asked for, else through the flow."""
    store, cells = Store(settings.store), f"{len(work.jobs)} cells, {len(todo)} to score"
    if (why := _why_here(store, work, todo, settings)) is not None:
        if not quiet:
            _say(f"{cells}{why}: neither Prefect nor Dask is started.")
        return finish(store, work, score_here(store, work, todo))
    if not quiet:
        _say(f"{cells}. Starting Prefect and Dask ({settings.cluster}) …")
    return _start_flow(evaluation, work, todo, settings, show_progress=not quiet, own_process=own_process)


def _why_here(store: Store, work: Plan, todo: Sequence[Job], settings: Settings) -> str | None:
    """Why this process scores alone, as the end of a sentence; None where it does not."""
    if not todo or settings.cluster == NONE:
        return ""
    if settings.is_asked_for or any_given_up(store, todo):
        return None
    if is_small(store, work, todo):
        return ", and no output to read"
    return ", and soon done here" if settings.workers is None and is_sooner_here(todo) else None


def _start_flow(
    evaluation: str, work: Plan, todo: Sequence[Job], settings: Settings, *, show_progress: bool, own_process: bool
) -> Run:
    """Run the flow on this plan, with an embedded Prefect server unless the environment names one.

    Workers start while Prefect does: both take seconds, and what takes them is imports.
    """
    prepare_environment()
    from flows.clusters.local import begun, sized  # Dask, like Prefect, reads the environment when it is imported

    own = sized(settings, todo)
    try:
        with guarded(), begun(own):
            with without_collector():
                from flows.overnight import rescore
                from flows.server import attended, start_server
                from flows.told import unheard
            start_server()
            with attended(own.no_worker_s, leave if own_process else None), unheard(own.brief):
                return rescore(
                    evaluation,
                    store=settings.store,
                    cluster=settings.cluster,
                    workers=workers_said(settings),
                    plan=work.address,
                    prepared=work.work,
                    show_progress=show_progress,
                )
    except RescoreError:
        raise
    except Exception as error:  # Prefect and its HTTP client raise all sorts when the server does not answer
        run = _published(Store(settings.store), work)
        if run is None:
            raise PlatformError(_told(error)) from error
        sys.modules["flows.server"].succeeded()
        _say(f"Prefect's server failed at the end ({type(error).__name__}); the run had been published.")
        return run


def _told(error: Exception) -> str:
    """An error of the flow's and what to do about it: only Prefect's own have to do with its server."""
    what = f"{type(error).__name__}: {error}"
    if type(error).__name__ in ("ConnectError", "RemoteProtocolError", "ReadError"):
        return f"Prefect's server is gone ({what}). {_MEND}"
    is_of_server = type(error).__module__.partition(".")[0] in ("prefect", "httpx", "httpcore")
    return f"the flow failed ({what}). {_MEND_SERVER if is_of_server else _MEND}"


def _published(store: Store, work: Plan) -> Run | None:
    """The run of this plan, if it is the latest and nothing of it is missing."""
    run = unless_damaged(lambda: latest(store, work.evaluation), "the latest run")
    return run if run is not None and run.plan == work.address and not missing(work.jobs, store) else None


def _say(text: str) -> None:
    Console(file=sys.stderr, highlight=False, soft_wrap=True).print(masked(text), style="dim", markup=False)


def _print_summary(summary: RunSummary) -> None:
    """Counts, and where everything is, on stdout."""
    console = Console(highlight=False, soft_wrap=True)
    counts = f"{summary.n_scored} cells scored, {summary.n_failed} failed, {summary.n_reused} reused from earlier runs"
    console.print(f"Run {summary.run_id}: {counts}")
    console.print(f"  {'work':<13} {work_text(summary.work)}", markup=False)
    for title, *rows in most_rows(summary.work):
        table = Table(*title, box=None, header_style="", pad_edge=False)
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(table)
    for name, place in {"store": summary.store, **summary.paths}.items():
        console.print(f"  {name:<13} {masked(place)}", markup=False)
    for reason in summary.waits:
        console.print(f"  {'waits':<13} {reason}", markup=False)
    if summary.waits:
        console.print(f"  Readers go on to see the run before. Look, then: rescore season release {summary.run_id}")
