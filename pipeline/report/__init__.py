"""Results for people: the board on a terminal and as CSV, the documents as JSON, the page. Nothing is recomputed.

Its modules are imported when they are first used: tables of one cell need neither arrays nor templates.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.report.board import board_rows as board_rows
    from pipeline.report.page import render_page as render_page
    from pipeline.report.spreadsheet import board_csv as board_csv
    from pipeline.report.terminal import print_boards as print_boards
    from pipeline.report.write import write_reports as write_reports

_PLACES = {
    "board_csv": "spreadsheet",
    "board_rows": "board",
    "print_boards": "terminal",
    "render_page": "page",
    "write_reports": "write",
}

__all__ = ["board_csv", "board_rows", "print_boards", "render_page", "write_reports"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
