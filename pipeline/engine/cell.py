"""Score one cell of a plan, on a Dask cluster or in this process: the same tasks, the same bits.

A task gets addresses and returns an address or a partial. It opens the store itself; nothing is scattered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pipeline.engine import references, tiles, trialstore
from pipeline.engine.inputs import read_planned
from pipeline.engine.load import load_facts
from pipeline.engine.plan import Job, Plan, load_plan
from pipeline.engine.result import Result, from_bytes, to_bytes
from pipeline.engine.score import failed, scored
from pipeline.errors import Finding, InputError, PlatformError, StoreError
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Source

if TYPE_CHECKING:
    from distributed import Client

ROWS_PER_TASK = 1_000_000
MERGE_ARITY = 8
_RETRIES = 2

Submit = Callable[..., Any]


def score_cell(store: Store, plan: Plan, cell: Cell, client: Client | None = None) -> str:
    """The address of the cell's result, scored now or found in the store.

    Refused input makes a result with a reason. Raises ``PlatformError`` when store or cluster failed.
    """
    job = plan.by_cell[cell]
    if not store.exists(job.path):
        try:
            _score(store, plan, job, client)
        except InputError as error:
            reason = job.failed or "refused_input"
            result = failed(plan.protocol, reason, error, named_sources(job), cell)
            store.put_sealed(job.path, to_bytes(result))
    return job.address


def load_result(store: Store, address: str) -> Result:
    """The result at an address. Raises ``StoreError`` when it is missing or damaged."""
    try:
        return from_bytes(store.get_sealed(f"results/{address}.json"))
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"result {address} is damaged ({error}). Remove it and run again.") from error


def named_sources(job: Job) -> tuple[Source, ...]:
    """The job's inputs named by their roles, as results keep them."""
    return tuple(Source(role, role, source.sha256, source.n_bytes) for role, source in sorted(job.inputs.items()))


def _score(store: Store, plan: Plan, job: Job, client: Client | None) -> None:
    if job.failed is not None:
        message = (
            f"the system has no output for {job.cell.query_set}/{job.cell.dataset}. Submit it or leave the cell out."
        )
        raise InputError([Finding(job.failed, message, "output")])
    run = _runner(client)
    place = (store, plan.address, job.cell)
    info = run.one(ingest, *place)
    batches = tiles.batches(info, references.load(store, plan.protocol.family.kind, job.reference), ROWS_PER_TASK)
    partials = [run.submit(score_tiles, *place, first, last) for first, last in batches]
    while len(partials) > 1:
        groups = [partials[start : start + MERGE_ARITY] for start in range(0, len(partials), MERGE_ARITY)]
        partials = [run.submit(merge, group) for group in groups]
    run.one(conclude, *place, partials)


class _Here:
    """Runs tasks at once, in this process."""

    def submit(self, task: Submit, *args: Any) -> Any:
        return task(*args)

    one = submit


class _OnCluster:
    """Runs tasks on the cluster; keys are not derived from arguments, since the store decides what is done."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def submit(self, task: Submit, *args: Any) -> Any:
        return self._client.submit(task, *args, pure=False, retries=_RETRIES)

    def one(self, task: Submit, *args: Any) -> Any:
        from distributed import CancelledError, KilledWorker

        try:
            return self.submit(task, *args).result()
        except (KilledWorker, CancelledError, OSError) as error:
            raise PlatformError(
                f"the cluster lost {task.__name__}: {error}. Run again; done work is reused."
            ) from error


def _runner(client: Client | None) -> _Here | _OnCluster:
    return _Here() if client is None else _OnCluster(client)


@lru_cache(maxsize=4)
def _plan(store: Store, plan_address: str) -> Plan:
    return load_plan(store, plan_address)


def ingest(store: Store, plan_address: str, cell: Cell) -> trialstore.TrialsInfo:
    """Task: read the cell's output once into the trials store, unless it is there."""
    plan = _plan(store, plan_address)
    job = plan.by_cell[cell]
    reference = references.load(store, plan.protocol.family.kind, job.reference)
    return trialstore.ensure(store, plan.protocol, job.inputs, reference.timeline)


def score_tiles(store: Store, plan_address: str, cell: Cell, first: int, last: int) -> Any:
    """Task: the merged partial of buckets ``first`` up to ``last``, each tile made or found in the store."""
    plan = _plan(store, plan_address)
    job = plan.by_cell[cell]
    reference = references.load(store, plan.protocol.family.kind, job.reference)
    trials = trialstore.load(store, plan.protocol, job.inputs, reference.timeline, first, last)
    return tiles.partial(store, plan.protocol, trials, reference, first, last)


def merge(partials: Sequence[Any]) -> Any:
    """Task: partials added in a fixed order."""
    return merge_tree(partials, partials[0])


def conclude(store: Store, plan_address: str, cell: Cell, partials: Sequence[Any]) -> str:
    """Task: total → figures → the result in the store. Returns its address."""
    plan = _plan(store, plan_address)
    job, protocol = plan.by_cell[cell], plan.protocol
    reference = references.load(store, plan.protocol.family.kind, job.reference)
    total = merge_tree(partials, protocol.family.zero())
    info = trialstore.info(store, protocol, job.inputs, reference.timeline)
    resources, refused = _resources(protocol, job)
    queries = read_planned(protocol, "queries", job.inputs["queries"]) if "queries" in job.inputs else None
    facts = replace(reference.facts, load=load_facts(resources, queries, cell))
    conclusion = protocol.family.conclude(protocol, total, facts, {**info.survey, "n_rows": info.n_rows})
    warnings = (*reference.findings, *info.findings, *refused)
    result = scored(protocol, conclusion, named_sources(job), warnings, cell)
    store.put_sealed(job.path, to_bytes(result))
    return job.address


def _resources(protocol: Protocol, job: Job) -> tuple[Any | None, tuple[Finding, ...]]:
    """What the participant declared. A refused declaration costs the load figures, with a warning, not the cell."""
    if "resources" not in job.inputs:
        return None, ()
    try:
        return read_planned(protocol, "resources", job.inputs["resources"]), ()
    except InputError as error:
        return None, error.findings
