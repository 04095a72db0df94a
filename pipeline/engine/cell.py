"""Score one cell of a plan, on a Dask cluster or in this process: the same tasks, the same bits.

A task gets addresses and returns an address or a partial. It opens the store itself; nothing is scattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pipeline.engine import references, tiles, totals, trialstore
from pipeline.engine.inputs import read_planned
from pipeline.engine.load import load_facts
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Job, Plan, load_plan
from pipeline.engine.result import Result, from_bytes, to_bytes
from pipeline.engine.runner import runner
from pipeline.engine.score import failed, scored
from pipeline.engine.tiles import Counted
from pipeline.engine.totals import Total
from pipeline.engine.trace import Trace
from pipeline.engine.work import Work
from pipeline.errors import DamageError, Finding, InputError
from pipeline.protocols.base import Conclusion, Protocol, Reference
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Source

if TYPE_CHECKING:
    from distributed import Client

ROWS_PER_TASK = 1_000_000
MERGE_ARITY = 8


def score_cell(store: Store, plan: Plan, cell: Cell, client: Client | None = None) -> str:
    """The address of the cell's result, scored now or found in the store.

    Refused input makes a result with a reason. Raises ``PlatformError`` when store or cluster failed.
    """
    do_cell(store, plan, cell, client)
    return plan.by_cell[cell].address


def do_cell(store: Store, plan: Plan, cell: Cell, client: Client | None = None) -> Work:
    """Score a cell as ``score_cell`` does; returns what had to be made for it."""
    job, lost = plan.by_cell[cell], Work()
    if store.exists(job.path):
        if unless_damaged(lambda: load_result(store, job.address), job.path) is not None:
            return Work.of_reused(job.path)
        lost = Work.of_damaged(job.path)
        store.remove(job.path)
    try:
        return lost + _score(store, plan, job, client)
    except InputError as error:
        reason = job.failed or "refused_input"
        result = failed(plan.protocol_of(job), reason, error, named_sources(job), cell)
        return lost + _keep(
            store, job, result, Trace(references.path_of(job.reference), objects=_refusal(store, plan, job))
        )


def _refusal(store: Store, plan: Plan, job: Job) -> tuple[str, ...]:
    """The record that the job's output is refused, where there is one."""
    if job.failed is not None:
        return ()
    protocol = plan.protocol_of(job)
    reference, _ = references.sound(store, protocol, job.reference, job.inputs)
    path = trialstore.path_of(protocol, job.inputs, reference.timeline)
    return (trialstore.refusal_path(path),) if trialstore.is_refused(store, path) else ()


def load_result(store: Store, address: str) -> Result:
    """The result at an address. Raises ``DamageError`` when it is missing or damaged."""
    try:
        return from_bytes(store.get_sealed(f"results/{address}.json"))
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(f"result {address} is damaged ({error}). Remove it and run again.") from error


def _keep(store: Store, job: Job, result: Result, trace: Trace) -> Work:
    """Write a result, after the record of what it stands on."""
    trace.save(store, job.address)
    store.put_sealed(job.path, to_bytes(result))
    return Work.of_made(job.path)


def named_sources(job: Job) -> tuple[Source, ...]:
    """The job's inputs named by their roles, as results keep them."""
    return tuple(Source(role, role, source.sha256, source.n_bytes) for role, source in sorted(job.inputs.items()))


def _score(store: Store, plan: Plan, job: Job, client: Client | None) -> Work:
    if job.failed is not None:
        where = f"{job.cell.query_set}/{job.cell.dataset}"
        lacking = [role for role in plan.protocol.family.outputs if role not in job.inputs]
        message = f"the system has no output for {where} ({', '.join(lacking)}). Submit it or leave the cell out."
        raise InputError([Finding(job.failed, message, lacking[0])])
    run = runner(client)
    place = (store, plan.address, job.cell)
    reference, work = references.sound(store, plan.protocol_of(job), job.reference, job.inputs)
    if store.exists(_total_path(plan.protocol_of(job), job, reference)):
        found: Work = run.one(reconclude, *place)
        work += found
        if job.path in work.made:
            return work
    ingested: tuple[trialstore.TrialsInfo, Work] = run.one(ingest, *place)
    info, read = ingested
    batches = tiles.batches(info.offsets, reference, ROWS_PER_TASK)
    partials = [run.submit(score_tiles, *place, first, last, info.digests) for first, last in batches]
    while len(partials) > 1:
        groups = [partials[start : start + MERGE_ARITY] for start in range(0, len(partials), MERGE_ARITY)]
        partials = [run.submit(merge, group) for group in groups]
    concluded: Work = run.one(conclude, *place, partials[0], info)
    return work + read + concluded


