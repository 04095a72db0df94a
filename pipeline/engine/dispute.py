"""Why a query's detections in one cell became what they are, from the trials and the reference that the cell has."""

from __future__ import annotations

from pipeline.engine import references, trialstore
from pipeline.engine.plan import Plan
from pipeline.errors import UsageError
from pipeline.protocols.kws_dispute import Explained, explain_query
from pipeline.store.blobs import Store
from pipeline.terms import Cell
from pipeline.trials.schema import Occurrences, Trials
from pipeline.trials.tiles import buckets_of


def explain(store: Store, plan: Plan, cell: Cell, query: str) -> tuple[Explained, ...]:
    """Every detection and occurrence of a query in a cell of a run, with the rule that decided.

    Raises ``UsageError`` for a protocol that aligns no occurrences, and for a query that the cell does not know.
    """
    job = plan.by_cell[cell]
    protocol = plan.protocol_of(job)
    if protocol.family.kind.name != "detections" or protocol.family.explain is None:
        raise UsageError(f"{protocol.name} aligns no detections with occurrences: there is nothing to explain.")
    reference, _ = references.sound(store, protocol, job.reference, job.inputs)
    trialstore.ensure(store, protocol, job.inputs, reference.timeline)
    bucket = int(buckets_of([query])[0])
    trials = trialstore.load(store, protocol, job.inputs, reference.timeline, bucket, bucket + 1)
    key = reference.key.tiles(bucket, bucket + 1)
    if not isinstance(trials, Trials) or not isinstance(key, Occurrences):
        raise UsageError(f"{protocol.name} aligns no detections with occurrences: there is nothing to explain.")
    if query not in reference.facts.queries and query not in trials.queries:
        known = ", ".join(reference.facts.queries[:10])
        raise UsageError(f"{cell} knows no query {query!r} (there: {known}, …).")
    return explain_query(protocol, trials, key, reference, query)
