"""A run as its reports show it: what disclosure leaves is found out once, and every page and file is made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from pipeline.engine.result import Result
from pipeline.grid.disclosure import levels_of
from pipeline.meta.intervals import BoardIntervals
from pipeline.report.board import RunBoards, names, read_run
from pipeline.report.changes.diff import Diff
from pipeline.report.disclosure import Levels, disclosed, disclosed_changes
from pipeline.report.one_system import file_names, of_system
from pipeline.report.uncertainty import Place, Uncertainty, uncertainties


@dataclass(frozen=True)
class PageContents:
    """Grid, results and what moved, without what is held back; ``run`` is the grid read, ``known`` its intervals.

    ``system`` is the one whose page it is, "" for all; ``board`` the (query set, dataset), where it has its own page.
    """

    grid: Mapping[str, xr.Dataset]
    results: tuple[Result, ...]
    levels: Levels
    run: RunBoards
    changes: Diff | None
    known: Mapping[Place, Uncertainty]
    system: str = ""
    board: tuple[str, str] | None = None
    stem: str = ""
    """The name of the system's page without its ending."""

    def of(self, system: str) -> PageContents:
        """The contents of one system's page: nothing of anybody else, and nothing of what moved."""
        grid, results = of_system(self.grid, self.results, system)
        stem = file_names(self.run.systems)[system]
        return replace(self, grid=grid, results=results, run=read_run(grid), changes=None, system=system, stem=stem)


def shown(
    grid: Mapping[str, xr.Dataset],
    results: Iterable[Result],
    changes: Diff | None = None,
    intervals: Iterable[BoardIntervals] = (),
) -> PageContents:
    """A run as far as the disclosure of its datasets lets it be shown, without the organiser's canaries: they stand on
    no board that participants see, unless there is nothing else."""
    levels = levels_of(grid)
    kept, told = disclosed(*_competing(grid, results), levels)
    run = read_run(kept)
    known = uncertainties(intervals, run.primary, levels)
    return PageContents(kept, told, levels, run, disclosed_changes(changes, levels), known)


def _competing(
    grid: Mapping[str, xr.Dataset], results: Iterable[Result]
) -> tuple[Mapping[str, xr.Dataset], tuple[Result, ...]]:
    """Grid and results without canaries."""
    kept = tuple(results)
    if "canary" not in grid[""] or bool(grid[""]["canary"].values.all()):
        return grid, kept
    own = np.flatnonzero(~grid[""]["canary"].values)
    systems = set(names(grid[""].isel(system=own), "system"))
    alone = {name: group.isel(system=own) if "system" in group.dims else group for name, group in grid.items()}
    return alone, tuple(result for result in kept if result.cell is None or result.cell.system in systems)
