"""Whether a night can begin: cells and outputs, what is missing, and what it will take, told from earlier nights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.engine.cell import lacks
from pipeline.engine.plan import Plan, missing, told
from pipeline.errors import Finding
from pipeline.grid.history import RunCommit, history
from pipeline.season.gate import phase_of
from pipeline.store.blobs import Store


@dataclass(frozen=True)
class Prediction:
    """The expected cost of a night, from that of earlier ones for each cell that they made."""

    cpu_s: float
    bytes_read: float
    n_earlier: int
    """Cells that it is told from."""


@dataclass(frozen=True)
class Readiness:
    """The work that is left."""

    evaluation: str
    n_cells: int
    n_missing_outputs: int
    to_do: Mapping[str, int]
    """Cells to score by what there is to do: ``figures``, ``labels`` (align again) or ``all`` (read an output)."""
    missing_outputs: tuple[str, ...]
    missing_boards: tuple[tuple[str, str], ...]
    """Conditions that the season requires and that a team has not entered, as (team, board)."""
    prediction: Prediction | None
    """None where no earlier run tells."""
    findings: tuple[Finding, ...] = ()
    """What the organiser should hear of files, lists and keys."""


def readiness(store: Store, plan: Plan) -> Readiness:
    """How an evaluation stands before it is scored."""
    todo = missing(plan.jobs, store)
    kinds = lacks(store, plan, todo)
    without = tuple(str(job.cell) for job in plan.jobs if job.failed is not None)
    found = phase_of(store, plan.evaluation)
    boards = () if found is None else found[0].missing_boards(found[1].name)
    counts = {kind: kinds.count(kind) for kind in ("figures", "labels", "all")}
    scored = sum(kind != "figures" for kind in kinds)
    return Readiness(
        plan.evaluation,
        len(plan.jobs),
        len(without),
        counts,
        without,
        boards,
        predicted(history(store, plan.evaluation), scored),
        told(plan, store),
    )


def predicted(earlier: Sequence[RunCommit], n_cells: int) -> Prediction | None:
    """The expected cost of aligning ``n_cells``: as much for each as earlier runs took, all of them together."""
    n_made, cpu_s, n_bytes = 0, 0.0, 0.0
    for commit in earlier:
        costs: Mapping[str, Any] = commit.work.get("costs", {})
        made = int(commit.work.get("results", {}).get("made", 0))
        if costs and made:
            n_made += made
            cpu_s += sum(float(cost["cpu_s"]) for cost in costs.values())
            n_bytes += sum(float(cost["bytes_read"]) for cost in costs.values())
    if not n_made:
        return None
    return Prediction(cpu_s / n_made * n_cells, n_bytes / n_made * n_cells, n_made)
