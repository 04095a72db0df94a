"""Disclosed runs: a run without what its datasets' disclosure holds back. Nothing hidden is passed on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.engine.result import Result
from pipeline.grid.disclosure import EVERYTHING, HELD, NO_KEY, SELECTION, Disclosure, levels_of
from pipeline.grid.query_rows import kept_of
from pipeline.protocols.base import Conclusion
from pipeline.report.board import CELL, names, ranked_by, strings
from pipeline.report.changes.diff import Cause, CellDiff, Diff
from pipeline.report.overlays import disclosed_overlays, disclosed_signature, disclosed_value, named_in, without
from pipeline.terms import Figure

NOT_DISCLOSED = "not_disclosed"
COARSE_P_FA = (1e-6, 1e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""False-alarm probabilities at which a curve is told where its steps would tell targets from non-targets."""
COARSE_DECIMALS = 2

Levels = Mapping[str, Disclosure]


def disclosed(
    grid: Mapping[str, xr.Dataset], results: Iterable[Result], levels: Levels | None = None
) -> tuple[dict[str, xr.Dataset], tuple[Result, ...]]:
    """The grid and the results as reports may show them. ``levels`` by dataset; default: those of the grid.

    ``everything`` is passed on as it is. ``no_key`` keeps figures, facts and conditions, and of curves their shape at
    fixed false-alarm rates; it leaves out what is told by query, event, segment or speaker, all tables, thresholds
    and warnings. A selection keeps the figures of its measures alone. ``held`` keeps why outputs were refused.
    """
    known = levels_of(grid) if levels is None else levels
    kept = tuple(disclosed_result(result, known) for result in results)
    if all(level.shows_all for level in known.values()):
        return dict(grid), kept
    root = _root(grid[""], known)
    groups = {"": root.assign_attrs(disclosed_overlays(root.attrs, known))}
    for name, hide in (("queries", _queries), ("curves", _curves), ("load", _load)):
        if name in grid:
            groups[name] = hide(grid[name], known)
    return groups, kept


def disclosed_changes(changes: Diff | None, levels: Levels) -> Diff | None:
    """Changes, as far as reports may show them."""
    if changes is None:
        return None
    if all(level.shows_all for level in levels.values()):
        return changes
    cells = [_cell_diff(cell, levels.get(cell.cell.dataset, Disclosure())) for cell in changes.cells]
    return replace(changes, cells=tuple(cell for cell in cells if cell is not None))


def _cell_diff(cell: CellDiff, level: Disclosure) -> CellDiff | None:
    if level.level == HELD:
        return None
    figures = tuple(moved for moved in cell.figures if level.shows(moved.name) and not _is_threshold(level, moved.name))
    queries = cell.queries if level.shows_all else ()
    rank = cell.rank if level.level != SELECTION else (0, 0)
    causes = cell.causes if level.shows_all else tuple(_cause(cause) for cause in cell.causes)
    return replace(cell, figures=figures, queries=queries, rank=rank, causes=causes)


def _cause(cause: Cause) -> Cause:
    """The difference between two signatures, without the names that a setting lists."""
    before, after = (disclosed_value(cause.name, value) for value in (cause.before, cause.after))
    return replace(cause, before=before, after=after) if cause.kind == "setting" else cause


def _is_threshold(level: Disclosure, measure: str) -> bool:
    return level.level == NO_KEY and measure.endswith("threshold")


def disclosed_result(result: Result, levels: Levels) -> Result:
    """One result as reports may show it."""
    level = levels.get(result.cell.dataset, Disclosure()) if result.cell is not None else Disclosure()
    if level.shows_all:
        return result
    hidden = named_in(result.signature)
    result = replace(result, signature=disclosed_signature(result.signature))
    if result.failed is not None:
        told = tuple(replace(f, message=without(f.message, hidden)) for f in result.findings)
        return replace(result, facts={}, figures={}, blocks=(), curve={}, tables={}, conditions={}, findings=told)
    if level.level == HELD:
        bare = replace(result, figures={}, facts={}, failed=HELD)
    else:
        bare = replace(
            result,
            figures=_figures(result.figures, level),
            facts=result.facts if level.level == NO_KEY else {},
            conditions={name: _conclusion(part, level) for name, part in result.conditions.items()},
        )
    conditions = {} if level.level == HELD else bare.conditions
    return replace(bare, blocks=(), curve={}, tables={}, conditions=conditions, findings=(), n_findings=0)


def _figures(figures: Mapping[str, Figure], level: Disclosure) -> dict[str, Figure]:
    shown = {name: level.shows(name) and not _is_threshold(level, name) for name in figures}
    return {
        name: Figure(figure.value, figure.reason, figure.status) if shown[name] else Figure.undefined(NOT_DISCLOSED)
        for name, figure in figures.items()
    }


