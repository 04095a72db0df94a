"""Score one cell of a plan, on a Dask cluster or in this process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pipeline.engine import supplements
from pipeline.engine.counting import merged
from pipeline.engine.inputs import COMPRESSED, INFLATED
from pipeline.engine.mending import mended, unless_damaged
from pipeline.engine.plan import WORKER_DIED, Job, Plan
from pipeline.engine.result import Result, from_bytes, to_bytes
from pipeline.engine.runner import Here, OnCluster, runner
from pipeline.engine.score import failed
from pipeline.engine.stored import references, trialstore
from pipeline.engine.tasks import (
    CellPlace,
    conclude,
    concluded,
    count_batch,
    cut_trials,
    ingest,
    keep,
    lay_batch,
    merge,
    named_sources,
    read_piece,
    result_of,
    score_batch,
    score_whole,
    supplement,
)
from pipeline.engine.work import Work
from pipeline.errors import DamageError, Finding, InputError
from pipeline.store.address import digest_bytes
from pipeline.store.blobs import Store
from pipeline.store.seal import unseal
from pipeline.terms import Cell

if TYPE_CHECKING:
    from typing import Any

    from distributed import Client

BYTES_PER_TASK = 32_000_000
"""Bytes of an output up to which a cell is one task."""
MERGE_ARITY = 8


def score_cell(store: Store, plan: Plan, cell: Cell, client: Client | OnCluster | None = None) -> str:
    """The address of the cell's result, scored now or found in the store.

    Refused input makes a result with a reason. Raises ``PlatformError`` when store or cluster failed.
    """
    do_cell(store, plan, cell, client)
    return plan.by_cell[cell].address


def do_cell(
    store: Store, plan: Plan, cell: Cell, client: Client | OnCluster | None = None, *, anew: bool = False
) -> Work:
    """Score a cell as ``score_cell`` does, with what later measures say; returns what had to be made for it.

    With ``anew`` whatever result the store has is replaced. None is ever removed first: a published run may stand on
    it, and this process may end before there is another.
    """
    work = _do_result(store, plan, cell, client, anew=anew)
    return work + _do_supplements(store, plan, plan.by_cell[cell], client)


def _do_result(store: Store, plan: Plan, cell: Cell, client: Client | OnCluster | None, *, anew: bool) -> Work:
    job, lost = plan.by_cell[cell], Work()
    if not anew and store.exists(job.path):
        if unless_damaged(lambda: kept_result(store, job), job.path) is not None:
            return Work.of_reused(job.path)
        lost = Work.of_damaged(job.path)
    try:
        return lost + _score(store, plan, job, client)
    except InputError as error:
        reason = job.failed or "refused_input"
        result = failed(plan.protocol_of(job), reason, error, named_sources(job), cell)
        made_from = (references.path_of(job.reference), *_refusal(store, plan, job))
        return lost + keep(store, job, result, made_from)


def _do_supplements(
    store: Store, plan: Plan, job: Job, client: Client | OnCluster | None, *, anew: bool = False
) -> Work:
    """The work of making a cell's supplements, where the store has its result and lacks them, or ``anew``."""
    if not anew and all(map(store.exists, job.supplements.values())):
        return Work.of_reused(*job.supplements.values())
    result = kept_result(store, job)
    if result.failed is not None:
        return supplements.keep(store, job, plan.protocol_of(job), result, result.made_from)
    run, place = runner(client), (store, plan.address, job.cell)
    ingested: tuple[trialstore.TrialsInfo, Work] = run.one(ingest, *place)
    (info, read), here = ingested, CellPlace.of(*place)
    there = store.exists(here.labels)
    parts = [run.submit(score_batch, *place, *ends, there) for ends in here.ranges(info)]
    done: Work = run.one(supplement, *place, _merged(run, parts), info)
    return here.work + read + done


def with_supplements(store: Store, plan: Plan, job: Job, result: Result) -> tuple[Result, Work]:
    """A job's result with what later measures say of it; made here where that is lost or damaged."""
    work = Work()

    def again() -> None:
        nonlocal work
        work += _do_supplements(store, plan, job, None, anew=True)

    return mended(lambda: supplements.supplemented(store, job, result), again, f"a supplement of {job.path}")[0], work


def figured(store: Store, plan: Plan, job: Job) -> Result:
    """A job's result: from the store, or made in memory of its trials, of which nothing is kept.

    An output that was never read is read into the store.
    """
    if store.exists(job.path):
        kept = unless_damaged(lambda: supplements.supplemented(store, job, kept_result(store, job)), job.path)
        if kept is not None:
            return kept
    try:
        made = _figured(store, plan, job)
    except InputError as error:
        reason = job.failed or "refused_input"
        made = failed(plan.protocol_of(job), reason, error, named_sources(job), job.cell)
    return from_bytes(to_bytes(made))


def _figured(store: Store, plan: Plan, job: Job) -> Result:
    if job.failed is not None:
        raise InputError([_foretold(plan, job, job.failed)])
    place = (store, plan.address, job.cell)
    here, (info, _) = CellPlace.of(*place), ingest(*place)
    there = store.exists(here.labels)
    parts = [count_batch(*place, *ends, there) for ends in here.ranges(info)]
    return result_of(here, *concluded(here, merged(parts).partial, info))


def _refusal(store: Store, plan: Plan, job: Job) -> tuple[str, ...]:
    """The record that the job's output is refused, where there is one."""
    if job.failed is not None:
        return ()
    protocol = plan.protocol_of(job)
    reference, _ = references.sound(store, protocol, job.reference, job.inputs)
    path = trialstore.path_of(protocol, job.inputs, reference.timeline)
    return (trialstore.refusal_path(path),) if trialstore.is_refused(store, path) else ()


