"""An evaluation of a study: a published run, its plan, and what its cells are made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pipeline.engine.cell import load_result
from pipeline.engine.plan import Job, Plan, load_plan
from pipeline.engine.result import Result
from pipeline.engine.stored import references
from pipeline.errors import PlatformError
from pipeline.grid.publish import Run
from pipeline.meta.cells import OpenCell, open_cell
from pipeline.protocols.base import Reference
from pipeline.store.blobs import Store

Place = tuple[str, str]
"""Query set and dataset."""


@dataclass(frozen=True)
class Evaluated:
    """One evaluation or variant, as the study names it."""

    name: str
    year: str
    store: Store
    run: Run
    plan: Plan

    @classmethod
    def of(cls, name: str, year: str, store: Store, run: Run) -> Evaluated:
        """From a published run."""
        return cls(name, year, store, run, load_plan(store, run.plan))

    @cached_property
    def boards(self) -> Mapping[Place, tuple[Job, ...]]:
        """The jobs of each (query set, dataset), in the order of the plan."""
        found: dict[Place, list[Job]] = {}
        for job in self.plan.jobs:
            found.setdefault((job.cell.query_set, job.cell.dataset), []).append(job)
        return {place: tuple(jobs) for place, jobs in found.items()}

    def results(self, place: Place) -> Iterator[tuple[Job, Result]]:
        """The results of a board."""
        for job in self.boards.get(place, ()):
            yield job, load_result(self.store, job.address)

    def cells(self, place: Place) -> dict[str, OpenCell | str]:
        """The cells of a board by system, opened; a reason where there are no figures."""
        return {job.cell.system: open_cell(self.store, self.plan, job) for job in self.boards.get(place, ())}

    def better(self, measure: str) -> str:
        """Which direction of a measure is better: ``higher``, ``lower`` or ``none``."""
        return next((m.better for m in self.plan.protocol.measures if m.name == measure), "none")

    def texts(self, place: Place) -> Mapping[str, str]:
        """The queries (events, speakers) of a board with their texts; none where the reference is lost."""
        reference = self._reference(place)
        if reference is None:
            return {}
        return {query: reference.facts.texts.get(query, "") for query in reference.facts.queries}

    def recordings(self, place: Place) -> frozenset[str]:
        """Names of the recordings (clips, segments) that a board searched or judged, as far as its timeline tells."""
        reference = self._reference(place)
        timeline = None if reference is None else reference.timeline
        names = (getattr(timeline, name, None) for name in ("files", "trial_ids", "segments", "units"))
        return frozenset(next((own for own in names if own), ()))

    def _reference(self, place: Place) -> Reference | None:
        jobs = self.boards.get(place, ())
        if not jobs:
            return None
        try:
            return references.load(self.store, self.plan.protocol.family.kind, jobs[0].reference)
        except PlatformError:
            return None
