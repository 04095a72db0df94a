"""The rows of one evaluation: every figure of its grid, with what it depends on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.engine.plan import Job
from pipeline.engine.result import Result
from pipeline.grid.publish import load_grid
from pipeline.meta.evaluated import Evaluated
from pipeline.meta.rows import Row
from pipeline.meta.study import Study

KEYS = ("rttm", "key", "ref", "stm")
QUERIES = ("kwlist", "index", "eventdb")
AUDIO = ("ecf", "clipmd")
"""Roles that hold the key, the list of what is asked for, and the list of what is searched, in whatever family."""


def rows_of(evaluated: Evaluated, study: Study) -> Iterator[Row]:
    """One row for each system, board, condition and measure of the run's grid."""
    figures = _Figures.of(load_grid(evaluated.store, evaluated.run)[""])
    for place in evaluated.boards:
        for job, result in evaluated.results(place):
            yield from _cell_rows(evaluated, study, figures, job, result)


@dataclass(frozen=True)
class _Figures:
    """A grid's arrays in memory, and where its names lie."""

    arrays: Mapping[str, Any]
    places: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, grid: Any) -> _Figures:
        dims = ("system", "query_set", "dataset", "condition", "measure")
        names = {name: [str(text) for text in grid[name].values] for name in dims}
        return cls(
            {str(name): grid[name].values for name in grid.data_vars},
            {name: {text: at for at, text in enumerate(texts)} for name, texts in names.items()},
        )


def _cell_rows(evaluated: Evaluated, study: Study, figures: _Figures, job: Job, result: Result) -> Iterator[Row]:
    cell, places, arrays = job.cell, figures.places, figures.arrays
    at = (places["system"][cell.system], places["query_set"][cell.query_set], places["dataset"][cell.dataset])
    team = str(arrays["team"][at[0]])
    common: dict[str, Any] = {
        "evaluation": evaluated.name,
        "year": evaluated.year,
        "run": evaluated.run.id,
        "protocol": result.protocol,
        "edition": str(result.edition),
        "mode": result.mode,
        "query_set": cell.query_set,
        "dataset": cell.dataset,
        "team": study.teams.get(team, team),
        "team_as_given": team,
        "system": study.systems.get(cell.system, cell.system),
        "system_as_given": cell.system,
        "primary": "yes" if bool(arrays["primary"][at[0]]) else "no",
        "key": _digest(job, KEYS),
        "queries": _digest(job, QUERIES),
        "audio": _digest(job, AUDIO),
        "signature": result.signature,
    }
    tolerance = getattr(evaluated.plan.protocol_of(job).settings, "tolerance_s", math.nan)
    for condition, c in places["condition"].items():
        facts = result.facts if condition == "all" else _facts_of(result, condition)
        for measure, m in places["measure"].items():
            reason = str(arrays["reason"][(*at, c, m)])
            if condition != "all" and reason in ("no_such_condition", "other_board"):
                continue
            yield Row(
                **common,
                condition=condition,
                measure=measure,
                unit=str(arrays["measure_unit"][m]),
                better=str(arrays["measure_better"][m]),
                value=float(arrays["value"][(*at, c, m)]),
                reason=reason,
                status=str(arrays["status"][(*at, c, m)]),
                rank=float(arrays["rank"][(*at, c)]) or math.nan,
                point=point_of(facts),
                beta=_number(facts, "beta"),
                p_target=_number(facts, "p_target_effective"),
                tolerance_s=float(tolerance),
            )


def _facts_of(result: Result, condition: str) -> Mapping[str, Any]:
    part = result.conditions.get(condition)
    return result.facts if part is None else part.facts


def point_of(facts: Mapping[str, Any]) -> str:
    """The operating point of a cell's figures, as text: beta of costs and prior (and the target error ratio), or the
    classes of a flat prior; "" where figures depend on none."""
    beta, ter = _number(facts, "beta"), _number(facts, "ter")
    if not math.isnan(beta):
        return f"beta {beta:.9g}" + ("" if math.isnan(ter) else f", error ratio {ter:.9g}")
    n_classes = _number(facts, "n_classes")
    return "" if math.isnan(n_classes) else f"flat prior over {n_classes:.0f} classes"


def _number(facts: Mapping[str, Any], name: str) -> float:
    value = facts.get(name, math.nan)
    return float(value) if isinstance(value, int | float) else math.nan


def _digest(job: Job, roles: tuple[str, ...]) -> str:
    return "+".join(job.inputs[role].sha256[:12] for role in roles if role in job.inputs)
