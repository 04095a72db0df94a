"""A result computed once more, from its input files and an empty store."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from pipeline.engine.cell import score_cell
from pipeline.engine.plan import Job, Plan, save
from pipeline.engine.stored import references
from pipeline.store.blobs import Store


def recompute(plan: Plan, job: Job) -> bytes:
    """The bytes that a job's result has when everything is made anew, in memory.

    Raises ``PlatformError`` where an input is gone or has other bytes than were planned.
    """
    scratch = Store(f"memory://rescore-{uuid4().hex}")
    try:
        score_cell(scratch, with_references(replace(plan, jobs=(job,)), scratch), job.cell)
        return scratch.get_sealed(job.path)
    finally:
        for path in scratch.listing():
            scratch.remove(path)


def with_references(plan: Plan, store: Store) -> Plan:
    """The plan written to a store with the references of its jobs, which this program names by its own editions.

    Results keep the addresses that the plan has, so that they can be compared with those of the program that made it.
    """
    jobs = tuple(
        job
        if job.failed is not None
        else replace(job, reference=references.derive(plan.protocol_of(job), job.inputs, store)[0])
        for job in plan.jobs
    )
    return save(replace(plan, jobs=jobs), store)
