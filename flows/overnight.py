"""The overnight flow: plan → one task per cell → gather → publish. Import after ``settings.prepare_environment``."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from queue import SimpleQueue
from typing import Any

from distributed import Client
from prefect import flow, runtime
from prefect.futures import PrefectFuture
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.utilities.annotations import quote

from flows.clusters.kinds import open_cluster
from flows.clusters.local import sized
from flows.deaths import ALONE, IN_COMPANY, blame_after, suspected_after
from flows.flight import flying
from flows.guard import leave
from flows.logs import from_workers, structured
from flows.lookout import LOOK_S, Lookout
from flows.performance import kept_performance
from flows.progress import progress
from flows.server import attended, ending, is_lost
from flows.settings import Settings, settings_for
from flows.steps import get_ready_to_finish
from flows.takes import Takes, heaviest, slowest
from flows.tasks import ScoredCells, TaskPlace, publish_run, score_cells
from flows.told import State, leave_artifacts, name_run, show_dashboard, tell
from flows.turns import turn
from pipeline.config import load_evaluation
from pipeline.engine.plan import Job, Plan, load_plan, missing
from pipeline.engine.plan import plan as make_plan
from pipeline.engine.work import Work, total
from pipeline.errors import PlatformError, RescoreError
from pipeline.grid import Run, id_of, latest
from pipeline.season.gate import waits_for
from pipeline.store.blobs import Store
from pipeline.store.leases import at_work
from pipeline.terms import Cell, Evaluation

MOST_AT_ONCE = 4096
"""Threads of the flow's tasks, at most: they start as cells are sent, and who sends looks at the cluster."""
FEW_CELLS = 32
"""So many cells have a task each, however small they are: a person looks at them one by one."""
BYTES_A_TASK = 1 << 20
"""Inputs of small cells that share a task: scoring them takes about half a second, ten times what the task takes."""
_LOG = logging.getLogger("rescore")


@flow(
    name="rescore",
    flow_run_name="rescore {evaluation}",
    task_runner=ThreadPoolTaskRunner(max_workers=MOST_AT_ONCE),  # type: ignore[arg-type]  # Prefect types it too narrowly
    retries=0,
    persist_result=False,
)
def rescore(
    evaluation: str,
    store: str | None = None,
    cluster: str | None = None,
    workers: int | str | None = None,
    plan: str | None = None,
    prepared: Work | None = None,
    staged: bool = False,
    show_progress: bool = False,
) -> Run:
    """Score every cell of an evaluation that the store does not hold yet, and publish the run.

    What is not given comes from ``flows.settings``; ``plan`` is the address of a plan already made from
    ``evaluation``, ``prepared`` what making it took; a ``staged`` run waits for a person to publish it, and so does one
    without a ``plan``, which nobody attends, unless the evaluation's ``publication`` is open. Refused inputs are cells
    with a reason, and so are cells that take their workers with them.
    Raises ``InputError`` when the organiser's own files are refused, ``PlatformError`` when cells could not be
    scored because store or cluster failed; what is done stays done.
    """
    settings = settings_for(store, cluster, workers)
    kept = Store(settings.store)
    known: Plan | Evaluation = load_plan(kept, plan) if plan is not None else load_evaluation(evaluation)
    name = known.evaluation if isinstance(known, Plan) else known.name
    staged = staged or (isinstance(known, Evaluation) and known.publication != "open")
    with turn(name):
        work = known if isinstance(known, Plan) else make_plan(known, kept)
        name_run(name)
        told = structured(settings.log, {"evaluation": name, "run": id_of(work)})
        with told, attended(settings.no_worker_s, leave if runtime.deployment.id else None), ending(), at_work(kept):
            return _run(kept, work, prepared or Work(), settings, staged=staged, show_progress=show_progress)


def _run(store: Store, work: Plan, prepared: Work, settings: Settings, *, staged: bool, show_progress: bool) -> Run:
    """Score what is missing, publish, tell."""
    began_s, todo, done = time.monotonic(), missing(work.jobs, store), RunOutcome()
    notes: dict[str, Any] = {}
    _LOG.info("%d cells, %d to score", len(work.jobs), len(todo))
    if todo:
        settings = sized(settings, todo)
        with open_cluster(settings) as cluster, Client(cluster.scheduler, set_as_default=False) as client:
            from_workers(settings.log, client)
            show_dashboard(cluster.dashboard, told=show_progress)
            watched = kept_performance(client, store, wanted=not settings.brief)
            with watched as performance, suspected_after(client, IN_COMPANY), flying(client) as flight:
                lookout = Lookout(flight, cluster, settings, is_lost)
                place = TaskPlace(store.root, work.address, flight)
                done = score_alone(place, score_all(place, todo, lookout, show_progress), lookout)
        notes = {"performance": performance.path, "scoring_wall_s": round(time.monotonic() - began_s, 3)}
        notes |= {"slowest": slowest(done.takes), "heaviest": heaviest(done.takes)}
    before = None if staged else latest(store, work.evaluation)
    made: Any = quote(total([work.work, prepared, *done.works]))  # Prefect would look through thousands of paths
    run: Run = publish_run(store.root, work.address, made, staged, [_parts(cell) for cell in done.died], notes)
    _LOG.info("%d cells scored, %d failed", run.n_scored, run.n_failed)
    state: State = "staged" if staged or waits_for(store, run) else "published"
    leave_artifacts(store, run, state)
    if before is None or before.id != run.id:
        tell(store, load_plan(store, run.plan), run, state)
    return run


