"""Publishing a run: the grid, then the manifest that names every object, then the reference that makes it latest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pipeline.engine.labels import relabel
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Job, Plan
from pipeline.engine.result import Result
from pipeline.engine.work import Work
from pipeline.errors import DamageError, StoreError
from pipeline.grid.gather import gather
from pipeline.store import arrays, former, leases, manifest
from pipeline.store.address import address, digest_bytes
from pipeline.store.blobs import Store
from pipeline.store.noting import NotingStore
from pipeline.store.seal import seal, unseal

if TYPE_CHECKING:
    import xarray as xr

Report = Callable[[Store, str, "dict[str, xr.Dataset]", Sequence[Result]], Mapping[str, str]]
Took = Callable[[], Mapping[str, Any]]
"""The work of an execution up to now (``Work.document``); asked for when all but the last step is done."""
STAGED = "+staged"
"""Ends the name under which runs lie that wait to be published; no evaluation's own name has it."""
GROUPS = ("", "queries", "curves", "load")
"""Groups of a grid that reports, studies and comparisons of runs are made from; ``margins`` is for people alone."""
_READERS_AT_ONCE = 8


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
    work: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The work of the execution that published it last (``Work.document``)."""

    @property
    def places(self) -> dict[str, str]:
        """Paths that a person opens, by name: reports, the folders of boards', systems' and cells' files, the grid."""
        folder = self.reports.get("index.html", f"reports/{self.evaluation}/{self.id}/").rpartition("/")[0]
        cells, paged = tuple(f"{cell}/" for cell in self.results), ("boards", "systems")
        folders = {name: f"{folder}/{name}" for name in paged if any(n.startswith(f"{name}/") for n in self.reports)}
        inner = (*(f"{name}/" for name in paged), *cells)
        alone = {name: path for name, path in self.reports.items() if not name.startswith(inner)}
        own = {name.rpartition("/")[2] for name in self.reports if name.startswith(cells)}
        aligned = {"alignments": folder} if "alignment.csv" in own else {}
        drawn = {"det": folder} if own & {"det.svg", "det.pdf"} else {}
        return {**alone, **folders, **aligned, **drawn, "grid": self.grid}


def publish(
    store: Store,
    plan: Plan,
    results: Sequence[Result],
    report: Report | None = None,
    work: Took | None = None,
    *,
    staged: bool = False,
) -> Run:
    """Write grid, reports and manifest of a run whose results are all in the store, and make it the latest.

    A run that is there and sound is not written again. ``work`` is what it took; it stands in the
    reference, so that the run's own bytes do not depend on what was there before. A ``staged`` run is written like any
    other, but readers go on to see the run before until a person publishes it.
    Raises ``StoreError``; whatever fails before the last step leaves the previous run the latest.
    """
    run_id = id_of(plan)
    path = _path(run_id)
    run = unless_damaged(lambda: _verified(store, run_id), path) if store.exists(path) else None
    if run is None:
        run = _write(store, plan, run_id, [named(result, plan) for result in results], report)
    done = dict(work() if work is not None else Work().document())
    name = f"{plan.evaluation}{STAGED if staged else ''}"
    newest = unless_damaged(lambda: manifest.latest(store, name), f"refs/{name}")
    if newest is None:
        manifest.discard_damaged(store, name)
    committed = _committed(store, run_id)
    if newest is None or done["damaged"] or not committed.items() <= newest.items():
        leases.ensure_held(store)
        manifest.commit(store, name, {**committed, "work": done})
    return replace(run, work=done)


def promote(store: Store, run_id: str, release: Mapping[str, Any] | None = None) -> Run:
    """Make a staged run the latest of its evaluation, after a look at every object of it.

    ``release`` says who let it be seen and as what; it stands in the reference itself, and makes one even where the
    run is the latest already.
    Raises ``DamageError`` where one is not what was written; the run before stays the latest then.
    """
    with leases.at_work(store):
        return _promoted(store, run_id, release)


