"""Why trials in one cell became what they are, from the trials and the reference that the cell has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.engine.plan import Plan
from pipeline.engine.stored import references, trialstore
from pipeline.errors import UsageError
from pipeline.store.blobs import Store
from pipeline.terms import Cell
from pipeline.trials.tiles import buckets_of

if TYPE_CHECKING:
    from pipeline.protocols.disputes import Decided
    from pipeline.protocols.kws.dispute import Explained


def explain(store: Store, plan: Plan, cell: Cell, query: str) -> tuple[Explained | Decided, ...]:
    """The outcome of every trial of a query in a cell of a run, with the rule that decided.

    A query is what the family asks for: a keyword or spoken query, an event, a segment whose language is asked for, a
    recording that is transcribed. Raises ``UsageError`` for a protocol whose trials have no such outcome, for a cell
    that failed, and for a query that the cell does not know.
    """
    job = plan.by_cell[cell]
    protocol = plan.protocol_of(job)
    if job.failed is not None:
        raise UsageError(f"{cell} has no figures ({job.failed}): there is nothing to explain.")
    dispute = protocol.family.can.dispute
    if dispute is None:
        raise UsageError(f"{protocol.name} gives single trials no outcome: there is nothing to explain.")
    reference, _ = references.sound(store, protocol, job.reference, job.inputs)
    trialstore.ensure(store, protocol, job.inputs, reference.timeline)
    rows: list[Explained | Decided] = []
    known: list[str] = []
    for bucket in sorted(set(buckets_of(list(dispute.units(reference, query))).tolist())):
        trials = trialstore.load(store, protocol, job.inputs, reference.timeline, bucket, bucket + 1)
        key = reference.key.tiles(bucket, bucket + 1)
        known += dispute.known(reference, trials, key)
        if query in known:
            rows += dispute.rows(protocol, trials, key, reference, query)
    if query not in known:
        there = ", ".join(reference.facts.queries[:10] or known[:10])
        raise UsageError(f"{cell} knows no {dispute.asked} {query!r} (there: {there}, …).")
    return tuple(rows)
