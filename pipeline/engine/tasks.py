"""The tasks of a cell, on a Dask cluster or in this process: the same functions, the same bits.

A task gets addresses and returns what was made, or a partial. It opens the store itself; nothing is scattered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from pipeline.align.labels import Labels
from pipeline.engine import supplements
from pipeline.engine.costed import costed
from pipeline.engine.counting import Counted, aligned, counted, merged
from pipeline.engine.inputs import read_planned
from pipeline.engine.load import load_facts, unfound, with_declared
from pipeline.engine.memory import keep_some_memory
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Job, Plan, load_plan
from pipeline.engine.result import Result, to_bytes
from pipeline.engine.sampled import sampled
from pipeline.engine.score import scored
from pipeline.engine.stored import cuts, labelstore, pieces, references, trialstore
from pipeline.engine.work import Work
from pipeline.errors import Finding, InputError
from pipeline.protocols.base import DRAWN, AnyReference, Conclusion, Protocol, Scope
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Facts, Source
from pipeline.trials.tiles import batches

ROWS_PER_TASK = 1_000_000


@lru_cache(maxsize=4)
def _plan(store: Store, plan_address: str) -> Plan:
    return load_plan(store, plan_address)


@dataclass(frozen=True)
class CellPlace:
    """A cell as its tasks find it: store, job, protocol, and the reference as read."""

    store: Store
    job: Job
    protocol: Protocol
    reference: AnyReference
    work: Work
    """More than nothing only where the reference had to be mended."""
    pieces: cuts.Pieces = ()
    """The pieces that the cell's output is read in, where it is large."""

    @classmethod
    def of(cls, store: Store, plan_address: str, cell: Cell) -> CellPlace:
        """The place of a cell of a plan."""
        plan = _plan(store, plan_address)
        job = plan.by_cell[cell]
        protocol = plan.protocol_of(job)
        found, work = references.sound(store, protocol, job.reference, job.inputs)
        output = job.inputs.get(protocol.family.outputs[0])
        return cls(store, job, protocol, found, work, () if output is None else plan.pieces.get(output.sha256, ()))

    @property
    def trials_made_from(self) -> tuple[Store, Protocol, Mapping[str, Source], Any]:
        """What ``trialstore`` asks for: store, protocol, inputs and timeline."""
        return self.store, self.protocol, self.job.inputs, self.reference.timeline

    @property
    def output(self) -> Source:
        """The main output of the cell."""
        return self.job.inputs[self.protocol.family.outputs[0]]

    @cached_property
    def trials(self) -> str:
        """Where the cell's trials belong."""
        return trialstore.path_of(self.protocol, self.job.inputs, self.reference.timeline)

    @cached_property
    def labels(self) -> str:
        """Where the cell's labels belong."""
        return labelstore.path_of(self.protocol, self.trials, self.job.reference)

    @property
    def about(self) -> dict[str, str]:
        """Addresses of the objects that the cell's labels are made from."""
        return {"trials": self.trials, "reference": references.path_of(self.job.reference)}

    @property
    def made_from(self) -> tuple[str, ...]:
        """The objects that the cell's figures follow from."""
        return references.path_of(self.job.reference), self.trials, self.labels

    def ranges(self, info: trialstore.TrialsInfo) -> list[tuple[int, int]]:
        """Runs of buckets, each worth a task: those that are objects of their own, where trials are many."""
        return list(info.cuts) or batches(info.offsets, self.reference.key.offsets, ROWS_PER_TASK)

    def rows(self, first: int, last: int) -> tuple[Any, Any, Work]:
        """Trials and key of buckets ``first`` up to ``last`` (exclusive), and what had to be mended for them."""
        found, work = trialstore.sound(*self.trials_made_from, first, last, self.pieces)
        return found, self.reference.key.tiles(first, last), work

    def is_batch(self, first: int, last: int) -> bool:
        """Whether a run of buckets is an object of its own."""
        is_part = last - first < self.reference.key.offsets.size - 1
        return is_part and (first, last) in trialstore.cuts_of(self.store, self.trials)

    def left(self, first: int, last: int) -> tuple[Labels, labelstore.WrittenBatch] | None:
        """The labels of a batch that an earlier run had made when it was stopped; None where there are none."""
        if not self.is_batch(first, last):
            return None
        path, key_row = self.labels, int(self.reference.key.offsets[first])
        return unless_damaged(lambda: labelstore.left(self.store, path, (first, last), key_row), path)


def score_whole(store: Store, plan_address: str, cell: Cell) -> Work:
    """Task: all of a cell that is worth one task, from its output to its result."""
    place = store, plan_address, cell
    info, work = ingest(*place)
    here = CellPlace.of(*place)
    there = store.exists(here.labels)
    parts = [score_batch(*place, *ends, there) for ends in here.ranges(info)]
    done: Work = conclude(*place, merged(parts), info)
    return work + done