def _promoted(store: Store, run_id: str, release: Mapping[str, Any] | None) -> Run:
    run = _verified(store, run_id)
    staged = manifest.history(store, f"{run.evaluation}{STAGED}").values()
    work = next((entry["work"] for entry in staged if entry["run"] == run_id), Work().document())
    newest = manifest.latest(store, run.evaluation)
    committed = _committed(store, run_id)
    if newest is None or release is not None or not committed.items() <= newest.items():
        recorded = {} if release is None else {"release": dict(release)}
        leases.ensure_held(store)
        manifest.commit(store, run.evaluation, {**committed, "work": work, **recorded})
    return replace(run, work=work)


def _committed(store: Store, run_id: str) -> dict[str, Any]:
    """What a commit says of a run: its id, and which manifest holds it. Raises ``DamageError`` where that is none."""
    path = _path(run_id)
    noting = store if isinstance(store, NotingStore) else NotingStore(store.root)
    return {"run": run_id, "manifest": path, "sha256": noting.vouched(path)["sha256"]}


def id_of(plan: Plan) -> str:
    """The id of the run that a plan makes."""
    return address("run", plan=plan.address, results=[job.address for job in plan.jobs])[:16]


def before(store: Store, plan: Plan) -> Run | None:
    """The run that was the latest when the plan's run was first published, or now if it never was; None if none was."""
    earlier = None
    for entry in manifest.history(store, plan.evaluation).values():
        if entry["run"] == id_of(plan):
            break
        earlier = entry["run"]
    return None if earlier is None else load_run(store, earlier)


def _write(store: Store, plan: Plan, run_id: str, results: Sequence[Result], report: Report | None) -> Run:
    grid_path = f"grids/{plan.evaluation}/{run_id}{arrays.ENDING}"
    store = store if isinstance(store, NotingStore) else NotingStore(store.root)
    groups = {name: group.assign_attrs(run=run_id) for name, group in gather(plan, results).items()}
    arrays.write_groups(store, grid_path, groups)
    shown = {name: groups[name] for name in GROUPS}
    reports = {} if report is None else dict(report(store, f"reports/{plan.evaluation}/{run_id}", shown, results))
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
    stored = {name: value for name, value in asdict(run).items() if name != "work"}
    data = seal(json.dumps({**stored, "objects": _objects(store, run, plan)}, sort_keys=True).encode())
    if not store.create(_path(run_id), data):
        # Who publishes the same meanwhile may have another run before it, and other reports: the first one counts.
        theirs = unless_damaged(lambda: _verified(store, run_id), _path(run_id))
        if theirs is not None:
            return theirs
        store.put(_path(run_id), data)
    return run


def _path(run_id: str) -> str:
    return f"runs/{run_id}.json"


def _objects(store: NotingStore, run: Run, plan: Plan) -> dict[str, Any]:
    """Every object of the run with its size and digest: nothing is read that no manifest names."""
    paths = [path for job in plan.jobs for path in (job.path, *job.supplements.values())]
    paths += [*run.reports.values(), f"plans/{run.plan}.json", run.grid]
    return {path: store.vouched(path) for path in sorted(set(paths))}


def named(result: Result, plan: Plan) -> Result:
    """A result whose findings and sources name files instead of roles."""
    if result.cell is None:
        raise StoreError("a result of a run has no cell. Remove it and run again.")
    job: Job = plan.by_cell[result.cell]
    names = {role: plan.labels.get(source.uri, role) for role, source in job.inputs.items()}
    sources = tuple(replace(source, uri=names.get(source.role, source.uri)) for source in result.sources)
    return replace(result, findings=relabel(result.findings, names), sources=sources)