def kept_result(store: Store, job: Job, sha256: str | None = None) -> Result:
    """A job's result. Raises ``DamageError`` where it is missing, damaged, another's, or not of the digest given."""
    data = store.get(job.path)
    if sha256 is not None and digest_bytes(data) != sha256:
        raise DamageError(f"{store.url(job.path)}: this is not what a published run says it is. Run again to mend it.")
    found = _parsed(unseal(data, store.url(job.path)), job.address)
    if found.address != job.address:
        raise DamageError(f"{store.url(job.path)}: it does not say whose result it is. Run again to mend it.")
    return found


def load_result(store: Store, address: str) -> Result:
    """The result at an address. Raises ``DamageError`` when it is missing or damaged, or the result of another."""
    return _parsed(store.get_sealed(f"results/{address}.json"), address)


def _parsed(data: bytes, address: str) -> Result:
    try:
        found = from_bytes(data)
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(f"result {address} is damaged ({error}). Remove it and run again.") from error
    if found.address not in (address, ""):  # results of 0.1.0 do not say
        raise DamageError(f"result {address} is that of {found.address}. Remove it and run again.")
    return found


def _score(store: Store, plan: Plan, job: Job, client: Client | OnCluster | None) -> Work:
    if job.failed is not None:
        raise InputError([_foretold(plan, job, job.failed)])
    run = runner(client).of(job.cell)
    place = (store, plan.address, job.cell)
    if client is None or _is_one_task(plan, job):
        whole: Work = run.one(score_whole, *place)
        return whole
    here = CellPlace.of(*place)
    laid = _laid_batches(run, store, plan, job, here.trials)
    ingested: tuple[trialstore.TrialsInfo, Work] = run.one(ingest, *place, laid)
    info, read = ingested
    ranges, there = here.ranges(info), store.exists(here.labels)
    partials = [run.submit(score_batch, *place, *ends, there) for ends in ranges]
    done: Work = run.one(conclude, *place, _merged(run, partials), info)
    return here.work + read + done


def _is_one_task(plan: Plan, job: Job) -> bool:
    """Whether a cell is worth one task only, by the bytes of its output."""
    sources = [job.inputs[role] for role in plan.protocol.family.outputs if role in job.inputs]
    n_bytes = sum(source.n_bytes * (INFLATED if source.uri.endswith(COMPRESSED) else 1) for source in sources)
    pieces = any(source.sha256 in plan.pieces for source in sources)
    return not pieces and n_bytes <= BYTES_PER_TASK


def _merged(run: Here | OnCluster, partials: list[Any]) -> Any:
    """A tree of tasks that adds up partials in a fixed order."""
    while len(partials) > 1:
        groups = [partials[start : start + MERGE_ARITY] for start in range(0, len(partials), MERGE_ARITY)]
        partials = [run.submit(merge, group) for group in groups]
    return partials[0]


def _laid_batches(run: Here | OnCluster, store: Store, plan: Plan, job: Job, path: str) -> list[Any]:
    """A large output read in pieces, a task each, and its trials in batches, a task each, that are not at ``path`` yet.

    What an index has to wait for before it commits them.
    """
    place, output = (store, plan.address, job.cell), job.inputs[plan.protocol.family.outputs[0]]
    n_pieces = len(plan.pieces.get(output.sha256, ()))
    if not n_pieces or trialstore.is_there(store, path) or trialstore.is_refused(store, path):
        return []
    read = [run.submit(read_piece, *place, k) for k in range(n_pieces)]
    found: tuple[list[tuple[int, int]], Work] = run.one(cut_trials, *place, read)
    ranges, work = found
    return [work, *(run.submit(lay_batch, *place, *ends) for ends in ranges)]


def _foretold(plan: Plan, job: Job, reason: str) -> Finding:
    """Why a job fails that its plan says to fail: in the same words always, so that the result has the same bytes."""
    if reason == WORKER_DIED:
        message = (
            "worker after worker died while it scored this cell, which had the cluster to itself in the end. "
            "Look into the log of the cluster: too little memory is the usual cause. The next run tries again."
        )
        return Finding(reason, message, "")
    if reason == "unreadable_output":
        role = next(role for role in plan.protocol.family.outputs if role in job.unreadable)
        return Finding(reason, job.unreadable[role], role)
    where = f"{job.cell.query_set}/{job.cell.dataset}"
    lacking = [role for role in plan.protocol.family.outputs if role not in job.inputs]
    message = f"the system has no output for {where} ({', '.join(lacking)}). Submit it or leave the cell out."
    return Finding(reason, message, lacking[0])


def lacks(store: Store, plan: Plan, jobs: Iterable[Job]) -> list[str]:
    """The work left for each job: ``figures`` of what is kept, ``labels`` of trials that are kept, or ``all``."""
    needed = [None if job.failed else _needed(CellPlace.of(store, plan.address, job.cell)) for job in jobs]
    there = store.present({path for paths in needed for path in paths or ()})
    return ["figures" if paths is None else _lack(*(path in there for path in paths)) for paths in needed]


def _needed(here: CellPlace) -> tuple[str, str, str]:
    return trialstore.refusal_path(here.trials), here.trials, here.labels


def _lack(refused: bool, trials: bool, labels: bool) -> str:
    if not refused and not trials:
        return "all"
    return "figures" if refused or labels else "labels"