@costed("ingest")
def ingest(
    store: Store, plan_address: str, cell: Cell, laid: Sequence[Work] = ()
) -> tuple[trialstore.TrialsInfo, Work]:
    """Task: read the cell's output once into the trials store, unless it is there; ``laid`` is what was done for it."""
    place = CellPlace.of(store, plan_address, cell)
    info, work = trialstore.ensure(*place.trials_made_from, place.pieces)
    return info, place.work + sum(laid, Work()) + work


@costed("pieces")
def read_piece(store: Store, plan_address: str, cell: Cell, k: int) -> Work:
    """Task: read piece ``k`` of the cell's output into the store, for the tasks that make trials of all of them."""
    keep_some_memory()
    place = CellPlace.of(store, plan_address, cell)
    pieces.ensure(store, place.protocol, place.output, place.pieces, k)
    return Work()


@costed("layout")
def cut_trials(store: Store, plan_address: str, cell: Cell, read: Sequence[Work]) -> tuple[list[tuple[int, int]], Work]:
    """Task: the runs of buckets that are a task each to lay out, after all pieces are ``read``; none where all are."""
    place = CellPlace.of(store, plan_address, cell)
    spread = trialstore.spread_of(*place.trials_made_from, place.pieces)
    return [] if spread is None else trialstore.ranges_of(spread.offsets), sum(read, Work())


@costed("layout")
def lay_batch(store: Store, plan_address: str, cell: Cell, first: int, last: int) -> Work:
    """Task: sort and write the trials of buckets ``first`` up to ``last`` (exclusive), for the index to commit."""
    keep_some_memory()
    place = CellPlace.of(store, plan_address, cell)
    spread = trialstore.spread_of(*place.trials_made_from, place.pieces)
    if spread is not None:
        trialstore.lay_batch(*place.trials_made_from, spread, (first, last))
    return Work()


@costed("batches")
def score_batch(store: Store, plan_address: str, cell: Cell, first: int, last: int, there: bool) -> Counted:
    """Task: the partial of buckets ``first`` up to ``last`` (exclusive).

    With ``there`` it is counted from the labels that the store has; else the trials are aligned, and the labels are
    written, if the buckets are a batch, or come with it.
    """
    made = count_batch(store, plan_address, cell, first, last, there)
    return _kept(CellPlace.of(store, plan_address, cell), made, first, last)


def count_batch(store: Store, plan_address: str, cell: Cell, first: int, last: int, there: bool) -> Counted:
    """``score_batch`` without writing anything; labels come with it that the store lacks or holds damaged."""
    place = CellPlace.of(store, plan_address, cell)
    trials, key, work = place.rows(first, last)
    path, found = place.labels, None
    written: tuple[labelstore.WrittenBatch, ...] = ()
    if there:
        found = unless_damaged(lambda: labelstore.load(store, path, first, last), path)
        work += Work.of_damaged(path) if found is None else Work.of_reused(path)
    elif left := place.left(first, last):
        found, written = left[0], (left[1],)
    made = counted(place.protocol, trials, key, place.reference, found)
    return Counted(made.partial, None if found is not None else made.labels, place.work + work, written)


def _kept(place: CellPlace, made: Counted, first: int, last: int) -> Counted:
    """The counts of a run of buckets, its labels in the store where it is a batch."""
    if made.labels is None or not place.is_batch(first, last):
        return made
    key_row = int(place.reference.key.offsets[first])
    written = labelstore.write_batch(place.store, place.labels, (first, last), made.labels, key_row, place.about)
    return replace(made, labels=None, written=(written,))


class _Nothing:
    """The empty partial: it adds up to nothing."""

    def __add__(self, other: _Nothing) -> _Nothing:
        return self


@costed("batches")
def merge(partials: Sequence[Counted]) -> Counted:
    """Task: partials added in a fixed order."""
    return merged(partials)


def _write_labels(place: CellPlace, made: Counted, cuts: Sequence[tuple[int, int]]) -> Work:
    """Write the labels of a whole cell, or commit its batches; they are made here where some were lost on the way."""
    if cuts:
        lost = set(cuts) - {one.ends for one in made.written}
        again = [_kept(place, Counted(_Nothing(), _aligned(place, *ends)), *ends) for ends in sorted(lost)]
        written = (*made.written, *(one for batch in again for one in batch.written))
        labelstore.write_index(place.store, place.labels, written, place.about)
    else:
        labels = made.labels or _aligned(place, 0, place.reference.key.offsets.size - 1)
        labelstore.write(place.store, place.labels, labels, place.about)
    return Work.of_made(place.labels)


def _aligned(place: CellPlace, first: int, last: int) -> Labels:
    trials, key, _ = place.rows(first, last)
    return aligned(place.protocol, trials, key, place.reference)


