"""Steps of a run beside scoring cells, without Prefect and without Dask: the last look at results, and publishing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipeline.engine.cell import do_cell, kept_result, lacks, with_supplements
from pipeline.engine.mending import mended, unless_damaged
from pipeline.engine.plan import Job, Plan, given_up_address
from pipeline.engine.result import Result
from pipeline.engine.work import Work, total
from pipeline.grid import Run, before, load_grid, publish, recorded, reports_of
from pipeline.meta.cells import NOT_KEPT
from pipeline.meta.variants import is_probe
from pipeline.report.board import RunBoards, read_run
from pipeline.report.boards_file import NAME, read_boards
from pipeline.season.gate import holds
from pipeline.store.address import address
from pipeline.store.blobs import Store
from pipeline.store.meter import Metered, metered
from pipeline.store.noting import NotingStore

if TYPE_CHECKING:
    from pipeline.meta.intervals import BoardIntervals
    from pipeline.report.changes.diff import Diff, Side

_MADE_FROM = "an object that intervals are made from"
_TO_FINISH = (
    "pipeline.report.cell_tables",
    "pipeline.report.uncertainty",
    "pipeline.report.write",
)
"""What publishing imports. Nothing breaks where something is missing here: it is then imported later."""
_READERS_AT_ONCE = 8
MOST_HERE = 200
"""Cells that are scored in this process where no output is to be read: beyond, a cluster is worth its start."""
MOST_BYTES_HERE = 500_000_000
"""Bytes of the outputs whose trials may be aligned again here."""


def is_small(store: Store, plan: Plan, todo: Iterable[Job]) -> bool:
    """Whether no output is to be read, and what is to be aligned and computed is soon done in this process."""
    jobs = tuple(todo)
    if len(jobs) > MOST_HERE:
        return False
    if any_given_up(store, jobs):
        return False
    lacking = lacks(store, plan, jobs)
    sizes = (sum(source.n_bytes for source in job.inputs.values()) for job in jobs)
    n_bytes = sum(size for what, size in zip(lacking, sizes, strict=True) if what == "labels")
    return n_bytes <= MOST_BYTES_HERE and "all" not in lacking


def any_given_up(store: Store, jobs: Iterable[Job]) -> bool:
    """Whether a job took its workers with it once: it would take this process."""
    return bool(store.present([f"results/{given_up_address(job)}.json" for job in jobs]))


def score_here(store: Store, plan: Plan, todo: Iterable[Job]) -> Work:
    """Score cells one after the other in this process."""
    return total(do_cell(store, plan, job.cell) for job in todo)


@cache
def get_ready_to_finish() -> None:
    """Import what ``finish`` needs and compile its templates, while the cluster works and this process would wait."""
    for module in _TO_FINISH:
        import_module(module)
    from pipeline.report.environments import compile_before
    from pipeline.report.page import environment

    compile_before(environment(), "page.html.j2")


def finish(
    store: Store, plan: Plan, work: Work, *, staged: bool = False, notes: Mapping[str, Any] | None = None
) -> Run:
    """Publish or stage the plan's results, all of which should be in the store; a damaged one is made again here.

    ``notes`` stand in the record of the execution, beside what it made.
    """
    with metered() as meter:
        return _finish(store, plan, work, meter, staged=staged, notes=notes or {})


def _finish(store: Store, plan: Plan, work: Work, meter: Metered, *, staged: bool, notes: Mapping[str, Any]) -> Run:
    store = NotingStore(store.root)  # what is read and written now is not read again for the manifest
    known = recorded(store, plan)
    with ThreadPoolExecutor(_READERS_AT_ONCE) as pool:
        found = list(pool.map(lambda job: sound_result(store, plan, job, known.get(job.path)), plan.jobs))
    results, works = [result for result, _ in found], [plan.work, work, *(again for _, again in found)]
    if is_probe(plan.evaluation):  # its figures are a line in a study, and nobody opens a page of its own
        return publish(store, plan, results, work=lambda: {**document(plan, total(works)), **notes})
    from pipeline.report.cell_tables import write_cell_tables
    from pipeline.report.descriptions import write_descriptions
    from pipeline.report.det_file import write_cell_drawings
    from pipeline.report.uncertainty import when_cheap
    from pipeline.report.write import write_reports  # with xarray and templates, for which there may be no need

    samples = total(works).samples
    previous = unless_damaged(lambda: _previous(store, plan), f"the run of {plan.evaluation} before")

    def report(store: Store, prefix: str, grid: Any, ordered: Sequence[Result]) -> Mapping[str, str]:
        intervals = unless_damaged(lambda: when_cheap(store, plan, ordered, samples), _MADE_FROM)
        changes = _changes(previous, plan, grid, ordered)
        folder = prefix + _told_apart(changes, intervals)
        written = write_reports(store, folder, grid, ordered, changes, intervals or ())
        written |= write_descriptions(store, plan, folder)
        tables = write_cell_tables(store, plan, folder) if plan.alignments else {}
        return {**written, **tables, **(write_cell_drawings(store, plan, folder) if plan.det else {})}

    def took() -> Mapping[str, Any]:
        return {**document(plan, total([*works, Work.of_cost("publish", meter.cost)])), **notes}

    waits = holds(store, plan, results) or staged
    return publish(store, plan, results, report=report, work=took, staged=waits)


def _told_apart(changes: Diff | None, intervals: Sequence[BoardIntervals] | None) -> str:
    """The ending of the name of a folder of reports: "" for those of a first run, all of whose intervals are known.

    Reports say what moved since the run before and lack intervals where trials are lost, so that equal runs that are
    published at once may have others. Neither may replace what the other's manifest names.
    """
    lost = [
        [board.query_set, board.dataset, system]
        for board in intervals or ()
        for system, interval in board.intervals.items()
        if interval.reason == NOT_KEPT
    ]
    if changes is None and intervals is not None and not lost:
        return ""
    before = "" if changes is None else changes.before
    return f"-{address('reports', before=before, intervals=intervals is not None, lost=lost)[:8]}"


def _previous(store: Store, plan: Plan) -> Side | None:
    run = before(store, plan)
    from pipeline.report.changes.diff import side_of

    return None if run is None else side_of(store, run)


def _changes(previous: Side | None, plan: Plan, grid: Any, results: Sequence[Result]) -> Diff | None:
    """Changes since the run before; None before the first, or where that cannot be read."""
    if previous is None:
        return None
    from pipeline.report.changes.diff import Side, compare

    by_cell = {result.cell: result for result in results}
    after = Side.of(str(grid[""].attrs["run"]), plan, lambda cell: by_cell[cell], grid)
    return unless_damaged(lambda: compare(previous, after), f"run {previous.run}")


def sound_result(store: Store, plan: Plan, job: Job, sha256: str | None = None) -> tuple[Result, Work]:
    """A job's result, scored again where it is lost, damaged, another's, or not of the digest that a run records."""
    work = Work.of_reused(job.path)

    def again() -> None:
        nonlocal work, sha256
        sha256 = None  # what is made now is what the inputs give
        work = do_cell(store, plan, job.cell, anew=True)
        work = work if work.damaged else work + Work.of_damaged(job.path)

    found = mended(lambda: kept_result(store, job, sha256), again, job.path)[0]
    whole, more = with_supplements(store, plan, job, found)
    return whole, work + more


def boards_of(store: Store, run: Run) -> RunBoards:
    """All boards of a run: from the small file of them, or from the grid where a run has no such file."""
    found = unless_damaged(lambda: read_boards(reports_of(store, run)), NAME) if NAME in run.reports else None
    return read_run(load_grid(store, run)) if found is None else found


def document(plan: Plan, work: Work) -> Mapping[str, Any]:
    """The record of an execution: counts by ring, bytes read, and how many bytes of inputs the plan hashed."""
    sizes = {source.uri: source.n_bytes for job in plan.jobs for source in job.inputs.values()}
    return {**work.document(), "bytes_hashed": sum(sizes.values())}
