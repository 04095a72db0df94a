"""The flow of a meta-analysis: score what lacks, draw replicates on the cluster, conclude. Import after
``settings.prepare_environment``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from distributed import Client
from prefect import flow, runtime, task
from prefect.cache_policies import NO_CACHE
from prefect.futures import PrefectFuture, wait
from prefect.task_runners import ThreadPoolTaskRunner

from flows.clusters.kinds import open_cluster
from flows.flight import Flight, flying
from flows.guard import leave
from flows.lookout import LOOK_S, Lookout
from flows.overnight import rescore
from flows.server import attended, ending, is_lost
from flows.settings import settings_for
from flows.studies import Planned, conclude, evaluations, finish_here, is_light, lacking, prepare, wanted_draws
from flows.tasks import is_platform_fault
from pipeline.config.meta_file import load_study
from pipeline.engine.runner import OnCluster
from pipeline.grid import Run
from pipeline.meta.intervals import Resampling
from pipeline.meta.resamples import Draw, work
from pipeline.store.blobs import Store
from pipeline.store.leases import at_work

EVALUATIONS_AT_ONCE = 4
"""Evaluations whose replicates are drawn side by side; each has thousands of tasks."""
WAITING_AT_ONCE = 2000
"""Drawing tasks that the scheduler holds at a time."""


@flow(
    name="meta",
    flow_run_name="meta {file}",
    task_runner=ThreadPoolTaskRunner(max_workers=EVALUATIONS_AT_ONCE),  # type: ignore[arg-type]  # Prefect types it too narrowly
    retries=0,
    persist_result=False,
)
def meta(
    file: str, store: str | None = None, cluster: str | None = None, workers: int | str | None = None
) -> Mapping[str, str]:
    """Do the study that the meta file describes; the paths of what it left in the store, by name.

    Evaluations and variants that the store does not hold are scored first, each as the flow ``rescore`` does, on one
    cluster for all; trials that are stored are not read again. Raises ``InputError`` for refused files,
    ``PlatformError`` where store or cluster failed; what is done stays done.
    """
    settings = settings_for(store, cluster, workers)
    kept, study = Store(settings.store), load_study(file)
    planned = prepare(study, kept)
    alone = leave if runtime.deployment.id else None
    with attended(settings.no_worker_s, alone), ending(), at_work(kept), open_cluster(settings) as opened:
        runs = {one.name: _scored(one, kept, opened.scheduler) for one in lacking(planned)}
        found = evaluations(planned, runs)
        with Client(opened.scheduler, set_as_default=False) as client, flying(client) as flight:
            drawing = [
                resample.with_options(task_run_name=one.name).submit(
                    one.store.root, wanted_draws(study, one), study.resampling, flight
                )
                for one in found
            ]
            _watch(drawing, Lookout(flight, opened, settings, is_lost))
        _, paths = conclude(study, kept, found)
    return paths


def _watch(drawing: list[PrefectFuture[int]], lookout: Lookout) -> None:
    """Wait for tasks that draw. Raises what they do, and ``PlatformError`` where cluster or server are gone."""
    while wait(drawing, timeout=LOOK_S).not_done:
        lookout.look()
        if lookout.flight.lost is not None:
            raise lookout.flight.lost
    for future in drawing:
        future.result()


def _scored(planned: Planned, store: Store, scheduler: str) -> Run:
    if is_light(planned):
        return finish_here(planned)
    run: Run = rescore(planned.plan.evaluation, store=store.root, cluster=scheduler, plan=planned.plan.address)
    return run


@task(
    retries=2,
    retry_delay_seconds=[1, 5],
    retry_condition_fn=is_platform_fault,
    cache_policy=NO_CACHE,
    persist_result=False,
)
def resample(store: str, wanted: Sequence[Draw], how: Resampling, flight: Flight) -> int:
    """Draw replicates on the cluster, those that the store has left out; how many were made."""
    kept, run, made = Store(store), OnCluster(flight.client, lambda: flight.lost), 0
    for start in range(0, len(wanted), WAITING_AT_ONCE):
        made += sum(run.each(work, ((kept, one, how) for one in wanted[start : start + WAITING_AT_ONCE])))
    return made