@costed("conclude")
def conclude(store: Store, plan_address: str, cell: Cell, total: Counted, info: trialstore.TrialsInfo) -> Work:
    """Task: the cell's labels, where they are to be kept, and its merged partial → figures → the result."""
    keep_some_memory()
    place = CellPlace.of(store, plan_address, cell)
    work = place.work + total.work
    if total.labels is not None or total.written or place.labels in total.work.damaged:
        work += _write_labels(place, total, info.cuts)
    conclusion, findings = concluded(place, total.partial, info)
    work += keep_conclusion(place, conclusion, findings)
    return work + _units(place, total.partial, info) if _plan(store, plan_address).is_compared else work


def _units(place: CellPlace, partial: Any, info: trialstore.TrialsInfo) -> Work:
    """A cell's units, handed to publishing so that no cell of a run is counted twice."""
    last = place.reference.key.offsets.size - 1
    made = sampled(place.protocol, partial, place.reference.facts, survey_of(info), lambda: place.rows(0, last)[:2])
    return Work() if made is None else Work(samples={place.job.path: made})


def concluded(place: CellPlace, partial: Any, info: trialstore.TrialsInfo) -> tuple[Conclusion, tuple[Finding, ...]]:
    """The conclusion of a cell's merged partial, and the findings on the way."""
    facts, refused = facts_of(place)
    conclusion = place.protocol.family.concluded(place.protocol, partial, facts, survey_of(info), DRAWN)
    if facts.load.search is not None or facts.load.used:
        blocks = getattr(place.rows(0, 0)[0], "blocks", {})
        conclusion = with_declared(conclusion, facts.load, blocks)
    return conclusion, (*info.findings, *refused)


def survey_of(info: trialstore.TrialsInfo) -> dict[str, Any]:
    """The survey of an output, with the number of its trials."""
    return {**info.survey, "n_rows": info.n_rows}


def facts_of(place: CellPlace) -> tuple[Facts, tuple[Finding, ...]]:
    """The reference's facts with those of the participant's declaration, and why that was refused if it was."""
    job, protocol, facts = place.job, place.protocol, place.reference.facts
    resources, refused = _resources(protocol, job)
    queries = read_planned(protocol, "queries", job.inputs["queries"]) if "queries" in job.inputs else None
    load = load_facts(resources, queries, job.cell, facts.queries)
    return replace(facts, load=load), (*refused, *unfound(resources, job.cell, "resources"))


def result_of(place: CellPlace, conclusion: Conclusion, findings: tuple[Finding, ...]) -> Result:
    """The result of a scored cell."""
    warnings = (*place.reference.findings, *findings)
    return scored(place.protocol, conclusion, named_sources(place.job), warnings, place.job.cell)


def keep_conclusion(place: CellPlace, conclusion: Conclusion, findings: tuple[Finding, ...]) -> Work:
    """Write the result of a scored cell, and beside it what later measures say."""
    result, own = result_of(place, conclusion, findings), (place.store, place.job)
    work = supplements.keep(*own, place.protocol, result, place.made_from)
    return work + keep(*own, supplements.of_edition(place.protocol, result), place.made_from)


@costed("conclude")
def supplement(store: Store, plan_address: str, cell: Cell, total: Counted, info: trialstore.TrialsInfo) -> Work:
    """Task: what later measures say of a cell whose result is there, from its merged partial."""
    place = CellPlace.of(store, plan_address, cell)
    facts, _ = facts_of(place)
    asked = Scope(tuple(place.job.later))
    said = place.protocol.family.concluded(place.protocol, total.partial, facts, survey_of(info), asked)
    return place.work + total.work + supplements.keep(store, place.job, place.protocol, said, place.made_from)


def keep(store: Store, job: Job, result: Result, made_from: tuple[str, ...]) -> Work:
    """Write a result, which says whose it is and what it was made from."""
    store.put_sealed(job.path, to_bytes(replace(result, address=job.address, made_from=made_from)))
    return Work.of_made(job.path)


def named_sources(job: Job) -> tuple[Source, ...]:
    """The job's inputs named by their roles, as results keep them."""
    return tuple(Source(role, role, source.sha256, source.n_bytes) for role, source in sorted(job.inputs.items()))


def _resources(protocol: Protocol, job: Job) -> tuple[Any | None, tuple[Finding, ...]]:
    """The participant's declared resources. Refused ones cost the load figures, with a warning, not the cell."""
    if "resources" in job.unreadable:
        return None, (Finding("unreadable_input", job.unreadable["resources"], "resources"),)
    if "resources" not in job.inputs:
        return None, ()
    try:
        return read_planned(protocol, "resources", job.inputs["resources"]), ()
    except InputError as error:
        return None, error.findings
