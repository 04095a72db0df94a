"""Run a study from a terminal: without Prefect or Dask when there is little to score and to draw."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console

from flows.guard import guarded, leave
from flows.settings import Settings, check_cluster, check_flow, prepare_environment, settings_for, workers_said
from flows.studies import (
    MOST_DRAWN_HERE,
    Planned,
    conclude,
    evaluations,
    finish_here,
    is_light,
    lacking,
    prepare,
)
from pipeline.config.meta_file import load_study
from pipeline.config.urls import masked
from pipeline.engine.memory import without_collector
from pipeline.engine.mending import unless_damaged
from pipeline.errors import PlatformError, RescoreError
from pipeline.grid import id_of
from pipeline.meta.resamples import PER_TASK
from pipeline.meta.study import Study
from pipeline.meta.variants import is_probe
from pipeline.store import studies
from pipeline.store.blobs import Store
from pipeline.store.leases import at_work


@dataclass(frozen=True)
class StudySummary:
    """The outcome of a study: the names of its evaluations, and URLs by name."""

    name: str
    evaluations: tuple[str, ...]
    paths: Mapping[str, str]


def run_study(
    file: str,
    *,
    store: str,
    cluster: str | None = None,
    workers: int | str | None = None,
    quiet: bool = False,
    own_process: bool = False,
) -> StudySummary:
    """Do the study that a meta file describes, and say where everything is (unless ``quiet``).

    Where nothing but the study lives in this process (``own_process``), it ends soon where Prefect's server is gone.
    Raises ``ConfigError`` and ``InputError`` for the study's own files, ``PlatformError`` for everything else that
    keeps it from being done.
    """
    settings = settings_for(store, cluster, workers)
    check_cluster(settings)
    kept, study = Store(store), load_study(file)
    planned = prepare(study, kept)
    if is_brief(study, kept, planned):
        with at_work(kept):
            runs = {one.name: finish_here(one) for one in lacking(planned)}
            _, paths = conclude(study, kept, evaluations(planned, runs))
    else:
        check_flow(settings)
        if not quiet:
            n_probes = sum(is_probe(one.name) for one in planned)
            again = f", {n_probes} times again at other tolerances" if n_probes else ""
            text = f"{len(planned) - n_probes} evaluations{again}. Starting Prefect and Dask ({settings.cluster}) …"
            Console(file=sys.stderr, highlight=False).print(text, style="dim")
        paths = dict(_start_flow(file, settings, own_process=own_process))
    named = tuple(one.name for one in planned if not is_probe(one.name))
    summary = StudySummary(study.name, named, {name: kept.url(path) for name, path in paths.items()})
    if not quiet:
        console = Console(highlight=False, soft_wrap=True)
        console.print(f"Study {summary.name}: {', '.join(summary.evaluations)}", markup=False)
        for name, place in summary.paths.items():
            console.print(f"  {name:<15} {masked(place)}", markup=False)
    return summary


def is_brief(study: Study, store: Store, planned: tuple[Planned, ...]) -> bool:
    """Whether no output is to be read, and what is to be drawn is soon drawn in this process, or was drawn before."""
    todo = lacking(planned)
    if not all(is_light(one) for one in todo):
        return False
    done = unless_damaged(lambda: studies.latest(store, study.name), f"the latest study {study.name}")
    if not todo and done is not None and done["source"] == study.source:
        runs = {one.run.id if one.run is not None else id_of(one.plan) for one in planned}
        if runs <= set(done.get("runs", ())) and store.listing("resamples").keys() >= set(done["replicates"]):
            return True
    per_cell = -(-study.resampling.n_replicates // PER_TASK) * max(1, len(study.measures))
    return sum(len(one.plan.jobs) * per_cell for one in planned if not is_probe(one.name)) <= MOST_DRAWN_HERE


def _start_flow(file: str, settings: Settings, *, own_process: bool) -> Mapping[str, str]:
    """Run the flow, with an embedded Prefect server unless the environment names one."""
    prepare_environment()
    from flows.clusters.local import begun  # Dask, like Prefect, reads the environment when it is imported

    try:
        with guarded(), begun(settings):
            with without_collector():
                from flows.meta import meta
                from flows.server import attended, start_server
            start_server()
            with attended(settings.no_worker_s, leave if own_process else None):
                return meta(file, store=settings.store, cluster=settings.cluster, workers=workers_said(settings))
    except RescoreError:
        raise
    except Exception as error:  # Prefect and its HTTP client raise all sorts when the server does not answer
        raise PlatformError(f"the flow failed ({type(error).__name__}: {error}).") from error
