"""Why trials in one cell became what they are, from the trials and the reference that the cell has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pipeline.engine import references, trialstore
from pipeline.engine.plan import Plan
from pipeline.errors import UsageError
from pipeline.protocols import disputes
from pipeline.protocols.base import Reference
from pipeline.protocols.disputes import Decided
from pipeline.protocols.kws_dispute import Explained, explain_query
from pipeline.store.blobs import Store
from pipeline.terms import Cell
from pipeline.trials.schema import Trials
from pipeline.trials.tiles import buckets_of

_BY_FAMILY: Mapping[str, Callable[..., Iterable[Explained | Decided]]] = {
    "detections": explain_query,
    "documents": disputes.documents,
    "events": disputes.events,
    "language": disputes.language,
    "tokens": disputes.tokens,
}


def explain(store: Store, plan: Plan, cell: Cell, query: str) -> tuple[Explained | Decided, ...]:
    """What became of every trial of a query in a cell of a run, with the rule that decided.

    A query is what the family asks for: a keyword or spoken query, an event, a segment whose language is asked for, a
    recording that is transcribed. Raises ``UsageError`` for a protocol whose trials have no such outcome, for a cell
    that failed, and for a query that the cell does not know.
    """
    job = plan.by_cell[cell]
    protocol = plan.protocol_of(job)
    if job.failed is not None:
        raise UsageError(f"{cell} has no figures ({job.failed}): there is nothing to explain.")
    family = protocol.family
    if family.name not in _BY_FAMILY or (family.name == "detections" and family.explain is None):
        raise UsageError(f"{protocol.name} aligns no detections with occurrences: there is nothing to explain.")
    reference, _ = references.sound(store, protocol, job.reference, job.inputs)
    trialstore.ensure(store, protocol, job.inputs, reference.timeline)
    rows: list[Explained | Decided] = []
    known: list[str] = []
    for bucket in _buckets(family.name, reference, query):
        trials = trialstore.load(store, protocol, job.inputs, reference.timeline, bucket, bucket + 1)
        key = reference.key.tiles(bucket, bucket + 1)
        known += _names(family.name, reference, trials, key)
        if query in known:
            rows += _BY_FAMILY[family.name](protocol, trials, key, reference, query)
    if query not in known:
        there = ", ".join(reference.facts.queries[:10] or known[:10])
        raise UsageError(f"{cell} knows no {_ASKED.get(family.name, 'query')} {query!r} (there: {there}, …).")
    return tuple(rows)


_ASKED = {"events": "event", "language": "segment", "tokens": "recording"}


def _buckets(family: str, reference: Reference, query: str) -> list[int]:
    """The buckets that hold a query; a recording's channels lie in one each."""
    names = [query]
    if family == "tokens":
        names = [unit for unit in reference.timeline.units if unit.rpartition(" ")[0] == query] or names
    return sorted(set(buckets_of(names).tolist()))


def _names(family: str, reference: Reference, trials: Any, key: Any) -> tuple[str, ...]:
    """What may be asked for in a bucket."""
    if family == "events":
        return tuple(key.events)
    if family == "language":
        return tuple(trials.segments)
    if family == "tokens":
        return tuple(key.files[code] for code in key.file.tolist())
    own: tuple[str, ...] = trials.queries if isinstance(trials, Trials) else ()
    return (*reference.facts.queries, *own)