def _conclusion(part: Conclusion, level: Disclosure) -> Conclusion:
    facts = part.facts if level.level == NO_KEY else {}
    return Conclusion(figures=_figures(part.figures, level), blocks=(), curve={}, facts=facts, tables={})


def _root(root: xr.Dataset, levels: Levels) -> xr.Dataset:
    order = ("dataset", "system", "query_set", "condition", "measure")
    made = {name: root[name].transpose(*order).copy(deep=True) for name in ("value", "reason", "status")}
    rank = root["rank"].transpose(*order[:-1]).copy(deep=True)
    failed, signature, message = (
        root[name].transpose("dataset", "system", "query_set").astype(object)
        for name in ("failed", "signature", "failed_message")
    )
    measures = names(root, "measure")
    rank_by = strings(ranked_by(root).transpose("dataset", "query_set", "condition"))
    for at, dataset in enumerate(names(root, "dataset")):
        level = levels.get(dataset, Disclosure())
        scored = failed.values[at] == ""
        hidden = [not level.shows(name) or _is_threshold(level, name) for name in measures]
        reason = HELD if level.level == HELD else NOT_DISCLOSED
        for m in np.flatnonzero(hidden):
            place = made["reason"].values[at, ..., m]
            place[scored[..., None] & (place != "other_board")] = reason
            made["value"].values[at, ..., m] = np.nan
            made["status"].values[at, ..., m] = ""
        untold = [name for name, is_hidden in zip(measures, hidden, strict=True) if is_hidden]
        rank.values[at][:, np.isin(rank_by[at].astype(np.str_), untold)] = 0
        if level.level == HELD:
            failed.values[at][scored] = HELD
        if not level.shows_all:
            for cell in np.ndindex(*signature.values[at].shape):
                own, told = signature.values[at][cell], message.values[at][cell]
                message.values[at][cell] = without(str(told), named_in(str(own)))
                signature.values[at][cell] = disclosed_signature(str(own))
    arrays = {**made, "rank": rank, "failed": failed, "signature": signature, "failed_message": message}
    return root.assign({name: array.transpose(*root[name].dims) for name, array in arrays.items()})


def _queries(group: xr.Dataset, levels: Levels) -> xr.Dataset:
    return kept_of(group, _mask(group, levels, (EVERYTHING,)).values)


def _load(group: xr.Dataset, levels: Levels) -> xr.Dataset:
    shown = _mask(group, levels, (EVERYTHING, NO_KEY))
    hidden = {name: group[name].where(shown) for name in ("value", "summary_value") if name in group}
    return group.assign(hidden)


def _mask(group: xr.Dataset, levels: Levels, wanted: tuple[str, ...]) -> xr.DataArray:
    shown = [levels.get(name, Disclosure()).level in wanted for name in names(group, "dataset")]
    return xr.DataArray(shown, coords={"dataset": group["dataset"]}, dims=("dataset",))


def _curves(group: xr.Dataset, levels: Levels) -> xr.Dataset:
    columns = ("threshold", "p_miss", "p_fa", "twv")
    ranges = [group[name].transpose(*CELL).copy(deep=True) for name in ("first", "last")]
    parts: list[NDArray[np.float64]] = []
    total = 0
    for place in np.ndindex(*ranges[0].shape):
        level = levels.get(names(group, "dataset")[place[2]], Disclosure())
        rows = slice(int(ranges[0].values[place]), int(ranges[1].values[place]))
        own = np.stack([group[name].values[rows].astype(np.float64) for name in columns if name in group])
        own = own if level.shows_all else _coarse(own, level)
        parts.append(own)
        ranges[0].values[place], total = total, total + own.shape[1]
        ranges[1].values[place] = total
    joined = np.concatenate([np.empty((len(columns), 0)), *parts], axis=1)
    data = {name: ("point", joined[row], group[name].attrs) for row, name in enumerate(columns)}
    return group.drop_vars([*columns, "first", "last"]).assign(data).assign(first=ranges[0], last=ranges[1])


def _coarse(curve: NDArray[np.float64], level: Disclosure) -> NDArray[np.float64]:
    """A curve at fixed false-alarm rates, rounded, without thresholds; nothing of it below ``no_key``."""
    if level.level != NO_KEY or not curve.shape[1]:
        return curve[:, :0]
    _, p_miss, p_fa, _ = curve
    rates = [rate for rate in COARSE_P_FA if rate <= 2 * float(np.nanmax(p_fa)) and (p_fa <= rate).any()]
    least = [round(float(p_miss[p_fa <= rate].min()), COARSE_DECIMALS) for rate in rates]
    points = [(math.nan, miss, rate, math.nan) for miss, rate in zip(least, rates, strict=True)]
    return np.array(points, np.float64).reshape(-1, 4).T
