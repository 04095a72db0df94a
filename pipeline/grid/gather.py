"""Results of cells → the labelled arrays of the grid. Nothing is computed here but ranks and summaries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.engine.plan import Plan
from pipeline.engine.result import Result
from pipeline.grid import hardware, query_rows
from pipeline.grid.axes import ALL, CELL, NO_SUCH_CELL, Axes, array, text_array
from pipeline.grid.disclosure import EVERYTHING
from pipeline.grid.margins import SUMMARIES, margins
from pipeline.grid.rests import rests
from pipeline.grid.thin import thin
from pipeline.metrics.best import worths
from pipeline.terms import Figure, System

if TYPE_CHECKING:
    import xarray as xr

NOT_MADE = "not_made"
"""Reason: the run was made before the measure came, and says nothing of it."""
CURVE = ("threshold", "p_miss", "p_fa", "twv")


def gather(plan: Plan, results: Sequence[Result]) -> dict[str, xr.Dataset]:
    """The groups of the grid: ``""`` (figures), ``queries``, ``curves``, ``load`` and ``margins``."""
    import xarray as xr

    axes = Axes.of(plan, results)
    groups = {"": _figures(plan, axes, results), "queries": query_rows.gathered(axes, results)}
    groups["curves"] = _curves(axes, results)
    value = groups[""][0]["value"][1]
    groups["load"] = _load(axes, value, plan, results)
    free = [measure.name for measure in plan.protocol.measures if measure.load]
    groups["margins"] = margins(plan, axes, results, value, free)
    attrs = _attributes(plan)

    def variables(made: Mapping[str, Any]) -> dict[str, xr.Variable]:
        """Arrays of NumPy as they are: else xarray asks whether they are Dask's, and imports all of that to know."""
        return {name: xr.Variable(one[0], one[1], dict(*one[2:]), fastpath=True) for name, one in made.items()}

    return {name: xr.Dataset(variables(data), variables(coords), attrs) for name, (data, coords) in groups.items()}


def _attributes(plan: Plan) -> dict[str, Any]:
    protocol = plan.protocol
    return {
        "evaluation": plan.evaluation,
        "plan": plan.address,
        "protocol": protocol.name,
        "edition": protocol.edition,
        "mode": protocol.mode,
        "primary_measure": protocol.primary,
        "title": protocol.title,
        **({"counts": plan.counts} if plan.counts else {}),
        **({"overlays": json.dumps(plan.overlays, sort_keys=True)} if plan.overlays else {}),
    }


def _figures(plan: Plan, axes: Axes, results: Sequence[Result]) -> tuple[dict[str, Any], dict[str, Any]]:
    measures = plan.protocol.measures
    full = (*axes.shape, len(axes.conditions), len(measures))
    value = np.full(full, np.nan)
    reason, status = (np.full(full, "", np.dtypes.StringDType()) for _ in range(2))
    texts = {
        name: np.full(axes.shape, "", np.dtypes.StringDType())
        for name in ("failed", "failed_where", "failed_message", "signature")
    }
    reason[_nowhere(plan, axes)] = texts["failed"][_nowhere(plan, axes)] = NO_SUCH_CELL
    for result in results:
        place = axes.place(result)
        texts["signature"][place] = result.signature
        if result.failed is not None:
            first = result.findings[0] if result.findings else None
            texts["failed"][place] = result.failed
            texts["failed_where"][place] = first.where if first else ""
            texts["failed_message"][place] = first.message if first else ""
        for c, condition in enumerate(axes.conditions):
            figures, absent = _figures_in(axes, result, condition)
            for m, measure in enumerate(measures):
                figure = figures.get(measure.name) or Figure.undefined(absent or NOT_MADE)
                value[(*place, c, m)], reason[(*place, c, m)] = figure.value, figure.reason or ""
                status[(*place, c, m)] = figure.status or ""
    dims = (*CELL, "condition", "measure")
    data = {
        "value": array(value, dims, "figure; NaN where `reason` says why", "measure_source"),
        "reason": text_array(reason, dims, "why a figure is undefined", "rescore"),
        "status": text_array(status, dims, "qualifies a defined figure", "rescore"),
        "failed": text_array(texts["failed"], CELL, "why a cell was not scored; empty = scored", "rescore"),
        "failed_where": text_array(texts["failed_where"], CELL, "place of the first problem", "rescore"),
        "failed_message": text_array(texts["failed_message"], CELL, "the first problem", "rescore"),
        "signature": text_array(texts["signature"], CELL, "all settings, inputs and the version", "rescore"),
        **_standing(plan, axes, value),
        **hardware.of_cells(axes, results),
        **rests(axes, results),
        "measure_unit": text_array([m.unit for m in measures], ("measure",), "unit of the figure", "protocol"),
        "measure_better": text_array([m.better for m in measures], ("measure",), "better direction", "protocol"),
        "measure_source": text_array(
            [m.source for m in measures], ("measure",), "document, section, equation", "protocol"
        ),
    }
    if plan.disclose:
        levels = [plan.disclose.get(name, EVERYTHING) for name in axes.datasets]
        data["disclosure"] = text_array(levels, ("dataset",), "what reports may show")
    coords = {
        **axes.coords(),
        **_identities(axes),
        "condition": text_array(axes.conditions, ("condition",), "part of the trials or of the systems", "protocol"),
        "measure": text_array(axes.measures, ("measure",), "measure", "protocol"),
    }
    return data, coords


