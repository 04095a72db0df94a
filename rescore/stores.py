"""Frames over a whole store: every run, cell, figure, query and trial in one line each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.frames.columns import columns_of
from pipeline.grid.history import find_run, history
from pipeline.grid.opened import open_trials
from pipeline.grid.publish import Run, load_grid, load_run
from pipeline.protocols import signature_short
from pipeline.report.long_tables import query_rows
from pipeline.store import manifest
from pipeline.store.blobs import Store
from pipeline.terms import Cell
from rescore.tables import Frame, frame, of_rows

if TYPE_CHECKING:
    import xarray as xr

Place = Store | str | os.PathLike[str]
EVERY = "every"
"""Instead of a run: all that were published."""
_CELL = ("query_set", "dataset", "system")
_FIGURE = (*_CELL, "condition", "measure")


def runs_df(store: Place, evaluation: str = "") -> Frame:
    """A row for each run that was published, oldest first: evaluation, number, run, protocol, mode, when (UTC), cells
    that were scored and that failed.
    """
    opened = _opened(store)
    return of_rows(
        {
            "evaluation": commit.evaluation,
            "number": commit.number,
            "run": commit.run,
            "protocol": grid.attrs.get("protocol", ""),
            "mode": grid.attrs.get("mode", ""),
            "published": datetime.fromtimestamp(commit.written_s, UTC),
            "n_scored": run.n_scored,
            "n_failed": run.n_failed,
        }
        for name in manifest.evaluations(opened)
        if evaluation in ("", name)
        for commit in history(opened, name)
        for run in (load_run(opened, commit.run),)
        for grid in (load_grid(opened, run)[""],)
    )


def cells_df(store: Place, run: str = "") -> Frame:
    """A row for each system on each query set and dataset: evaluation, run, team, why it failed and where ("" where
    it was scored), short and long signature.

    ``run`` names one as ``rescore show`` does (an id, EVALUATION, EVALUATION~1), ``"every"`` all; without it the latest
    of every evaluation counts.
    """
    rows = []
    for head, grid in _grids(_opened(store), run):
        teams = dict(zip(_names(grid, "system"), _names(grid, "team"), strict=True)) if "team" in grid else {}
        failed, where, long = (grid[name].transpose(*_CELL) for name in ("failed", "failed_where", "signature"))
        for place in _places(grid, _CELL):
            at = dict(zip(_CELL, place, strict=True))
            signature = str(long.sel(at).item())
            told = {"failed": str(failed.sel(at).item()), "failed_where": str(where.sel(at).item())}
            rows.append(
                {**head, **at, "team": teams.get(place[2], "")}
                | told
                | {"signature_short": signature_short(signature), "signature": signature}
            )
    return of_rows(rows)


def measures_df(store: Place, run: str = "") -> Frame:
    """A row for each figure of each cell and condition: evaluation, run, value (float64, NaN where undefined), reason,
    status, unit, better (higher, lower, none). ``run`` as of ``cells_df``.
    """
    rows = []
    for head, grid in _grids(_opened(store), run):
        units, better = (dict(zip(_names(grid, "measure"), _names(grid, n), strict=True)) for n in _OF_MEASURES)
        values, reasons, statuses = (grid[name].transpose(*_FIGURE).to_numpy().ravel() for name in _OF_FIGURES)
        for place, value, reason, status in zip(
            _places(grid, _FIGURE), values.tolist(), reasons.tolist(), statuses.tolist(), strict=True
        ):
            own = dict(zip(_FIGURE, place, strict=True))
            told = {"value": value, "reason": reason or "", "status": status or ""}
            rows.append({**head, **own, **told, "unit": units[place[4]], "better": better[place[4]]})
    return of_rows(rows)


def queries_df(store: Place, run: str = "") -> Frame:
    """A row for each query (event, language, speaker) of each cell: counts and rates as blocks have them (float64, NaN
    where undefined). ``run`` as of ``cells_df``.
    """
    return of_rows(
        {**head, **row} for head, run_of in _runs(_opened(store), run) for row in query_rows(load_grid(*run_of))
    )


def trials_df(store: Place, run: str, cell: Cell | str) -> Frame:
    """The trials of one cell with what each of them is: query, file, channel, begin, duration and time in seconds,
    score, decision, outcome by name, as the protocol has them. ``cell`` is ``query_set/dataset/system``.
    """
    opened = _opened(store)
    trials = open_trials(opened, find_run(opened, run), cell)
    columns = columns_of(trials, str(cell))
    kept = {name: column for name, column in columns.items() if name not in trials.attrs}
    if "outcome" in trials:
        meanings = np.array(str(trials["outcome"].attrs["flag_meanings"]).split(), object)
        kept["outcome"] = meanings[trials["outcome"].to_numpy()]
    return frame({name: _plain(column) for name, column in kept.items()})


_OF_MEASURES = ("measure_unit", "measure_better")
_OF_FIGURES = ("value", "reason", "status")


def _opened(store: Place) -> Store:
    return store if isinstance(store, Store) else Store(os.fspath(store))


def _runs(store: Store, name: str) -> Iterator[tuple[dict[str, Any], tuple[Store, Run]]]:
    """Runs with what every row of theirs begins with."""
    if name not in ("", EVERY):
        runs: Sequence[Run] = [find_run(store, name)]
    else:
        commits = [history(store, evaluation) for evaluation in manifest.evaluations(store)]
        chosen = [commit for own in commits for commit in (own if name else own[-1:])]
        runs = [load_run(store, run) for run in dict.fromkeys(commit.run for commit in chosen)]
    for run in runs:
        yield {"evaluation": run.evaluation, "run": run.id}, (store, run)


def _grids(store: Store, name: str) -> Iterator[tuple[dict[str, Any], xr.Dataset]]:
    for head, run in _runs(store, name):
        yield head, load_grid(*run)[""].load()


def _names(grid: xr.Dataset, name: str) -> list[str]:
    return [str(value) for value in grid[name].to_numpy().tolist()]


def _places(grid: xr.Dataset, dims: Sequence[str]) -> list[tuple[str, ...]]:
    """Every combination of names, the last one fastest."""
    found: list[tuple[str, ...]] = [()]
    for dim in dims:
        found = [(*place, name) for place in found for name in _names(grid, dim)]
    return found


def _plain(column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Text as objects, which every frame takes."""
    return column.astype(object) if column.dtype.kind in "TU" else column
