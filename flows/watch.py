"""Run what changed: compare keys, outputs and configuration with the last manifest, score, publish or stage.

A deployment's schedule, or ``rescore watch``, calls it. Import after ``settings.prepare_environment``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.events import emit_event

from flows.overnight import rescore
from flows.settings import settings_for
from flows.steps import finish, is_small, score_here
from pipeline.config import load_evaluation
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Plan, missing
from pipeline.engine.plan import plan as make_plan
from pipeline.engine.work import work_text
from pipeline.errors import UsageError
from pipeline.grid import STAGED, Run, before, check_sizes, latest
from pipeline.report.diff import Diff, compare, side_of
from pipeline.report.diff_documents import diff_text
from pipeline.store.blobs import Store
from pipeline.terms import Evaluation


@dataclass(frozen=True)
class Watched:
    """What one look came to."""

    evaluation: str
    run: str
    state: str
    """``unchanged``, ``published`` or ``staged``."""
    changes: str = ""
    """What moved, as ``rescore diff`` says it."""


@flow(name="rescore-watch", flow_run_name="watch {evaluation}", retries=0, persist_result=False)
def watch(
    evaluation: str,
    store: str | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    publish: bool | None = None,
) -> Watched:
    """Look once at an evaluation; where anything differs from its last run, score that and publish or stage it.

    ``publish`` may tell otherwise than the evaluation's ``publication``, but for a sealed one: its results never
    appear unattended. Leaves an event ``rescore.run.published`` or ``rescore.run.staged``, and an artifact with what
    moved. Raises ``UsageError`` for ``publish`` of a sealed evaluation, and what ``rescore`` raises.
    """
    settings = settings_for(store, cluster, workers)
    kept, described = Store(settings.store), load_evaluation(evaluation)
    staged = is_staged(described, publish)
    work = make_plan(described, kept)
    standing = last(kept, work, staged=staged)
    if standing is not None:
        return Watched(work.evaluation, standing.id, "unchanged")
    todo = missing(work.jobs, kept)
    if is_small(kept, work, todo):
        run = finish(kept, work, score_here(kept, work, todo), staged=staged)
    else:
        run = rescore(evaluation, store, cluster, workers, plan=work.address, prepared=work.work, staged=staged)
    return _told(kept, work, run, "staged" if staged else "published")


def is_staged(evaluation: Evaluation, publish: bool | None) -> bool:
    """Whether a run's results wait for a person."""
    if evaluation.publication == "sealed" and publish:
        raise UsageError(
            f"{evaluation.name} is sealed: its results never appear unattended. Stage them, then `rescore publish RUN`."
        )
    return evaluation.publication != "open" if publish is None else not publish


def last(store: Store, work: Plan, *, staged: bool) -> Run | None:
    """The run that holds all that the plan asks for already, published or, where it may wait, staged; or None."""
    for name in (work.evaluation, *([f"{work.evaluation}{STAGED}"] if staged else [])):
        run = unless_damaged(lambda name=name: _whole(store, name), f"the run of {name}")  # type: ignore[misc]
        if run is not None and run.plan == work.address:
            return run
    return None


def _whole(store: Store, name: str) -> Run | None:
    run = latest(store, name)
    if run is not None:
        check_sizes(store, run)
    return run


def _told(store: Store, work: Plan, run: Run, state: str) -> Watched:
    """Leave event and artifact for whoever follows them."""
    changes = unless_damaged(lambda: _changes(store, work, run), f"run {run.id}")
    text = "This is the first run." if changes is None else diff_text(changes)
    emit_event(
        f"rescore.run.{state}",
        resource={"prefect.resource.id": f"rescore.evaluation.{run.evaluation}", "rescore.run": run.id},
        payload=_payload(run, changes),
    )
    create_markdown_artifact(
        key=re.sub(r"[^a-z0-9]+", "-", f"changes-{run.evaluation}".lower()).strip("-"),
        markdown=f"Run `{run.id}` is {state}: {work_text(run.work)}.\n\n```\n{text}\n```\n",
        description=f"{run.evaluation}: what moved",
    )
    return Watched(run.evaluation, run.id, state, text)


def _changes(store: Store, work: Plan, run: Run) -> Diff | None:
    earlier = before(store, work)
    return None if earlier is None else compare(side_of(store, earlier), side_of(store, run))


def _payload(run: Run, changes: Diff | None) -> dict[str, Any]:
    moved = [] if changes is None else [cell for cell in changes.cells if cell.has_moved]
    return {
        "run": run.id,
        "evaluation": run.evaluation,
        "before": None if changes is None else changes.before,
        "n_scored": run.n_scored,
        "n_failed": run.n_failed,
        "n_cells_moved": len(moved),
        "causes": [] if changes is None else [f"{cause.kind} {cause.name}" for cause, _ in changes.causes],
    }
