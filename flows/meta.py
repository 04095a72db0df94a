"""The flow of a meta-analysis: score what lacks, draw replicates on the cluster, conclude. Import after
``settings.prepare_environment``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from distributed import CancelledError, Client, KilledWorker
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.task_runners import ThreadPoolTaskRunner

from flows.clusters.kinds import open_cluster
from flows.overnight import rescore
from flows.settings import settings_for
from flows.studies import Planned, conclude, evaluations, finish_here, is_light, lacking, prepare, wanted_draws
from flows.tasks import is_platform_fault
from pipeline.config.meta_file import load_study
from pipeline.engine.runner import runner
from pipeline.errors import PlatformError
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
    with at_work(kept), open_cluster(settings) as opened, Client(opened.scheduler, set_as_default=False) as client:
        runs = {one.name: _scored(one, kept, opened.scheduler) for one in lacking(planned)}
        found = evaluations(planned, runs)
        futures = [
            resample.with_options(task_run_name=one.name).submit(
                one.store.root, wanted_draws(study, one), study.resampling, client
            )
            for one in found
        ]
        for future in futures:
            future.result()
        _, paths = conclude(study, kept, found)
    return paths


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
def resample(store: str, wanted: Sequence[Draw], how: Resampling, client: Client) -> int:
    """Draw replicates on the cluster, those that the store has left out; how many were made."""
    kept, made = Store(store), 0
    for start in range(0, len(wanted), WAITING_AT_ONCE):
        made += sum(_drawn(client, kept, wanted[start : start + WAITING_AT_ONCE], how))
    return made


def _drawn(client: Client, store: Store, wanted: Sequence[Draw], how: Resampling) -> Sequence[int]:
    """What each task made. Raises ``PlatformError`` when the cluster lost one."""
    run = runner(client)
    try:
        made: Sequence[int] = client.gather([run.submit(work, store, one, how) for one in wanted])
    except (KilledWorker, CancelledError, OSError) as error:
        raise PlatformError(f"the cluster lost replicates: {error}. Run again; done work is reused.") from error
    return made
