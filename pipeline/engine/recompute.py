"""A result computed once more, from its input files and an empty store."""

from __future__ import annotations

from uuid import uuid4

from pipeline.engine import references
from pipeline.engine.cell import score_cell
from pipeline.engine.plan import Job, Plan, save
from pipeline.store.blobs import Store


def recompute(plan: Plan, job: Job) -> bytes:
    """The bytes that a job's result has when everything is made anew, in memory.

    Raises ``PlatformError`` where an input is gone or has other bytes than were planned.
    """
    scratch = Store(f"memory://rescore-{uuid4().hex}")
    try:
        again = save(plan, scratch)
        references.derive(plan.protocol_of(job), job.inputs, scratch)
        score_cell(scratch, again, job.cell)
        return scratch.get_sealed(job.path)
    finally:
        for path in scratch.listing():
            scratch.remove(path)