@dataclass
class RunOutcome:
    """The outcome of the cells that were to be scored."""

    works: list[Work] = field(default_factory=list)
    died: list[Cell] = field(default_factory=list)
    """Cells whose workers died."""
    takes: list[Takes] = field(default_factory=list)

    def add(self, scored: ScoredCells) -> None:
        """Add the outcome of one task."""
        self.works.append(scored.work)
        self.died += [Cell(*cell) for cell in scored.died]
        self.takes += scored.takes


def score_all(place: TaskPlace, jobs: Sequence[Job], lookout: Lookout, show_progress: bool) -> RunOutcome:
    """Send the jobs' cells on their way, as many as keep the cluster busy, and wait for all of them.

    Raises ``PlatformError`` when any could not be scored, for other reasons than that their workers died.
    """
    ordered = sorted(jobs, key=_n_bytes, reverse=True)
    groups = grouped(ordered, tasks_for(ordered, lookout.settings.most_tasks))
    sent = {label: [job.cell for job in group] for label, group in groups.items()}
    with progress(len(jobs), show_progress) as reached:
        return _flown(place, sent, lookout, reached)


def _flown(
    place: TaskPlace, groups: Mapping[str, list[Cell]], lookout: Lookout, reached: Callable[[int], None]
) -> RunOutcome:
    """The outcome of groups of cells, each a task. ``reached`` hears how many cells have landed, now and then."""
    failures, done, flight = dict[str, BaseException](), RunOutcome(), place.flight
    ended: SimpleQueue[tuple[str, PrefectFuture[Any]]] = SimpleQueue()
    waiting, n_left = deque(groups.items()), len(groups)
    while n_left:
        lookout.look()
        if flight.lost is not None:
            raise flight.lost
        while waiting and flight.has_room:
            _send(place, *waiting.popleft(), ended)
        get_ready_to_finish()
        flight.wait(LOOK_S)
        while not ended.empty():
            label, future = ended.get()
            n_left -= 1
            error = _failure(future)
            if error is None:
                done.add(future.result())
            else:
                failures[label] = error
        reached(flight.n_landed)
    if failures:
        label, error = min(failures.items())
        what = str(error) if isinstance(error, RescoreError) else f"{type(error).__name__}: {error}"
        message = f"{len(failures)} of {len(groups)} tasks failed, first {label}: {what}"
        raise PlatformError(f"{message.rstrip('.')}. Run again; what is done is reused.") from error
    return done


def _send(place: TaskPlace, label: str, cells: list[Cell], ended: SimpleQueue[tuple[str, PrefectFuture[Any]]]) -> None:
    """Give cells to a Prefect task, which goes to ``ended`` when it has."""

    def landed(future: PrefectFuture[Any]) -> None:
        ended.put((label, future))
        place.flight.land(cells)

    place.flight.send(cells)
    score_cells.submit(place, [_parts(cell) for cell in cells], label).add_done_callback(landed)


def score_alone(place: TaskPlace, done: RunOutcome, lookout: Lookout) -> RunOutcome:
    """Try the cells whose workers died once more, when all others are done, one at a time.

    A worker takes the tasks that wait on it along, so that in company an innocent cell may be suspected.
    """
    if not done.died:
        return done
    blame_after(place.flight.client, ALONE)
    tried = RunOutcome(list(done.works), takes=list(done.takes))
    for cell in sorted(done.died, key=str):
        _LOG.warning("workers died while they scored %s; it is tried again alone", cell, extra={"cell": str(cell)})
        alone = _flown(place, {f"{cell} alone": [cell]}, lookout, lambda _: None)
        tried.works += alone.works
        tried.died += alone.died
        tried.takes += alone.takes
    return tried


def _parts(cell: Cell) -> tuple[str, str, str]:
    """A cell as Prefect's tasks take it."""
    return (cell.query_set, cell.dataset, cell.system)


def _n_bytes(job: Job) -> int:
    """Bytes of a cell's inputs: what takes long begins first."""
    return sum(source.n_bytes for source in job.inputs.values())


def tasks_for(jobs: Sequence[Job], most: int) -> int:
    """Tasks that jobs are for, ``most`` at most: small cells are done before Prefect has made a task for each."""
    return min(most, max(FEW_CELLS, sum(map(_n_bytes, jobs)) // BYTES_A_TASK))


def grouped(jobs: Sequence[Job], most: int) -> dict[str, list[Job]]:
    """Jobs by task: one cell each; one system each where that makes more than ``most`` tasks; or several systems."""
    if len(jobs) <= most:
        return {str(job.cell): [job] for job in jobs}
    by_system = groupby(sorted(jobs, key=lambda job: job.cell.system), key=lambda job: job.cell.system)
    systems = {system: list(group) for system, group in by_system}
    names, size = list(systems), -(-len(systems) // most)
    bundles = [names[start : start + size] for start in range(0, len(names), size)]
    return {
        names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}": [job for name in names for job in systems[name]]
        for names in bundles
    }


def _failure(future: PrefectFuture[Any]) -> BaseException | None:
    """The error of a finished task, None when it succeeded."""
    future.wait()
    if future.state.is_completed():
        return None
    error = future.state.result(raise_on_failure=False)
    return error if isinstance(error, BaseException) else PlatformError(f"ended as {future.state.name}")
