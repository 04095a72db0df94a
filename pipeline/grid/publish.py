"""Publishing a run: the grid, then the manifest that names every object, then the reference that makes it latest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pipeline.engine.labels import relabel
from pipeline.engine.plan import Job, Plan
from pipeline.engine.result import Result
from pipeline.errors import StoreError
from pipeline.grid.gather import gather
from pipeline.store import arrays, manifest
from pipeline.store.address import address
from pipeline.store.blobs import Store

if TYPE_CHECKING:
    import xarray as xr

Report = Callable[[Store, str, "dict[str, xr.Dataset]", Sequence[Result]], Mapping[str, str]]


@dataclass(frozen=True)
class Run:
    """A published run. Its id is made of the plan and the results: the same work has the same id."""

    id: str
    evaluation: str
    plan: str
    grid: str
    results: Mapping[str, str]
    """Result address by cell name."""
    reports: Mapping[str, str]
    n_scored: int
    n_failed: int


def publish(store: Store, plan: Plan, results: Sequence[Result], report: Report | None = None) -> Run:
    """Write grid, reports and manifest of a run whose results are all in the store, and make it the latest.

    Raises ``StoreError``; whatever fails before the last step leaves the previous run the latest.
    """
    ordered = [_named(result, plan) for result in results]
    run_id = address("run", plan=plan.address, results=[job.address for job in plan.jobs])[:16]
    grid_path = f"grids/{plan.evaluation}/{run_id}.zarr"
    groups = {name: group.assign_attrs(run=run_id) for name, group in gather(plan, ordered).items()}
    if not arrays.is_complete(store, grid_path):
        arrays.write_groups(store, grid_path, groups)
    reports = {} if report is None else dict(report(store, f"reports/{plan.evaluation}/{run_id}", groups, ordered))
    run = Run(
        id=run_id,
        evaluation=plan.evaluation,
        plan=plan.address,
        grid=grid_path,
        results={str(job.cell): job.address for job in plan.jobs},
        reports=reports,
        n_scored=sum(result.failed is None for result in results),
        n_failed=sum(result.failed is not None for result in results),
    )
    path = f"runs/{run_id}.json"
    store.put_sealed(path, json.dumps({**run.__dict__, "objects": _objects(store, run)}, sort_keys=True).encode())
    newest = manifest.latest(store, plan.evaluation)
    if newest is None or newest["run"] != run_id:
        manifest.commit(store, plan.evaluation, {"run": run_id, "manifest": path})
    return run


def _objects(store: Store, run: Run) -> dict[str, Any]:
    """Every object of the run with its size and digest: nothing is read that no manifest names."""
    paths = [f"results/{name}.json" for name in run.results.values()]
    paths += [*run.reports.values(), f"plans/{run.plan}.json", f"{run.grid}.json"]
    return {path: store.describe(path) for path in sorted(set(paths))}


def _named(result: Result, plan: Plan) -> Result:
    """A result whose findings name files instead of roles."""
    if result.cell is None:
        raise StoreError("a result of a run has no cell. Remove it and run again.")
    job: Job = plan.by_cell[result.cell]
    names = {role: plan.labels.get(source.uri, role) for role, source in job.inputs.items()}
    sources = tuple(replace(source, uri=names.get(source.role, source.uri)) for source in result.sources)
    return replace(result, findings=relabel(result.findings, names), sources=sources)


def latest(store: Store, evaluation: str) -> Run | None:
    """The latest published run of an evaluation, or None."""
    newest = manifest.latest(store, evaluation)
    if newest is None:
        return None
    stored = json.loads(store.get_sealed(newest["manifest"]))
    stored.pop("objects")
    return Run(**stored)


def load_grid(store: Store, run: Run) -> dict[str, xr.Dataset]:
    """The groups of a run's grid."""
    return {name: arrays.open_group(store, run.grid, name) for name in ("", "queries", "curves", "load")}
