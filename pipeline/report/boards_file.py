"""boards.json: all boards of a run in one small file, for who would show them without opening arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pipeline.engine.result import plain, unplain
from pipeline.errors import DamageError
from pipeline.report.board import Board, BoardEntry, MeasureInfo, RunBoards
from pipeline.terms import Figure


def boards_json(run: RunBoards) -> bytes:
    """Strict JSON of everything that ``read_run`` reads from a grid."""
    return json.dumps(_plain(asdict(run)), sort_keys=True, allow_nan=False, separators=(",", ":")).encode()


def read_boards(data: bytes) -> RunBoards:
    """The inverse of ``boards_json``. Raises ``DamageError`` where the bytes are something else."""
    try:
        stored = json.loads(data)
        axes = {name: tuple(stored[name]) for name in ("systems", "query_sets", "datasets", "conditions")}
        return RunBoards(
            attributes=stored["attributes"],
            primary=stored["primary"],
            measures=tuple(MeasureInfo(**entry) for entry in stored["measures"]),
            boards=tuple(_board({"rank_by": stored["primary"], **entry}) for entry in stored["boards"]),
            **axes,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(f"boards.json is damaged ({error}). Run the evaluation again.") from error


def _board(stored: Mapping[str, Any]) -> Board:
    return Board(**{**stored, "entries": tuple(_entry(entry) for entry in stored["entries"])})


def _entry(stored: Mapping[str, Any]) -> BoardEntry:
    figures = {name: Figure(unplain(f["value"]), f["reason"], f["status"]) for name, f in stored["figures"].items()}
    return BoardEntry(**{**stored, "figures": figures})


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return plain(value)