def recorded(store: Store, plan: Plan) -> dict[str, str]:
    """The SHA-256 of each result of the newest runs of a plan's evaluation, published and staged, by its path.

    Nothing where there is no such run, or its manifest cannot be read.
    """
    found: dict[str, str] = {}
    for name in (f"{plan.evaluation}{STAGED}", plan.evaluation):
        newest = unless_damaged(lambda name=name: manifest.latest(store, name), f"refs/{name}")  # type: ignore[misc]
        if newest is None:
            continue
        read = unless_damaged(lambda run=newest["run"]: _manifest(store, run), newest["manifest"])  # type: ignore[misc]
        objects = {} if read is None else read[1]
        found |= {path: about["sha256"] for path, about in objects.items() if path.startswith("results/")}
    return found


def load_run(store: Store, run_id: str) -> Run:
    """The run of an id. Raises ``DamageError`` where its manifest is lost or damaged."""
    return _manifest(store, run_id)[0]


def _committed_digests(store: Store, run: Run) -> set[str] | None:
    """The digests of a run's manifest that commits name now; None where none does."""
    names = (run.evaluation, f"{run.evaluation}{STAGED}")
    newest = [unless_damaged(lambda name=name: manifest.latest(store, name), f"refs/{name}") for name in names]  # type: ignore[misc]
    histories = [{0: one} for one in newest if one is not None and one["run"] == run.id]
    if not histories:
        histories = [manifest.sound_history(store, name) for name in names]
    return manifest.named(*histories).get(_path(run.id))


def _manifest(store: Store, run_id: str) -> tuple[Run, dict[str, Any]]:
    return _parsed(store.get_sealed(_path(run_id)))


def _parsed(data: bytes) -> tuple[Run, dict[str, Any]]:
    stored = json.loads(data)
    objects: dict[str, Any] = stored.pop("objects")
    return Run(**stored), objects


def faults(store: Store, run_id: str) -> list[str]:
    """Objects of a run that are not what its manifest says, read one by one; empty when all is sound.

    So is the manifest itself where a commit of the run names another one.
    """
    data = store.get(_path(run_id))
    run, objects = _parsed(unseal(data, store.url(_path(run_id))))
    digests = _committed_digests(store, run)
    if digests is not None and digest_bytes(data) not in digests:
        return [_path(run_id)]

    def look(path: str) -> bool:
        return bool(unless_damaged(lambda: store.describe(path), path) == objects[path])

    with ThreadPoolExecutor(_READERS_AT_ONCE) as pool:
        sound = list(pool.map(look, objects))
    return [path for path, fine in zip(objects, sound, strict=True) if not fine]


def reports_of(store: Store, run: Run) -> Callable[[str], bytes]:
    """The bytes of a report of a run by its name.

    The function raises ``DamageError`` where they are not those that the run's manifest names.
    """
    _, objects = _manifest(store, run.id)

    def report(name: str) -> bytes:
        data = store.get(path := run.reports[name])
        if digest_bytes(data) != objects.get(path, {}).get("sha256"):
            url = store.url(path)
            raise DamageError(f"{url}: the object is not what the run's manifest says. Run again to mend it.")
        return data

    return report


def check_objects(store: Store, run: Run) -> None:
    """Raise ``DamageError`` where an object that the run's manifest names has other bytes than were written."""
    _verified(store, run.id)


def _verified(store: Store, run_id: str) -> Run:
    if damaged := faults(store, run_id):
        raise DamageError(f"run {run_id}: {', '.join(damaged[:3])} {'is' if len(damaged) == 1 else 'are'} damaged.")
    return load_run(store, run_id)


def latest(store: Store, evaluation: str) -> Run | None:
    """The latest published run of an evaluation, or None."""
    newest = manifest.latest(store, evaluation)
    return None if newest is None else replace(load_run(store, newest["run"]), work=newest.get("work", {}))


def load_grid(store: Store, run: Run) -> dict[str, xr.Dataset]:
    """The groups of a run's grid."""
    if run.grid.endswith(former.ENDING):
        return {name: former.open_group(store, run.grid, name) for name in GROUPS}
    return arrays.open_groups(store, run.grid, GROUPS)