def lacks(store: Store, plan: Plan, job: Job) -> str:
    """What there is to do for a job: ``figures`` from what is kept, ``tiles`` of trials that are kept, or ``all``."""
    if job.failed is not None:
        return "figures"
    protocol = plan.protocol_of(job)
    reference, _ = references.sound(store, protocol, job.reference, job.inputs)
    trials = trialstore.path_of(protocol, job.inputs, reference.timeline)
    if store.exists(totals.path_of(protocol, trials, job.reference)) or trialstore.is_refused(store, trials):
        return "figures"
    return "tiles" if trialstore.is_there(store, trials) else "all"


def _total_path(protocol: Protocol, job: Job, reference: Reference) -> str:
    return totals.path_of(protocol, trialstore.path_of(protocol, job.inputs, reference.timeline), job.reference)


@lru_cache(maxsize=4)
def _plan(store: Store, plan_address: str) -> Plan:
    return load_plan(store, plan_address)


@dataclass(frozen=True)
class _Place:
    """What every task of a cell begins with."""

    job: Job
    protocol: Protocol
    reference: Reference
    work: Work
    """More than nothing only where the reference had to be mended."""

    @classmethod
    def of(cls, store: Store, plan_address: str, cell: Cell) -> _Place:
        plan = _plan(store, plan_address)
        job = plan.by_cell[cell]
        protocol = plan.protocol_of(job)
        return cls(job, protocol, *references.sound(store, protocol, job.reference, job.inputs))


def ingest(store: Store, plan_address: str, cell: Cell) -> tuple[trialstore.TrialsInfo, Work]:
    """Task: read the cell's output once into the trials store, unless it is there."""
    place = _Place.of(store, plan_address, cell)
    info, work = trialstore.ensure(store, place.protocol, place.job.inputs, place.reference.timeline)
    return info, place.work + work


def score_tiles(store: Store, plan_address: str, cell: Cell, first: int, last: int, digests: Sequence[str]) -> Counted:
    """Task: the merged partial of buckets ``first`` up to ``last``, each tile made or found in the store."""
    place = _Place.of(store, plan_address, cell)
    trials, work = trialstore.sound(store, place.protocol, place.job.inputs, place.reference.timeline, first, last)
    kind = place.protocol.family.kind
    known = digests, references.key_digests(store, kind, place.job.reference)
    made = tiles.partial(store, place.protocol, trials, place.reference, range(first, last), known)
    return replace(made, work=place.work + work + made.work)


def merge(partials: Sequence[Counted]) -> Counted:
    """Task: partials added in a fixed order."""
    return tiles.merged(partials, None)


def conclude(store: Store, plan_address: str, cell: Cell, counted: Counted, info: trialstore.TrialsInfo) -> Work:
    """Task: the cell's merged partial → its total → figures → the result in the store."""
    place = _Place.of(store, plan_address, cell)
    made_of = sorted(path for path in {*counted.work.made, *counted.work.reused} if path.startswith("partials/"))
    total = Total(counted.partial, {**info.survey, "n_rows": info.n_rows}, info.findings, (info.path, *made_of))
    path = _total_path(place.protocol, place.job, place.reference)
    totals.save(store, path, total)
    return place.work + counted.work + Work.of_made(path) + _conclude(store, place, cell, total, path)


def reconclude(store: Store, plan_address: str, cell: Cell) -> Work:
    """Task: the result from a total that an earlier run kept. No result is made where that turns out damaged."""
    place = _Place.of(store, plan_address, cell)
    path = _total_path(place.protocol, place.job, place.reference)
    total = unless_damaged(lambda: totals.load(store, path), path)
    if total is None:
        store.remove(path)
        return place.work + Work.of_damaged(path)
    return place.work + Work.of_reused(path, *total.objects) + _conclude(store, place, cell, total, path)


def _conclude(store: Store, place: _Place, cell: Cell, total: Total, path: str) -> Work:
    job, protocol, reference = place.job, place.protocol, place.reference
    resources, refused = _resources(protocol, job)
    queries = read_planned(protocol, "queries", job.inputs["queries"]) if "queries" in job.inputs else None
    facts = replace(reference.facts, load=load_facts(resources, queries, cell, reference.facts.queries))
    conclusion = protocol.family.conclude(protocol, total.partial, facts, total.survey)
    warnings = (*reference.findings, *total.findings, *refused)
    conclusion = _with_stored_curves(protocol, conclusion)
    result = scored(protocol, conclusion, named_sources(job), warnings, cell)
    return _keep(store, job, result, Trace(references.path_of(job.reference), path, total.objects))


def _with_stored_curves(protocol: Protocol, conclusion: Conclusion) -> Conclusion:
    keep = protocol.family.stored_curve
    parts = {name: replace(part, curve=keep(part.curve)) for name, part in conclusion.conditions.items()}
    return replace(conclusion, curve=keep(conclusion.curve), conditions=parts)


def _resources(protocol: Protocol, job: Job) -> tuple[Any | None, tuple[Finding, ...]]:
    """What the participant declared. A refused declaration costs the load figures, with a warning, not the cell."""
    if "resources" not in job.inputs:
        return None, ()
    try:
        return read_planned(protocol, "resources", job.inputs["resources"]), ()
    except InputError as error:
        return None, error.findings
