"""Whether an evaluation has changed, without Prefect and Dask: mostly it has not."""

from __future__ import annotations

from dataclasses import dataclass

from flows.settings import check_cluster, check_flow, settings_for
from pipeline.config import load_evaluation
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Plan
from pipeline.engine.plan import plan as make_plan
from pipeline.errors import UsageError
from pipeline.grid import STAGED, Run, check_objects, latest
from pipeline.season.gate import phase_of
from pipeline.store.blobs import Store
from pipeline.terms import Evaluation


@dataclass(frozen=True)
class EvaluationState:
    """The state of an evaluation at one look."""

    evaluation: str
    run: str
    state: str
    """``unchanged``, ``published`` or ``staged``."""
    changes: str = ""
    """What moved, as ``rescore diff`` says it."""


def unchanged(
    evaluation: str, store: str | None, cluster: str | None, workers: int | str | None, publish: bool | None = None
) -> EvaluationState | None:
    """Word that nothing has changed; None where the flow ``watch`` has something to do.

    Raises ``UsageError`` for a cluster that cannot be had, and what the flow raises.
    """
    settings = settings_for(store, cluster, workers)
    check_cluster(settings)
    kept, described = Store(settings.store), load_evaluation(evaluation)
    found = standing(kept, described, make_plan(described, kept), staged=is_staged(described, publish))
    if found is None:
        check_flow(settings)
    return found


def standing(store: Store, described: Evaluation, work: Plan, *, staged: bool) -> EvaluationState | None:
    """Word that nothing has changed; None where something has."""
    found = last(store, work, staged=staged or phase_of(store, described.name) is not None)
    return None if found is None else EvaluationState(work.evaluation, found.id, "unchanged")


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
        check_objects(store, run)
    return run
