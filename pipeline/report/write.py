"""The files of a run that people and programs open, written to its place in the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import xarray as xr

from pipeline.engine import jsonbytes
from pipeline.engine.result import Result, document_bytes
from pipeline.meta.intervals import BoardIntervals
from pipeline.report.alignments import alignment_pages
from pipeline.report.board import ALL
from pipeline.report.boards_file import boards_files
from pipeline.report.changes.diff import Diff
from pipeline.report.changes.documents import diff_document
from pipeline.report.long_tables import curve_table, query_table
from pipeline.report.one_system import file_names
from pipeline.report.page import page_of
from pipeline.report.parts import files_of, of_board, parts_of
from pipeline.report.publication import board_tex, scores_json
from pipeline.report.shown import shown
from pipeline.report.spreadsheet import csv_of
from pipeline.store.blobs import Store

_WRITERS_AT_ONCE = 8


def write_reports(
    store: Store,
    run_prefix: str,
    grid: Mapping[str, xr.Dataset],
    results: Sequence[Result],
    changes: Diff | None = None,
    intervals: Sequence[BoardIntervals] = (),
) -> dict[str, str]:
    """Write a run's reports under ``run_prefix``; returns name → path in the store.

    They are index.html, board.csv, board.tex, boards.json, queries.csv, curves.csv and results.json, and for every
    system its page and its scores.json in ``systems``. Of a large run index.html and boards.json lead to a page and a
    file for each board, in ``boards``. With ``changes`` since an earlier run the page has a section of
    them, and changes.json has them all. None of them holds what the disclosure of a dataset holds back.
    Raises ``StoreError`` when the store does not take them.
    """
    with ThreadPoolExecutor(_WRITERS_AT_ONCE) as pool:
        written = {}
        for name, data in _files(grid, results, changes, intervals):
            path = f"{run_prefix.rstrip('/')}/{name}"
            written[name] = path, pool.submit(store.put, path, data)
        for _, done in written.values():
            done.result()
    return {name: path for name, (path, _) in written.items()}


def _files(
    grid: Mapping[str, xr.Dataset],
    results: Sequence[Result],
    changes: Diff | None,
    intervals: Sequence[BoardIntervals],
) -> Iterator[tuple[str, bytes]]:
    """Every file by name, one after the other."""
    whole = shown(grid, results, changes, intervals)
    run = whole.run
    yield "index.html", page_of(whole).encode("utf-8", "replace")
    yield "board.csv", csv_of(run)
    yield "board.tex", board_tex(run, whole.known).encode("utf-8", "replace")
    parts = parts_of(run.boards_of(ALL))
    yield from boards_files(run, files_of(parts)).items()
    yield "queries.csv", query_table(whole.grid).csv()
    yield "curves.csv", curve_table(whole.grid).csv()
    yield "results.json", _joined(results_json(whole.grid, whole.results))
    if whole.changes is not None:
        yield "changes.json", jsonbytes.dumps(diff_document(whole.changes))
    for part in parts:
        yield part.file, page_of(of_board(whole, part)).encode("utf-8", "replace")
    for system, name in file_names(run.systems).items():
        own = whole.of(system)
        yield f"systems/{name}.html", page_of(own).encode("utf-8", "replace")
        for file, text in alignment_pages(own):
            yield f"systems/{file}", text.encode("utf-8", "replace")
        yield f"systems/{name}.scores.json", scores_json(run, system)


def _joined(pieces: Iterable[bytes]) -> bytes:
    """All pieces as one, without a list of them beside it."""
    whole = BytesIO()
    whole.writelines(pieces)
    return whole.getvalue()


def results_json(grid: Mapping[str, xr.Dataset], results: Iterable[Result]) -> Iterator[bytes]:
    """The file in pieces, one a cell, so that no more than one document is held beside the results.

    An object: the run's attributes by name, then ``results``, one document a line. Strict JSON: undefined figures
    are null, infinities the strings "inf" and "-inf".
    """
    attributes = {str(name): _native(value) for name, value in sorted(grid[""].attrs.items())}
    yield _json({**attributes, "results": []}).removesuffix("]}").encode()
    separator = "\n"
    for result in results:
        yield separator.encode() + document_bytes(result)
        separator = ",\n"
    yield b"\n]}\n"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _native(value: Any) -> Any:
    """An attribute as JSON may carry it: numpy scalars and arrays as Python values."""
    return value.tolist() if hasattr(value, "tolist") else value
