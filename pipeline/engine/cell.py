"""Score one cell of a plan, on a Dask cluster or in this process: the same tasks, the same bits.

A task gets addresses and returns an address or a partial. It opens the store itself; nothing is scattered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

from pipeline import compiled
from pipeline.engine import large, pieces, references, tiles, totals, trace, trialstore
from pipeline.engine.costed import costed
from pipeline.engine.inputs import read_planned
from pipeline.engine.load import load_facts
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import WORKER_DIED, Job, Plan, load_plan
from pipeline.engine.result import Result, from_bytes, to_bytes
from pipeline.engine.runner import Here, OnCluster, runner
from pipeline.engine.score import failed, scored
from pipeline.engine.tiles import Counted
from pipeline.engine.totals import Total
from pipeline.engine.trace import Trace
from pipeline.engine.work import Work
from pipeline.errors import DamageError, Finding, InputError
from pipeline.protocols.base import Conclusion, Protocol, Reference
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Facts, Source

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
        if unless_damaged(lambda: kept_result(store, job), job.path) is not None:
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


def kept_result(store: Store, job: Job) -> Result:
    """A job's result. Raises ``DamageError`` where it, or the record of what it stands on, is missing or damaged."""
    trace.load(store, job.address)
    return load_result(store, job.address)


def load_result(store: Store, address: str) -> Result:
    """The result at an address. Raises ``DamageError`` when it is missing or damaged."""
    try:
        return from_bytes(store.get_sealed(f"results/{address}.json"))
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(f"result {address} is damaged ({error}). Remove it and run again.") from error


def _keep(store: Store, job: Job, result: Result, record: Trace) -> Work:
    """Write a result, after the record of what it stands on."""
    record.save(store, job.address)
    store.put_sealed(job.path, to_bytes(result))
    return Work.of_made(job.path)


def named_sources(job: Job) -> tuple[Source, ...]:
    """The job's inputs named by their roles, as results keep them."""
    return tuple(Source(role, role, source.sha256, source.n_bytes) for role, source in sorted(job.inputs.items()))


def _score(store: Store, plan: Plan, job: Job, client: Client | None) -> Work:
    if job.failed is not None:
        raise InputError([_foretold(plan, job, job.failed)])
    run = runner(client)
    place = (store, plan.address, job.cell)
    reference, work = references.sound(store, plan.protocol_of(job), job.reference, job.inputs)
    if store.exists(_total_path(plan.protocol_of(job), job, reference)):
        found: Work = run.one(reconclude, *place)
        work += found
        if job.path in work.made:
            return work
    if client is not None:
        path = trialstore.path_of(plan.protocol_of(job), job.inputs, reference.timeline)
        work += _read_pieces(run, store, plan, job, path)
    ingested: tuple[trialstore.TrialsInfo, Work] = run.one(ingest, *place)
    info, read = ingested
    batches = tiles.batches(info.offsets, reference, ROWS_PER_TASK)
    if client is not None and large.may_be(plan.protocol_of(job), info.n_rows):
        about = Total(None, {**info.survey, "n_rows": info.n_rows}, info.findings, (info.path,))
        makers = {batch: partial(score_tiles, *place, *batch, info.digests, info.n_rows) for batch in batches}
        kept = large.keep(run, store, _total_path(plan.protocol_of(job), job, reference), about, makers)
        work += kept.work
        if kept.exceeds and (done := conclude_parts(*place, kept, run, info)) is not None:
            return work + read + done
        partials = [run.submit(large.counted, part) for part in kept.stored]
    else:
        partials = [run.submit(score_tiles, *place, *batch, info.digests, info.n_rows) for batch in batches]
    while len(partials) > 1:
        groups = [partials[start : start + MERGE_ARITY] for start in range(0, len(partials), MERGE_ARITY)]
        partials = [run.submit(merge, group) for group in groups]
    concluded: Work = run.one(conclude, *place, partials[0], info)
    return work + read + concluded


def _read_pieces(run: Here | OnCluster, store: Store, plan: Plan, job: Job, path: str) -> Work:
    """A large output read in pieces, a task each, where its trials are not at ``path`` yet."""
    source = job.inputs[plan.protocol.family.outputs[0]]
    n_pieces = len(plan.pieces.get(source.sha256, ()))
    if not n_pieces or trialstore.is_there(store, path) or trialstore.is_refused(store, path):
        return Work()
    read = [run.submit(read_piece, store, plan.address, job.cell, k) for k in range(n_pieces)]
    done: list[Work] = run.one(list, read)
    return sum(done, Work())


def _foretold(plan: Plan, job: Job, reason: str) -> Finding:
    """Why a job fails that its plan says to fail: in the same words always, so that the result has the same bytes."""
    if reason == WORKER_DIED:
        message = (
            "worker after worker died while it scored this cell, which had the cluster to itself in the end. "
            "Look into the log of the cluster: too little memory is the usual cause. The next run tries again."
        )
        return Finding(reason, message, "")
    where = f"{job.cell.query_set}/{job.cell.dataset}"
    lacking = [role for role in plan.protocol.family.outputs if role not in job.inputs]
    message = f"the system has no output for {where} ({', '.join(lacking)}). Submit it or leave the cell out."
    return Finding(reason, message, lacking[0])


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


