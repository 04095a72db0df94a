"""boards.json: all boards of a run in a small file, for who would show them without opening arrays.

Of a run whose boards have pages of their own, boards.json names a file for each (query set, dataset) pair, and that has
its boards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any

from pipeline.engine.result import plain, unplain
from pipeline.errors import DamageError
from pipeline.report.board import Board, BoardEntry, MeasureInfo, RunBoards
from pipeline.terms import Figure

NAME = "boards.json"


def boards_files(run: RunBoards, pages: Mapping[tuple[str, str], str]) -> dict[str, bytes]:
    """Strict JSON of everything that ``read_run`` reads from a grid, by the names of the files.

    ``pages`` are those of boards by (query set, dataset), where boards have pages of their own: their files are beside
    them.
    """
    if not pages:
        return {NAME: _json(asdict(run))}
    files = {pair: f"{page.rpartition('.')[0]}.json" for pair, page in pages.items()}
    parts = {
        file: _json({"boards": [asdict(board) for board in run.boards if (board.query_set, board.dataset) == pair]})
        for pair, file in files.items()
    }
    index = {**vars(run), "measures": [asdict(measure) for measure in run.measures], "boards": []}
    named = [{"query_set": q, "dataset": d, "file": file} for (q, d), file in files.items()]
    return {NAME: _json({**index, "parts": named}), **parts}


def read_boards(get: Callable[[str], bytes]) -> RunBoards:
    """The inverse of ``boards_files``; ``get`` has the bytes of a file by its name.

    Raises ``DamageError`` where the bytes are something else.
    """
    try:
        stored = json.loads(get(NAME))
        axes = {name: tuple(stored[name]) for name in ("systems", "query_sets", "datasets", "conditions")}
        parts = [json.loads(get(part["file"]))["boards"] for part in stored.get("parts", ())]
        return RunBoards(
            attributes=stored["attributes"],
            primary=stored["primary"],
            measures=tuple(MeasureInfo(**entry) for entry in stored["measures"]),
            boards=tuple(_board({"rank_by": stored["primary"], **entry}) for entry in chain(stored["boards"], *parts)),
            **axes,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(f"boards.json is damaged ({error}). Run the evaluation again.") from error


def _json(value: Any) -> bytes:
    return json.dumps(_plain(value), sort_keys=True, allow_nan=False, separators=(",", ":")).encode()


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
