"""Run what changed: compare keys, outputs and configuration with the last manifest, score, publish or stage.

A deployment's schedule, or ``rescore watch``, calls it. Import after ``settings.prepare_environment``.
"""

from __future__ import annotations

from prefect import flow

from flows.look import EvaluationState, is_staged, standing
from flows.overnight import rescore
from flows.settings import settings_for
from flows.steps import finish, is_small, score_here
from flows.told import State, moved, tell
from flows.turns import turn
from pipeline.config import load_evaluation
from pipeline.engine.plan import Plan, missing
from pipeline.engine.plan import plan as make_plan
from pipeline.season.gate import waits_for
from pipeline.store.blobs import Store
from pipeline.store.leases import at_work


@flow(name="rescore-watch", flow_run_name="watch {evaluation}", retries=0, persist_result=False)
def watch(
    evaluation: str,
    store: str | None = None,
    cluster: str | None = None,
    workers: int | str | None = None,
    publish: bool | None = None,
) -> EvaluationState:
    """Look once at an evaluation; where anything differs from its last run, score that and publish or stage it.

    ``publish`` may tell otherwise than the evaluation's ``publication``, but for a sealed one: its results never
    appear unattended. Leaves an event ``rescore.run.published`` or ``rescore.run.staged``, and an artifact with what
    moved. Raises ``UsageError`` for ``publish`` of a sealed evaluation, and what ``rescore`` raises.
    """
    settings = settings_for(store, cluster, workers)
    kept, described = Store(settings.store), load_evaluation(evaluation)
    staged = is_staged(described, publish)
    with turn(described.name):
        work = make_plan(described, kept)
        if (unchanged := standing(kept, described, work, staged=staged)) is not None:
            return unchanged
        with at_work(kept):
            return _made(evaluation, kept, work, cluster, workers, staged=staged)


def _made(
    evaluation: str, store: Store, work: Plan, cluster: str | None, workers: int | str | None, *, staged: bool
) -> EvaluationState:
    """Score and publish or stage what the plan asks for: here where that is little, else by the flow."""
    state: State = "staged" if staged else "published"
    todo = missing(work.jobs, store)
    if is_small(store, work, todo):
        run = finish(store, work, score_here(store, work, todo), staged=staged)
        state = "staged" if waits_for(store, run) else state
        return EvaluationState(work.evaluation, run.id, state, tell(store, work, run, state))
    # The flow tells by itself.
    run = rescore(evaluation, store.root, cluster, workers, plan=work.address, prepared=work.work, staged=staged)
    state = "staged" if waits_for(store, run) else state
    return EvaluationState(work.evaluation, run.id, state, moved(store, run))
