"""Margins of the grid: figures summed up over query sets, datasets or systems, where they are of one operating point.

A mean is formed of an exact sum, so that no order of cells has a part in it. Figures at different operating points are
not of one scale: they are counted and nothing else, with the reason, as a study does.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.engine.plan import Plan
from pipeline.engine.result import Result
from pipeline.grid.axes import CELL, Axes, array, text_array
from pipeline.partials.exact import ExactSum

SUMMARIES = ("n", "min", "median", "mean", "max")
NO_FIGURES, OTHER_POINT, INFINITE = "no_figures", "other_point", "infinite"
"""Reasons: nothing to sum up; operating points differ; infinities of both signs meet."""
_OF_POINT = ("beta", "ter", "n_classes")
"""Facts that are the operating point of a cell: beta of costs and prior, target error ratio, classes of a flat prior.

C_fa (1 - P) / (C_miss P) is one number for costs and prior together: equal ones weigh errors alike.
"""
_DIMS = (*CELL, "condition", "measure")
_HIGHEST = np.iinfo(np.int64).max

Floats = NDArray[np.float64]


def margins(
    plan: Plan, axes: Axes, results: Sequence[Result], value: Floats, free: Collection[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables and coordinates of the group: of ``value`` (system, query set, dataset, condition, measure) its
    summaries over each dimension of cells. ``free`` measures depend on no operating point.

    Canaries, which compete with nobody, are left out over systems.
    """
    points = _points(axes, results)[..., None].repeat(len(axes.measures), axis=-1)
    points[..., [name in free for name in axes.measures]] = 0
    canaries = {system.name for system in plan.systems if system.canary}
    competing = np.array([name not in canaries for name in axes.systems])
    data: dict[str, Any] = {}
    for at, dim in enumerate(CELL):
        kept = competing if dim == "system" else np.ones(value.shape[at], np.bool_)
        found, reasons = summed_up(np.compress(kept, value, at), np.compress(kept, points, at), at)
        dims = ("summary", *(name for name in _DIMS if name != dim))
        about = f"figures of all {dim.replace('_', ' ')}s, summed up"
        name = f"over_{dim}"
        data[name] = array(found, dims, f"{about}; NaN where `{name}_reason` says why", "value", "measure_unit")
        data[f"{name}_reason"] = text_array(reasons, dims, "why there is no such summary", "rescore")
    units = [measure.unit for measure in plan.protocol.measures]
    data["measure_unit"] = text_array(units, ("measure",), "unit of the figure (of n: 1)", "protocol")
    coords = {
        **axes.coords(),
        "condition": text_array(axes.conditions, ("condition",), "part of the trials or of the systems", "protocol"),
        "measure": text_array(axes.measures, ("measure",), "measure", "protocol"),
        "summary": text_array(SUMMARIES, ("summary",), "summary of the figures that are defined", "rescore"),
    }
    return data, coords


def summed_up(value: Floats, points: NDArray[np.int64], axis: int) -> tuple[Floats, Any]:
    """``SUMMARIES`` of the defined values along an axis, first dimension of what comes back, and reasons of that shape.

    ``points``, of the shape of ``value``, are codes of operating points. Equal for any order along the axis.
    """
    rows = np.moveaxis(value, axis, -1) + 0.0  # of zeros with two signs none is first
    shape, known = rows.shape[:-1], ~np.isnan(rows)
    codes = np.moveaxis(points, axis, -1)
    lowest = np.where(known, codes, _HIGHEST).min(axis=-1, initial=_HIGHEST)
    apart = lowest < np.where(known, codes, -1).max(axis=-1, initial=-1)
    n = known.sum(axis=-1)
    found = np.full((len(SUMMARIES), *shape), np.nan)
    found[0] = n
    for place in map(tuple, np.argwhere((n > 0) & ~apart)):
        found[(slice(1, None), *place)] = _of(np.sort(rows[place][known[place]]))
    reasons = np.full(found.shape, "", np.dtypes.StringDType())
    reasons[1:] = np.where(n == 0, NO_FIGURES, np.where(apart, OTHER_POINT, "")).astype(np.dtypes.StringDType())
    reasons[np.isnan(found) & (reasons == "")] = INFINITE
    return found, reasons


def _of(ordered: Floats) -> tuple[float, float, float, float]:
    """Least, median, mean and greatest of some sorted numbers."""
    middle = ordered[(ordered.size - 1) // 2 : ordered.size // 2 + 1]
    return ordered[0], _mean(middle), _mean(ordered), ordered[-1]


def _mean(values: Floats) -> float:
    """The mean of sorted numbers; of equal ones it is their value, to the last bit."""
    first, last = float(values[0]), float(values[-1])
    if first == last:
        return first
    if values.size == 2 and math.isfinite(first + last):
        return (first + last) / 2.0  # of two the exact sum, rounded once
    return ExactSum.of(values).mean(values.size)


def _points(axes: Axes, results: Sequence[Result]) -> NDArray[np.int64]:
    """A code of each cell's operating point by condition: equal codes are equal points."""
    points = np.zeros((*axes.shape, len(axes.conditions)), np.int64)
    codes: dict[tuple[str, ...], int] = {}
    for result in results:
        for c, condition in enumerate(axes.conditions):
            part = result.conditions.get(condition, result)
            point = tuple(repr(part.facts.get(name)) for name in _OF_POINT)
            points[(*axes.place(result), c)] = codes.setdefault(point, len(codes))
    return points
