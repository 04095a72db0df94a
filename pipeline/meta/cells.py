"""A scored cell from what the store keeps of it: its totals, and the units of its figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipeline.engine import references, totals, trialstore
from pipeline.engine.cell import load_result
from pipeline.engine.plan import Job, Plan
from pipeline.engine.result import Result
from pipeline.engine.totals import Total
from pipeline.errors import PlatformError
from pipeline.metrics.measure import Scored
from pipeline.metrics.resampling import Sample
from pipeline.metrics.samples import NOT_RESAMPLED
from pipeline.protocols.base import Protocol, Reference
from pipeline.store.blobs import Store

NOT_KEPT = "totals_not_kept"
"""Reason: the store has the figures of a cell, but no longer what they were made of."""


@dataclass(frozen=True)
class OpenCell:
    """A cell as its measures see it."""

    store: Store
    job: Job
    protocol: Protocol
    reference: Reference
    path: str
    """Where its total is: names it by all that figures of it depend on but costs and priors."""
    total: Total
    scored: Scored[Any]

    def rows(self) -> tuple[Any, Any]:
        """Its trials and its key, in the same order."""
        key = self.reference.key
        last = key.offsets.size - 1
        return trialstore.load(self.store, self.protocol, self.job.inputs, self.reference.timeline, 0, last), key

    def sample(self, measure: str) -> Sample | str:
        """A measure as a function of how often each unit counts, or the reason why there is none."""
        make = self.protocol.family.sample
        return NOT_RESAMPLED if make is None else make(self.protocol, self.scored, measure, self.rows)


def open_cell(store: Store, plan: Plan, job: Job, result: Result | None = None) -> OpenCell | str:
    """The cell of a job that was scored, or the reason why it has no figures; ``result`` where it was read already.

    Raises ``DamageError``.
    """
    result = result or load_result(store, job.address)
    if result.failed is not None:
        return result.failed
    protocol = plan.protocol_of(job)
    if protocol.family.whole is None:
        return NOT_RESAMPLED
    try:
        reference = references.load(store, protocol.family.kind, job.reference)
        path = totals.path_of(protocol, trialstore.path_of(protocol, job.inputs, reference.timeline), job.reference)
        total = totals.whole(store, path)
    except PlatformError:
        return NOT_KEPT
    scored = protocol.family.whole(protocol, total.partial, reference.facts, total.survey)
    return OpenCell(store, job, protocol, reference, path, total, scored)
