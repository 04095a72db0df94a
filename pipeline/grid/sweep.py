"""Sweeping a store: what no kept run reaches, and nobody wrote lately, can go."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pipeline.engine.cell import load_result
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Plan, load_plan
from pipeline.engine.stored import references, tablestore
from pipeline.errors import DamageError
from pipeline.store import leases, manifest, studies
from pipeline.store.blobs import Store
from pipeline.store.entries import Entry

DAY_S = 86_400.0
_READERS_AT_ONCE = 8
FORMER = ("traces", "totals", "alignments", "partials", "kin")
"""Folders that rescore 0.1.0 kept."""
BATCHED = ("trials", "labels")
"""Folders in which groups of many rows are folders themselves, beside their index."""
FOLDERS = (
    *(
        "refs",
        "studies",
        "runs",
        "reports",
        "grids",
        "resamples",
        "results",
        *FORMER,
        "labels",
        "trials",
        "pieces",
        "scratch",
        "references",
        "tables",
        "plans",
        "performance",
    ),
)
"""Everything a store of ours holds, in the order in which it goes: what names others goes before them."""
REMOVED_BETWEEN_LOOKS = 50
"""Objects that a collection removes before it looks again whether a run waits for it."""


@dataclass(frozen=True)
class Sweep:
    """The objects that a sweep would remove, and counts of those it leaves."""

    removable: tuple[str, ...]
    n_bytes: int
    n_kept: int
    n_young: int
    """Objects that nothing reaches, but that were written too lately: a run that is not published yet may need them."""
    leftovers: tuple[Entry, ...] = ()
    """Temporary files of writers that were killed."""


def survey(store: Store, *, older_than_s: float = DAY_S, keep: int | None = None, now_s: float | None = None) -> Sweep:
    """The objects that may be removed now.

    ``keep`` is the number of commits kept of each evaluation and of each study; by default all.

    Raises ``DamageError`` where it cannot be told what a kept run stands on: then nothing may be removed.
    """
    limit_s = (time.time() if now_s is None else now_s) - older_than_s
    entries = store.entries()
    times, sizes = {one.path: one.written_s for one in entries}, {one.path: one.n_bytes for one in entries}
    kept = _reached(store, keep) | _of_studies(store, keep) | _planned(store, times, limit_s)
    removable, n_kept, n_young = list[str](), 0, 0
    for path in sizes:
        if path.partition("/")[0] not in FOLDERS or _whole(path) in kept:
            n_kept += 1
        elif times.get(path, limit_s) >= limit_s:
            n_young += 1
        else:
            removable.append(path)
    removable.sort(key=_turn)
    leftovers = tuple(entry for entry in store.leftovers() if entry.written_s < limit_s)
    n_bytes = sum(sizes[path] for path in removable) + sum(entry.n_bytes for entry in leftovers)
    return Sweep(tuple(removable), n_bytes, n_kept, n_young, leftovers)


def _turn(path: str) -> tuple[int, bool, bool, str]:
    """When an object goes: after what names it."""
    return FOLDERS.index(path.partition("/")[0]), studies.REFS not in path, ".zarr/" in path, path


def collect(store: Store, *, older_than_s: float = DAY_S, keep: int | None = None) -> tuple[Sweep, int]:
    """Remove what ``survey`` finds, unless a run is at work in the store, and until one begins.

    Returns what could go, and how many objects of it went. Raises as ``survey`` does.
    """
    with leases.alone(store) as lease:
        if lease is None:
            return survey(store, older_than_s=older_than_s, keep=keep), 0
        lease.sweep()
        sweep = survey(store, older_than_s=older_than_s, keep=keep)
        lease.renew()
        return sweep, remove(store, sweep, lease)


def remove(store: Store, sweep: Sweep, lease: leases.Lease | None = None) -> int:
    """Remove what was surveyed; with a ``lease`` until a run begins or it is lost. Returns how many went."""
    n_removed = 0
    every: list[str | Entry] = [*sweep.removable, *sweep.leftovers]
    for at, going in enumerate(every):
        if lease is not None and not at % REMOVED_BETWEEN_LOOKS:
            lease.renew()
            if lease.others(leases.RUN):
                break
        if lease is not None and not lease.is_held():
            break
        if isinstance(going, Entry):
            store.remove_leftover(going)
        else:
            store.remove(going)
        n_removed += 1
    return n_removed


def _whole(path: str) -> str:
    """The object whose fate a path shares: batches go with their index, and what 0.1.0 kept with its record."""
    head, separator, _ = path.partition(".zarr")
    if not separator:
        return path
    folder, _, rest = head.partition("/")
    return f"{folder}/{rest.partition('/')[0]}{separator}" if folder in BATCHED else head + separator


def _reached(store: Store, keep: int | None) -> set[str]:
    reached, read = set[str](), set[str]()
    histories = {evaluation: manifest.history(store, evaluation) for evaluation in manifest.evaluations(store)}
    digests = manifest.named(*histories.values())
    for evaluation, history in histories.items():
        commits = sorted(history.items())
        for number, commit in commits if keep is None else commits[-keep:]:
            reached |= {manifest.path_of(evaluation, number), commit["manifest"]}
            reached |= {path for path in [commit.get("work", {}).get("performance")] if path}
            stored = manifest.read(store, commit["manifest"], digests)
            reached |= {_whole(path) for path in (*stored["objects"], stored["grid"])}
            reached |= _of_results(store, set(stored["results"].values()) - read, run=stored["id"])
            read |= set(stored["results"].values())
            plan = unless_damaged(lambda: load_plan(store, stored["plan"]), stored["plan"])  # noqa: B023
            reached |= set() if plan is None else _tables_of(plan)
    return reached


def _of_studies(store: Store, keep: int | None) -> set[str]:
    """Meta-analyses: the last ``keep`` of each name with all their files and replicates. Their runs are not theirs."""
    reached = set[str]()
    for study in studies.names(store):
        commits = sorted(studies.history(store, study).items())
        for number, commit in commits if keep is None else commits[-keep:]:
            found = json.loads(store.get_sealed(commit["manifest"]))
            reached |= {studies.path_of(study, number), commit["manifest"], *map(_whole, found["objects"])}
            reached |= set(found.get("replicates", ()))
    return reached


def _of_results(store: Store, addresses: Iterable[str], run: str) -> set[str]:
    def stands_on(address: str) -> set[str]:
        try:
            found = load_result(store, address)
        except DamageError as error:
            message = f"run {run}: it is not known what result {address[:12]} stands on ({error})"
            raise DamageError(f"{message}. Run its evaluation again, or keep fewer runs.") from error
        return {f"results/{address}.json", *map(_whole, found.made_from)}

    with ThreadPoolExecutor(_READERS_AT_ONCE) as pool:
        return set[str]().union(*pool.map(stands_on, addresses))


def _tables_of(plan: Plan) -> set[str]:
    """The organiser's files of a plan as they were read."""
    reached = set[str | None]()
    for job in {job.reference: job for job in plan.jobs}.values():
        protocol = plan.protocol_of(job)
        own = references.own_inputs(protocol, job.inputs)
        reached |= {tablestore.path_of(protocol, role, source) for role, source in own.items()}
    return {path for path in reached if path is not None}


def _planned(store: Store, times: dict[str, float], limit_s: float) -> set[str]:
    """Plans made lately and what they have got so far: their runs may still be going on."""
    reached = set[str]()
    for path in [path for path in times if path.startswith("plans/") and times[path] >= limit_s]:
        address = path.removeprefix("plans/").removesuffix(".json")
        plan = unless_damaged(lambda address=address: load_plan(store, address), path)  # type: ignore[misc]
        reached |= set() if plan is None else _tables_of(plan)
        for job in plan.jobs if plan is not None else ():
            reached |= {job.path, path, *job.supplements.values()}
            if store.exists(job.path):
                found = unless_damaged(lambda job=job: load_result(store, job.address), job.path)  # type: ignore[misc]
                reached |= set(map(_whole, found.made_from)) if found is not None else set()
    return reached
