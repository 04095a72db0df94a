"""The boards as CSV for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping
from typing import Any

import xarray as xr

from pipeline.report.board import RunBoards, read_run, rows_of
from pipeline.report.words import exact

_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def guarded(text: str) -> str:
    """Text that no spreadsheet takes for a formula: a leading apostrophe where it begins like one.

    What turns the direction of text, and control characters but tabs and line ends, are written as escapes.
    """
    text = _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def board_csv(grid: Mapping[str, xr.Dataset]) -> bytes:
    """All boards as one CSV table (UTF-8, RFC 4180), a row a system and board, in the order shown.

    Figures read back to the same bits; undefined ones and the rank of a system without one are empty, and
    ``reasons`` says why as ``measure:code`` joined by blanks. Infinities read ``inf`` and ``-inf``.
    """
    return csv_of(read_run(grid))


def csv_of(run: RunBoards) -> bytes:
    """The boards as CSV, from a grid that is read already."""
    rows = rows_of(run)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    if rows:
        writer.writerow(guarded(name) for name in rows[0])
    for row in rows:
        writer.writerow(_field(name, value) for name, value in row.items())
    return out.getvalue().encode("utf-8", "replace")


def _field(name: str, value: Any) -> str:
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return " ".join(f"{measure}:{code}" for measure, code in value.items())
    if isinstance(value, float):
        return "" if math.isnan(value) else exact(value)
    return "" if name == "rank" and value == 0 else str(value)
