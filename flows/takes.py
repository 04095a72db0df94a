"""The cost of each cell of a run, and which took most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.engine.work import Work, size_text
from pipeline.terms import Cell

SHOWN = 5


@dataclass(frozen=True)
class Takes:
    """One cell's tasks together."""

    cell: str
    cpu_s: float
    wall_s: float
    peak_rss_bytes: int

    @classmethod
    def of(cls, cell: Cell, work: Work) -> Takes:
        """The cost of a cell, as its work tells it."""
        costs = work.costs.values()
        return cls(
            str(cell),
            round(sum(cost.cpu_s for cost in costs), 3),
            round(sum(cost.wall_s for cost in costs), 3),
            max((cost.peak_rss_bytes for cost in costs), default=0),
        )

    def document(self) -> dict[str, Any]:
        """As JSON carries it."""
        return {"cell": self.cell, "cpu_s": self.cpu_s, "wall_s": self.wall_s, "peak_rss_bytes": self.peak_rss_bytes}


def slowest(found: Iterable[Takes]) -> list[dict[str, Any]]:
    """The cells whose tasks ran longest, the slowest first."""
    return [one.document() for one in sorted(found, key=lambda one: (-one.wall_s, one.cell))[:SHOWN]]


def heaviest(found: Iterable[Takes]) -> list[dict[str, Any]]:
    """The cells that had most memory, the heaviest first."""
    return [one.document() for one in sorted(found, key=lambda one: (-one.peak_rss_bytes, one.cell))[:SHOWN]]


def most_rows(work: Mapping[str, Any]) -> list[list[tuple[str, ...]]]:
    """A record of an execution as tables of its slowest and heaviest cells, under a line of headings; [] if few."""
    tables: list[list[tuple[str, ...]]] = []
    for which in ("slowest", "heaviest"):
        found = work.get(which) or []
        if len(found) >= SHOWN:
            rows = [(one["cell"], f"{one['wall_s']:.1f} s", size_text(one["peak_rss_bytes"])) for one in found]
            tables.append([(f"{which} cells", "tasks' time", "peak memory"), *rows])
    return tables
