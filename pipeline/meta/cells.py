"""A scored cell from what the store keeps of it: its trials and labels, counted anew, and the units of its figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pipeline.engine.cell import load_result
from pipeline.engine.counting import counted, merged
from pipeline.engine.mending import mended
from pipeline.engine.plan import Job, Plan
from pipeline.engine.result import Result
from pipeline.engine.sampled import sample_of
from pipeline.engine.stored import labelstore, references, trialstore
from pipeline.engine.tasks import CellPlace, survey_of
from pipeline.engine.work import Work
from pipeline.errors import DamageError
from pipeline.metrics.measure import Scored
from pipeline.metrics.statistics.resampling import NOT_RESAMPLED, Sample
from pipeline.protocols.base import AnyReference, Protocol
from pipeline.store.blobs import Store

NOT_KEPT = "labels_not_kept"
"""Reason: the store has the figures of a cell, but no longer what they were made of."""
OLD_STORE = "old_store"
"""Reason: the figures were made by rescore 0.1.0, which kept trials in another form. Score the evaluation again."""


@dataclass(frozen=True)
class OpenCell:
    """A cell as its measures see it."""

    store: Store
    job: Job
    protocol: Protocol
    reference: AnyReference
    path: str
    """Where its labels are: names it by all that figures of it depend on but costs and priors."""
    partial: Any
    scored: Scored[Any]

    def rows(self) -> tuple[Any, Any]:
        """Its trials and its key, in the same order."""
        key = self.reference.key
        last = key.offsets.size - 1
        return trialstore.load(self.store, self.protocol, self.job.inputs, self.reference.timeline, 0, last), key

    def sample(self, measure: str) -> Sample | str:
        """A measure as a function of how often each unit counts, or the reason why there is none."""
        return sample_of(self.protocol, self.scored, measure, self.rows)


def open_cell(store: Store, plan: Plan, job: Job, result: Result | None = None) -> OpenCell | str:
    """The cell of a job that was scored, or the reason why it has no figures; ``result`` where it was read already.

    Raises ``DamageError``.
    """
    result = result or load_result(store, job.address)
    if result.failed is not None:
        return result.failed
    protocol = plan.protocol_of(job)
    if protocol.family.can.whole is None:
        return NOT_RESAMPLED
    if not result.made_from:
        return OLD_STORE

    def kept() -> tuple[AnyReference, CellPlace, trialstore.TrialsInfo, Any]:
        reference = references.load(store, protocol.family.kind, job.reference)
        place = CellPlace(store, job, protocol, reference, Work())
        info = trialstore.info(store, protocol, job.inputs, reference.timeline)
        return reference, place, info, _counted(place, info)

    try:  # a store that does not answer is an error, and an answer that was damaged on its way is asked for again
        (reference, place, info, partial), _ = mended(kept, lambda: None, job.path)
    except DamageError:
        return NOT_KEPT
    scored = protocol.family.can.whole(protocol, partial, reference.facts, survey_of(info))
    return OpenCell(store, job, protocol, reference, place.labels, partial, scored)


def _counted(place: CellPlace, info: trialstore.TrialsInfo) -> Any:
    """The partial of a cell from its trials and labels. Raises ``DamageError`` where they are not what was written."""
    parts = []
    for ends in place.ranges(info):
        trials = trialstore.load(place.store, place.protocol, place.job.inputs, place.reference.timeline, *ends)
        labels = labelstore.load(place.store, place.labels, *ends)
        made = counted(place.protocol, trials, place.reference.key.tiles(*ends), place.reference, labels)
        parts.append(replace(made, labels=None))
    return merged(parts).partial
