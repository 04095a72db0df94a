"""One system's part of a run: its figures with the ranks they have among all, and nothing of anybody else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import xarray as xr

from pipeline.engine.result import Result
from pipeline.report.board import names

LONGEST = 60


def of_system(
    grid: Mapping[str, xr.Dataset], results: Iterable[Result], system: str
) -> tuple[dict[str, xr.Dataset], tuple[Result, ...]]:
    """The grid and the results of one system. Summaries over systems are left out."""
    own = {}
    for name, group in grid.items():
        place = names(group, "system").index(system)
        own[name] = group.isel(system=[place]).drop_vars("summary_value", errors="ignore")
    return own, tuple(result for result in results if result.cell is not None and result.cell.system == system)


def file_names(systems: Iterable[str]) -> dict[str, str]:
    """A file name, without its ending, for every system: its number, and what of its name a path may hold."""
    return {
        system: f"{at:03d}-{re.sub(r'[^A-Za-z0-9_.-]+', '_', system)[:LONGEST].strip('._-') or 'system'}"
        for at, system in enumerate(systems, 1)
    }
