"""rescore: score every participant of a detection evaluation, and rescore them all when a key changes.

This module is the face: what flows, notebooks and the command line use. Names are looked up when they are first
asked for, so importing ``pipeline`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.config import load_evaluation
    from pipeline.engine.cell import load_result, score_cell
    from pipeline.engine.plan import Job, Plan, load_plan, plan
    from pipeline.engine.result import Result
    from pipeline.engine.result import document as result_document
    from pipeline.engine.score import score_files
    from pipeline.errors import (
        ConfigError,
        Finding,
        InputError,
        PlatformError,
        RescoreError,
        StoreError,
        UsageError,
    )
    from pipeline.grid.gather import gather
    from pipeline.grid.opened import open_grid, open_reference, open_trials
    from pipeline.grid.publish import Run, load_grid, publish
    from pipeline.protocols import describe as describe_protocol
    from pipeline.protocols import find as find_protocol
    from pipeline.protocols import names as protocol_names
    from pipeline.protocols.base import Protocol
    from pipeline.report.board import board_rows
    from pipeline.report.disclosure import disclosed
    from pipeline.report.long_tables import curve_rows, query_rows
    from pipeline.report.page import render_page
    from pipeline.store.blobs import Store
    from pipeline.terms import Cell, Dataset, Evaluation, Facts, Figure, OperatingPoint, QuerySet, Source, System

__all__ = [
    "Cell",
    "ConfigError",
    "Dataset",
    "Evaluation",
    "Facts",
    "Figure",
    "Finding",
    "InputError",
    "Job",
    "OperatingPoint",
    "Plan",
    "PlatformError",
    "Protocol",
    "QuerySet",
    "RescoreError",
    "Result",
    "Run",
    "Source",
    "Store",
    "StoreError",
    "System",
    "UsageError",
    "board_rows",
    "curve_rows",
    "describe_protocol",
    "disclosed",
    "find_protocol",
    "gather",
    "load_evaluation",
    "load_grid",
    "load_plan",
    "load_result",
    "open_grid",
    "open_reference",
    "open_trials",
    "plan",
    "protocol_names",
    "publish",
    "query_rows",
    "render_page",
    "result_document",
    "score_cell",
    "score_files",
]

_HOMES = {
    "pipeline.config": "load_evaluation",
    "pipeline.engine.cell": "load_result score_cell",
    "pipeline.engine.plan": "Job Plan load_plan plan",
    "pipeline.engine.result": "Result result_document=document",
    "pipeline.engine.score": "score_files",
    "pipeline.errors": "ConfigError Finding InputError PlatformError RescoreError StoreError UsageError",
    "pipeline.grid.gather": "gather",
    "pipeline.grid.opened": "open_grid open_reference open_trials",
    "pipeline.grid.publish": "Run load_grid publish",
    "pipeline.protocols": "describe_protocol=describe find_protocol=find protocol_names=names",
    "pipeline.protocols.base": "Protocol",
    "pipeline.report.board": "board_rows",
    "pipeline.report.disclosure": "disclosed",
    "pipeline.report.long_tables": "curve_rows query_rows",
    "pipeline.report.page": "render_page",
    "pipeline.store.blobs": "Store",
    "pipeline.terms": "Cell Dataset Evaluation Facts Figure OperatingPoint QuerySet Source System",
}
"""The module each public name lives in, with its name there where it is another one."""


def _home_of(name: str) -> tuple[str, str] | None:
    for module, entries in _HOMES.items():
        for entry in entries.split():
            public, _, inner = entry.partition("=")
            if public == name:
                return module, inner or public
    return None


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("rescore")
    home = _home_of(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home[0]), home[1])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
