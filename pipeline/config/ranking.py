"""What ranks systems: the field ``rank_by``, a measure for all boards or measures by board."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from pipeline.config.document import Path
from pipeline.config.found import some
from pipeline.config.place import OpenDocument
from pipeline.config.urls import shown
from pipeline.errors import UsageError
from pipeline.protocols import RANK_BY, ranking
from pipeline.protocols.base import Protocol
from pipeline.terms import RankRule

_EVERYWHERE = "*/*"
_FORM = "Give a measure, or measures by board: {QUERY_SET/DATASET: MEASURE, QUERY_SET/DATASET/CONDITION: MEASURE}."


def rank_rules(given: Any) -> tuple[dict[str, str], tuple[RankRule, ...]]:
    """The override for all boards (``*/*``), if there is one, and the rules for single ones, which win over it."""
    rules = {_EVERYWHERE: given} if isinstance(given, str) else dict(given or {})
    everywhere = rules.pop(_EVERYWHERE, None)
    return {} if everywhere is None else {RANK_BY: everywhere}, tuple(RankRule(*rule) for rule in rules.items())


def check_rank_by(place: OpenDocument, protocol: Protocol) -> None:
    """Note what is wrong with ``rank_by``: measures that rank nothing, and patterns that fit no board.

    Works on the document, so that these faults are told beside those of the fields' form.
    """
    top = place.document.value if isinstance(place.document.value, Mapping) else {}
    for misplaced in _misplaced(top):
        place.note(misplaced, "bad_setting", "is no setting", "It is a field of the evaluation, beside `settings`.")
    given = top.get(RANK_BY)
    if RANK_BY not in top:
        return
    if not isinstance(given, str | Mapping) or not given:
        place.note((RANK_BY,), "wrong_type", "must be a measure or a mapping from boards to measures", _FORM)
        return
    for boards, measure in {_EVERYWHERE: given}.items() if isinstance(given, str) else given.items():
        path: Path = (RANK_BY,) if isinstance(given, str) else (RANK_BY, boards)
        try:
            ranking(protocol, measure if isinstance(measure, str) else "")
        except UsageError as error:
            place.note(path, "bad_setting", f"is refused: {error}")
        _check_boards(boards, path, top, place)


def _misplaced(top: Mapping[str, Any]) -> list[Path]:
    """Where ``rank_by`` stands among settings."""
    places: list[Path] = [("settings",)]
    datasets = top.get("datasets")
    places += [("datasets", name, "settings") for name in datasets] if isinstance(datasets, Mapping) else []
    found = []
    for path in places:
        entry: Any = top
        for part in path:
            entry = entry.get(part) if isinstance(entry, Mapping) else None
        if isinstance(entry, Mapping) and RANK_BY in entry:
            found.append((*path, RANK_BY))
    return found


def _check_boards(boards: str, path: Path, top: Mapping[str, Any], place: OpenDocument) -> None:
    """Note a pattern that fits no (query set, dataset): with a typing error a board would be ranked by another measure
    without a word."""
    sides = [list(top[side]) if isinstance(top.get(side), Mapping) else [] for side in ("query_sets", "datasets")]
    parts = boards.split("/", 2)
    if len(parts) < 2:
        place.note(path, "unknown_cell", f"names no board (got {shown(boards)})", _FORM)
        return
    for name, known, part in zip(("query set", "dataset"), sides, parts, strict=False):
        if not any(fnmatchcase(one, part) for one in known):
            place.note(path, "unknown_cell", f"fits no {name} (got {shown(part)}, allowed: {some(known)})")
