"""The cost of each cell of a run, and which took most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
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
    """Of the process that worked on it, with all that it holds whatever it works on."""
    rise_rss_bytes: int
    """What the process did not have before: what the cell needed."""

    @classmethod
    def of(cls, cell: Cell, work: Work) -> Takes:
        """The cost of a cell, as its work tells it."""
        costs = work.costs.values()
        return cls(
            str(cell),
            round(sum(cost.cpu_s for cost in costs), 3),
            round(sum(cost.wall_s for cost in costs), 3),
            max((cost.peak_rss_bytes for cost in costs), default=0),
            max((cost.rise_rss_bytes for cost in costs), default=0),
        )

    def document(self) -> dict[str, Any]:
        """As JSON carries it."""
        return asdict(self)


def slowest(found: Iterable[Takes]) -> list[dict[str, Any]]:
    """The cells whose tasks ran longest, the slowest first."""
    return [one.document() for one in sorted(found, key=lambda one: (-one.wall_s, one.cell))[:SHOWN]]


def heaviest(found: Iterable[Takes]) -> list[dict[str, Any]]:
    """The cells that needed most memory beyond what their worker had, the heaviest first."""
    return [one.document() for one in sorted(found, key=lambda one: (-one.rise_rss_bytes, one.cell))[:SHOWN]]


def most_rows(work: Mapping[str, Any]) -> list[list[tuple[str, ...]]]:
    """A record of an execution as tables of its slowest and heaviest cells, under a line of headings; [] if few."""
    tables: list[list[tuple[str, ...]]] = []
    for which in ("slowest", "heaviest"):
        found = work.get(which) or []
        if len(found) >= SHOWN:
            tables.append([(f"{which} cells", "tasks' time", "memory", "worker's peak"), *map(_row, found)])
    return tables


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    rise, peak = one.get("rise_rss_bytes", 0), one["peak_rss_bytes"]
    return one["cell"], f"{one['wall_s']:.1f} s", f"+{size_text(rise)}", size_text(peak)