@costed("ingest")
def ingest(store: Store, plan_address: str, cell: Cell) -> tuple[trialstore.TrialsInfo, Work]:
    """Task: read the cell's output once into the trials store, unless it is there."""
    place = _Place.of(store, plan_address, cell)
    known = _plan(store, plan_address).pieces
    read = partial(pieces.read, store, known)
    info, work = trialstore.ensure(store, place.protocol, place.job.inputs, place.reference.timeline, read)
    for source in place.job.inputs.values():
        pieces.forget(store, place.protocol, source, known.get(source.sha256, ()))
    return info, place.work + work


@costed("pieces")
def read_piece(store: Store, plan_address: str, cell: Cell, k: int) -> Work:
    """Task: read piece ``k`` of the cell's output into the store, for the task that makes trials of all of them."""
    plan = _plan(store, plan_address)
    source = plan.by_cell[cell].inputs[plan.protocol.family.outputs[0]]
    pieces.ensure(store, plan.protocol, source, plan.pieces[source.sha256], k)
    return Work()


@costed("tiles")
def score_tiles(
    store: Store, plan_address: str, cell: Cell, first: int, last: int, digests: Sequence[str], n_trials: int
) -> Counted:
    """Task: the merged partial of buckets ``first`` up to ``last``, each tile made or found in the store.

    ``n_trials`` are those of the cell.
    """
    compiled.start(n_trials)
    place = _Place.of(store, plan_address, cell)
    job, protocol, kind = place.job, place.protocol, place.protocol.family.kind
    trials = trialstore.Rows(store, protocol, job.inputs, place.reference.timeline, first, last)
    known = digests, references.key_digests(store, kind, job.reference)

    @cache
    def kin() -> tuple[tiles.Kin, ...]:
        found = references.kin(store, protocol, job.reference, job.inputs)
        return tuple(tiles.Kin(other, references.key_digests(store, kind, name)) for name, other in found)

    made = tiles.partial(store, protocol, trials, place.reference, range(first, last), known, kin)
    return replace(made, work=place.work + trials.work + made.work)


@costed("totals")
def merge(partials: Sequence[Counted]) -> Counted:
    """Task: partials added in a fixed order."""
    return tiles.merged(partials, None)


@costed("conclude")
def conclude(store: Store, plan_address: str, cell: Cell, counted: Counted, info: trialstore.TrialsInfo) -> Work:
    """Task: the cell's merged partial → its total → figures → the result in the store."""
    compiled.start(info.n_rows)
    place = _Place.of(store, plan_address, cell)
    made_of = sorted(path for path in {*counted.work.made, *counted.work.reused} if path.startswith("partials/"))
    total = Total(counted.partial, {**info.survey, "n_rows": info.n_rows}, info.findings, (info.path, *made_of))
    path = _total_path(place.protocol, place.job, place.reference)
    totals.save(store, path, total)
    return place.work + counted.work + Work.of_made(path) + _conclude(store, place, cell, total, path)


@costed("conclude")
def reconclude(store: Store, plan_address: str, cell: Cell) -> Work:
    """Task: the result from a total that an earlier run kept. No result is made where that turns out damaged."""
    place = _Place.of(store, plan_address, cell)
    path = _total_path(place.protocol, place.job, place.reference)
    total = unless_damaged(lambda: totals.load(store, path), path)
    if total is None:
        store.remove(path)
        return place.work + Work.of_damaged(path)
    compiled.start(int(total.survey["n_rows"]))
    return place.work + Work.of_reused(path, *total.objects) + _conclude(store, place, cell, total, path)


def conclude_parts(
    store: Store,
    plan_address: str,
    cell: Cell,
    kept: large.Kept,
    run: Here | OnCluster,
    info: trialstore.TrialsInfo,
) -> Work | None:
    """The result of a cell that is too large for one worker, driven from here; None where it must be in one place."""
    place = _Place.of(store, plan_address, cell)
    protocol = place.protocol
    facts, refused = _facts(place, cell)
    conclude = protocol.family.conclude_parts
    survey = {**info.survey, "n_rows": info.n_rows}
    parts = kept.parts(run)
    try:
        conclusion = None if conclude is None else conclude(protocol, parts, facts, survey)
        if conclusion is None:
            return None
        findings = (*info.findings, *refused)
        return place.work + _keep_conclusion(store, place, cell, conclusion, findings, "", kept.objects)
    finally:
        parts.forget()


def _conclude(store: Store, place: _Place, cell: Cell, total: Total, path: str) -> Work:
    facts, refused = _facts(place, cell)
    conclusion = place.protocol.family.conclude(place.protocol, total.partial, facts, total.survey)
    conclusion = _with_stored_curves(place.protocol, conclusion)
    return _keep_conclusion(store, place, cell, conclusion, (*total.findings, *refused), path, total.objects)


def _facts(place: _Place, cell: Cell) -> tuple[Facts, tuple[Finding, ...]]:
    """The reference's facts with those of the participant's declaration, and why that was refused if it was."""
    job, protocol, facts = place.job, place.protocol, place.reference.facts
    resources, refused = _resources(protocol, job)
    queries = read_planned(protocol, "queries", job.inputs["queries"]) if "queries" in job.inputs else None
    return replace(facts, load=load_facts(resources, queries, cell, facts.queries)), refused


def _keep_conclusion(
    store: Store,
    place: _Place,
    cell: Cell,
    conclusion: Conclusion,
    findings: tuple[Finding, ...],
    total: str,
    objects: tuple[str, ...],
) -> Work:
    warnings = (*place.reference.findings, *findings)
    result = scored(place.protocol, conclusion, named_sources(place.job), warnings, cell)
    return _keep(store, place.job, result, Trace(references.path_of(place.job.reference), total, objects))


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
