"""Imports of a worker of a local cluster when it starts (Dask's ``preload``), so that its first task need not wait.

Workers start while the run's own process imports Prefect: on another core this costs no time.
"""

from __future__ import annotations

import importlib
from typing import Any

from pipeline.engine.memory import without_collector

NEEDED = (
    "pipeline.engine.cell",
    "scipy.sparse.csgraph",
    "pipeline.store.zipped",
    "xarray",
    "dask.array",  # xarray looks for it with the first array that it is given
)
"""What scoring a cell imports. Nothing breaks where something is missing here: it is then imported later."""


def dask_setup(_worker: Any) -> None:
    """Called by Dask in a new worker, before it is given anything to do."""
    with without_collector():
        for name in NEEDED:
            importlib.import_module(name)
        importlib.import_module("pipeline.protocols").protocols()
