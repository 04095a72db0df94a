"""The files of a run that people and programs open, written to its place in the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import xarray as xr

from pipeline.engine.result import Result
from pipeline.report.board import read_run
from pipeline.report.boards_file import boards_json
from pipeline.report.diff import Diff
from pipeline.report.diff_documents import diff_document
from pipeline.report.documents import results_json
from pipeline.report.page import render_page
from pipeline.report.spreadsheet import board_csv
from pipeline.store.blobs import Store


def write_reports(
    store: Store,
    run_prefix: str,
    grid: Mapping[str, xr.Dataset],
    results: Sequence[Result],
    changes: Diff | None = None,
) -> dict[str, str]:
    """Write index.html, board.csv, boards.json and results.json under ``run_prefix``; returns name → path in the store.

    With ``changes`` since an earlier run the page has a section of them, and changes.json has them all.
    Raises ``StoreError`` when the store does not take them.
    """
    files = {
        "index.html": render_page(grid, results, changes).encode("utf-8", "replace"),
        "board.csv": board_csv(grid),
        "boards.json": boards_json(read_run(grid)),
        "results.json": b"".join(results_json(grid, results)),
    }
    if changes is not None:
        files["changes.json"] = json.dumps(diff_document(changes), allow_nan=False).encode()
    paths = {name: f"{run_prefix.rstrip('/')}/{name}" for name in files}
    for name, data in files.items():
        store.put(paths[name], data)
    return paths