def _standing(plan: Plan, axes: Axes, value: NDArray[np.float64]) -> dict[str, Any]:
    """Ranks, what they are by, and who the systems are."""
    by, by_name = _ranked_by(plan, axes), {system.name: system for system in plan.systems}
    return {
        "rank": array(
            _ranks(plan, axes, value, by), (*CELL, "condition"), "rank by the measure of `rank_by`; 0 = none", "rescore"
        ),
        "rank_by": text_array(by, (*CELL[1:], "condition"), "measure that ranks the board"),
        "team": text_array(
            [by_name[s].team or axes.identities[s].get("team", "") for s in axes.systems], ("system",), "team"
        ),
        "primary": array(
            np.array([by_name[s].primary for s in axes.systems]), ("system",), "primary system", "evaluation file"
        ),
        **_rare(plan, axes),
    }


def _nowhere(plan: Plan, axes: Axes) -> NDArray[np.bool_]:
    """By (system, query set, dataset) where the evaluation has no cell."""
    nowhere = np.ones(axes.shape, np.bool_)
    for job in plan.jobs:
        nowhere[axes.place(job)] = False
    return nowhere


def _figures_in(axes: Axes, result: Result, condition: str) -> tuple[Mapping[str, Figure], str]:
    """A result's figures in a condition, and the reason where there are none."""
    board = axes.identities[result.cell.system].get("board") if result.cell else None
    if condition in (ALL, board):
        return result.figures, result.failed or ""
    if condition in result.conditions:
        return result.conditions[condition].figures, ""
    other = any(fields.get("board") == condition for fields in axes.identities.values())
    return {}, "other_board" if other else result.failed or "no_such_condition"


def _identities(axes: Axes) -> dict[str, Any]:
    """Fields of systems' names, one coordinate each; empty text where a name follows no rule."""
    names = dict.fromkeys(name for fields in axes.identities.values() for name in fields if name != "team")
    return {
        name: text_array(
            [axes.identities[system].get(name, "") for system in axes.systems], ("system",), f"{name} of the system"
        )
        for name in names
    }


def description_file(system: System) -> str:
    """Where a system's description lies beside the reports: a name of ours with its ending; "" where there is none."""
    if not system.description:
        return ""
    ending = "pdf" if system.description["name"].lower().endswith(".pdf") else "txt"
    return f"descriptions/{system.description['sha256'][:16]}.{ending}"


def _rare(plan: Plan, axes: Axes) -> dict[str, Any]:
    """Which systems are the organiser's own checks, and which ones later versions replace; nothing where none is."""
    by_name = {system.name: system for system in plan.systems}
    canary = np.array([by_name[name].canary for name in axes.systems])
    replaced = [by_name[name].replaced_by for name in axes.systems]
    data = {"canary": array(canary, ("system",), "organiser's canary", "evaluation file")} if canary.any() else {}
    later = text_array(replaced, ("system",), "the later version that counts in its place")
    files = text_array(
        [description_file(by_name[name]) for name in axes.systems], ("system",), "description of the system"
    )
    if any(one.description for one in plan.systems):
        data["description"] = files
    of = [by_name[name].version_of for name in axes.systems]
    versions = text_array(of, ("system",), "the system it is a version of, of which the best counts")
    return {
        **data,
        **({"replaced_by": later} if any(replaced) else {}),
        **({"version_of": versions} if any(of) else {}),
    }


def _ranked_by(plan: Plan, axes: Axes) -> NDArray[np.object_]:
    """The measure that ranks each board of (Q, Ω, condition)."""
    boards = product(axes.query_sets, axes.datasets, axes.conditions)
    return np.array([plan.ranked_by(*board) for board in boards], object).reshape(*axes.shape[1:], len(axes.conditions))


