"""Replicates of many cells as tasks: each draws some replicates of one figure, and keeps them in the store.

A replicate is named by what it is made from (the cell's total, measures' settings, seed, number), so it is made once,
whoever asks, and comes out the same however replicates are divided among tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np

from pipeline import protocols
from pipeline.arrays import Floats
from pipeline.engine import editions
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Plan, load_plan
from pipeline.errors import DamageError
from pipeline.meta.cells import OpenCell, open_cell
from pipeline.meta.intervals import Resampling, draw
from pipeline.metrics.statistics.resampling import Sample
from pipeline.store.blobs import Store
from pipeline.store.columns import decode_columns, encode_columns
from pipeline.terms import Cell

KIND = "replicates/2"
PER_TASK = 250
"""Replicates of one figure that a task draws: worth some 0.2 s where a sweep of 50,000 rows is done again in each."""


@dataclass(frozen=True)
class Draw:
    """One task: replicates ``first`` up to ``last`` (exclusive) of a measure of a cell."""

    plan: str
    cell: Cell
    measure: str
    first: int
    last: int


def draws(plan: Plan, measures: Sequence[str], how: Resampling, per_task: int = PER_TASK) -> tuple[Draw, ...]:
    """The tasks of a plan's scored cells, in a fixed order."""
    starts = range(0, how.n_replicates, per_task)
    return tuple(
        Draw(plan.address, job.cell, measure, first, min(first + per_task, how.n_replicates))
        for job in plan.jobs
        for measure in measures
        for first in starts
    )


def work(store: Store, wanted: Draw, how: Resampling) -> int:
    """Task: make the replicates unless the store has them; how many were made (0 where there is no such figure)."""
    cell = _cell(store, wanted.plan, wanted.cell)
    if isinstance(cell, str):
        return 0
    if _found(store, _path(cell, wanted, how), wanted) is not None:
        return 0
    sample = _sample(store, wanted.plan, wanted.cell, wanted.measure)
    if isinstance(sample, str):
        return 0
    values = draw(sample, how, range(wanted.first, wanted.last))
    store.put(_path(cell, wanted, how), encode_columns(KIND, {"value": values}))
    return values.size


def collected(store: Store, cell: OpenCell, sample: Sample, wanted: Iterable[Draw], how: Resampling) -> Floats:
    """All replicates of one figure in their order; those that the store lacks are drawn here."""
    parts = [np.zeros(0)]
    for one in sorted(wanted, key=lambda one: one.first):
        found = _found(store, _path(cell, one, how), one)
        parts.append(draw(sample, how, range(one.first, one.last)) if found is None else found)
    return np.concatenate(parts)


def paths_of(cell: OpenCell, wanted: Iterable[Draw], how: Resampling) -> tuple[str, ...]:
    """Where the replicates of one figure lie, if tasks have drawn them."""
    return tuple(_path(cell, one, how) for one in wanted)


def _path(cell: OpenCell, wanted: Draw, how: Resampling) -> str:
    drawn: Mapping[str, object] = {"seed": how.seed, "strata": dict(sorted(how.strata.items()))}
    settings = {name: _plain(value) for name, value in protocols.fields(cell.protocol)["settings"].items()}
    name = editions.named(
        "figures",
        KIND,
        cell.protocol,
        labels=cell.path,
        protocol=cell.protocol.name,
        settings=settings,
        drawn=drawn,
        **{key: value for key, value in asdict(wanted).items() if key in ("measure", "first", "last")},
    )
    return f"resamples/{name[:2]}/{name}"


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _found(store: Store, path: str, wanted: Draw) -> Floats | None:
    if not store.exists(path):
        return None

    def read() -> Floats:
        columns, _ = decode_columns(store.get(path), KIND)
        values = columns["value"]
        if not isinstance(values, np.ndarray) or values.shape != (wanted.last - wanted.first,):
            raise DamageError(f"{store.url(path)}: these are other replicates. Remove it and run again.")
        return values

    return unless_damaged(read, path)


@lru_cache(maxsize=2)
def _plan(store: Store, plan: str) -> Plan:
    return load_plan(store, plan)


@lru_cache(maxsize=2)
def _cell(store: Store, plan: str, cell: Cell) -> OpenCell | str:
    made = _plan(store, plan)
    return open_cell(store, made, made.by_cell[cell])


@lru_cache(maxsize=4)
def _sample(store: Store, plan: str, cell: Cell, measure: str) -> Sample | str:
    opened = _cell(store, plan, cell)
    return opened if isinstance(opened, str) else opened.sample(measure)
