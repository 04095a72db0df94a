"""The three files of a run that people open, written to its place in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import xarray as xr

from pipeline.engine.result import Result
from pipeline.report.documents import results_json
from pipeline.report.page import render_page
from pipeline.report.spreadsheet import board_csv
from pipeline.store.blobs import Store


def write_reports(
    store: Store, run_prefix: str, grid: Mapping[str, xr.Dataset], results: Sequence[Result]
) -> dict[str, str]:
    """Write index.html, board.csv and results.json under ``run_prefix``; returns name → path in the store.

    Raises ``StoreError`` when the store does not take them.
    """
    files = {
        "index.html": render_page(grid, results).encode("utf-8", "replace"),
        "board.csv": board_csv(grid),
        "results.json": b"".join(results_json(grid, results)),
    }
    paths = {name: f"{run_prefix.rstrip('/')}/{name}" for name in files}
    for name, data in files.items():
        store.put(paths[name], data)
    return paths
