"""The axes of an evaluation's grid, and where a cell lies on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.engine.plan import Job, Plan
from pipeline.engine.result import Result
from pipeline.terms import Cell

CELL = ("system", "query_set", "dataset")
ALL = "all"
"""The condition that is always there: everything."""
NO_SUCH_CELL = "no_such_cell"
"""Reason: the evaluation does not ask for the query set on the dataset. Axes are full; such places are no cells."""


@dataclass(frozen=True)
class Axes:
    """Names along every dimension, in the order of the evaluation file."""

    systems: tuple[str, ...]
    query_sets: tuple[str, ...]
    datasets: tuple[str, ...]
    measures: tuple[str, ...]
    conditions: tuple[str, ...] = (ALL,)
    """``all``, then the conditions of any result, then the boards that systems' names part them into."""
    identities: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By system, what the fields of its name say, where the protocol has a rule for names."""

    @classmethod
    def of(cls, plan: Plan, results: Sequence[Result]) -> Axes:
        """The axes that a plan's results span."""
        cells = [job.cell for job in plan.jobs]
        systems = tuple(dict.fromkeys(cell.system for cell in cells))
        identities = {system: plan.protocol.family.boards.identify(system) for system in systems}
        parts = dict.fromkeys(name for result in results for name in result.conditions)
        boards = sorted({fields["board"] for fields in identities.values() if "board" in fields})
        return cls(
            systems=systems,
            query_sets=tuple(dict.fromkeys(cell.query_set for cell in cells)),
            datasets=plan.datasets or tuple(dict.fromkeys(cell.dataset for cell in cells)),
            measures=tuple(measure.name for measure in plan.protocol.measures),
            conditions=tuple(dict.fromkeys((ALL, *parts, *boards))),
            identities=identities,
        )

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Sizes along system, query set and dataset."""
        return len(self.systems), len(self.query_sets), len(self.datasets)

    @cached_property
    def _places(self) -> dict[Cell, tuple[int, int, int]]:
        return {
            Cell(query_set, dataset, system): (s, q, d)
            for s, system in enumerate(self.systems)
            for q, query_set in enumerate(self.query_sets)
            for d, dataset in enumerate(self.datasets)
        }

    def place(self, result: Result | Job) -> tuple[int, int, int]:
        """Index of the cell of a result or job along ``CELL``."""
        if result.cell is None:
            raise ValueError("a result without a cell has no place in a grid")
        return self._places[result.cell]

    def coords(self) -> dict[str, Any]:
        """Coordinates of the cell dimensions."""
        return {
            "system": text_array(self.systems, ("system",), "participant's system"),
            "query_set": text_array(self.query_sets, ("query_set",), "query set Q"),
            "dataset": text_array(self.datasets, ("dataset",), "dataset Ω"),
        }


def text_array(values: Any, dims: tuple[str, ...], long_name: str, source: str = "evaluation file") -> Any:
    """A labelled array of text."""
    return array(np.array(values, dtype=np.dtypes.StringDType()), dims, long_name, source, "1")


def array(values: Any, dims: tuple[str, ...], long_name: str, source: str, units: str = "1") -> Any:
    """A labelled array that says what it is, where it comes from and in which unit."""
    return dims, values, {"long_name": long_name, "source": source, "units": units}