def _ranks(plan: Plan, axes: Axes, value: NDArray[np.float64], by: NDArray[np.object_]) -> NDArray[np.int64]:
    """Competition ranks by the measure that ranks each board of (Q, Ω, condition): equal figures share a rank.

    Where the family keeps boards apart, systems of different boards are not compared though they are listed together.
    Contrastive systems, canaries and versions that later ones replace have no rank.
    """
    key = np.full(value.shape[:-1], np.nan)
    for measure in np.unique(by).tolist():
        column = axes.measures.index(measure)
        key[:, by == measure] = worths(value[..., column], plan.protocol.measures[column].better)[:, by == measure]
    ranked = {one.name for one in plan.systems if one.primary and not one.canary and not one.replaced_by}
    key[[system not in ranked for system in axes.systems]] = np.nan
    _keep_best(key, [next(one.version_of for one in plan.systems if one.name == name) for name in axes.systems])
    apart = plan.protocol.family.boards.apart
    boards = np.array([axes.identities[system].get("board", "") if apart else "" for system in axes.systems])
    compared = (boards[:, None] == boards).reshape(boards.size, boards.size, *(1,) * (key.ndim - 1))
    better = ((key[None, ...] > key[:, None, ...]) & compared).sum(axis=1)
    ranks: NDArray[np.int64] = np.where(np.isnan(key), 0, better + 1).astype(np.int64)
    return ranks


def _keep_best(key: NDArray[np.float64], version_of: Sequence[str]) -> None:
    """Take the worth away, board by board, of all versions of a system but the best, of equal ones the last."""
    for head in {name for name in version_of if name}:
        own = [at for at in range(len(version_of) - 1, -1, -1) if version_of[at] == head]
        worth = np.where(np.isnan(key[own]), -np.inf, key[own])
        for at, system in enumerate(own):
            key[system][worth.argmax(axis=0) != at] = np.nan


def _main_curve(curve: Mapping[str, Sequence[Any]]) -> dict[str, NDArray[np.float64]]:
    """The curve of the cell as a whole: of several (column ``event``) that without a name; NaN where a column lacks."""
    n_points = len(curve.get("p_miss", ()))
    rows = np.array([name == "" for name in curve.get("event", [""] * n_points)], np.bool_)
    absent = np.full(n_points, np.nan)
    return {name: np.asarray(curve.get(name, absent), np.float64)[rows] for name in CURVE}


def _curves(axes: Axes, results: Sequence[Result]) -> tuple[dict[str, Any], dict[str, Any]]:
    first, last = (np.zeros(axes.shape, np.int64) for _ in range(2))
    columns: dict[str, list[NDArray[np.float64]]] = {name: [] for name in CURVE}
    total = 0
    for result in sorted(results, key=axes.place):
        kept = thin(_main_curve(result.curve))
        for name in CURVE:
            columns[name].append(kept[name])
        first[axes.place(result)], total = total, total + kept["twv"].size
        last[axes.place(result)] = total
    data = {
        name: array(
            np.concatenate([np.empty(0), *parts]),
            ("point",),
            f"{name} along the threshold sweep",
            "plan 000 section 2.3",
            "score" if name == "threshold" else "1",
        )
        for name, parts in columns.items()
    }
    data["first"] = array(first, CELL, "first point of the cell's curve", "rescore")
    data["last"] = array(last, CELL, "one past the last point of the cell's curve", "rescore")
    return data, axes.coords()


def _load(
    axes: Axes, value: NDArray[np.float64], plan: Plan, results: Sequence[Result]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Processing Load of every cell, and its summary over systems for every (Q, Ω)."""
    names = [measure.name for measure in plan.protocol.measures if measure.load]
    load = value[:, :, :, 0, [axes.measures.index(name) for name in names]]
    summary = np.full((len(SUMMARIES), *load.shape[1:]), np.nan)
    summary[0] = np.isfinite(load).sum(axis=0)
    for place in np.ndindex(load.shape[1:]):
        known = load[(slice(None), *place)]
        known = np.sort(known[np.isfinite(known)])
        if known.size:
            summary[(slice(1, None), *place)] = known[0], np.median(known), known.mean(), known[-1]
    units = {measure.name: measure.unit for measure in plan.protocol.measures}
    source = "plan 000 section 4.3"
    data = {
        "value": array(load, (*CELL, "load_measure"), "Processing Load and its parts", source, "load_unit"),
        "summary_value": array(
            summary, ("summary", "query_set", "dataset", "load_measure"), "summary over systems", source, "load_unit"
        ),
        "load_unit": text_array([units[name] for name in names], ("load_measure",), "unit of the figure", "protocol"),
        **hardware.by_phase(axes, results),
    }
    coords = {
        **axes.coords(),
        "load_measure": text_array(names, ("load_measure",), "load figure", "protocol"),
        **hardware.phases(results),
        "summary": text_array(SUMMARIES, ("summary",), "summary over systems", "rescore"),
    }
    return data, coords
