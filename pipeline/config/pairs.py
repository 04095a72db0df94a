"""Which (query set, dataset) pairs of an evaluation file are cells: ``pairs``, or ``query_sets`` of datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.config.document import Path
from pipeline.config.place import OpenDocument
from pipeline.config.urls import shown

Pair = tuple[str, str]
_ALL_OF_THEM = "Leave the field out where every query set is asked for on every dataset."


def collect_pairs(place: OpenDocument) -> tuple[Pair, ...]:
    """The pairs that exist as (query set, dataset), by query set, then dataset, in the order of the file.

    Nothing where the file restricts nothing: then all do. Works on the document, so that faults here are told beside
    those of the fields' form: unknown names, pairs given twice, both ways at once, and query sets and datasets that
    are left without a partner.
    """
    top = place.document.value if isinstance(place.document.value, Mapping) else {}
    names = {side: list(top[side]) if isinstance(top.get(side), Mapping) else [] for side in ("query_sets", "datasets")}
    own = {
        name: entry["query_sets"]
        for name, entry in (top["datasets"].items() if names["datasets"] else ())
        if isinstance(entry, Mapping) and "query_sets" in entry
    }
    if "pairs" not in top and not own:
        return ()
    if "pairs" in top and own:
        first = next(iter(own))
        where = f"`datasets.{first}.query_sets` in line {place.document.line(('datasets', first, 'query_sets'))}"
        place.note(("pairs",), "contradiction", f"and {where} both say which cells exist", "Keep one of the two.")
    found = listed(top["pairs"], ("pairs",), names, place) if "pairs" in top else []
    for dataset in names["datasets"] if "pairs" not in top else ():
        found += _of_dataset(dataset, own.get(dataset), dataset in own, names["query_sets"], place)
    if "pairs" not in top or not own:
        check_all_used(found, {**names, "datasets": names["datasets"] if "pairs" in top else []}, (), place)
    every = [(query_set, dataset) for query_set in names["query_sets"] for dataset in names["datasets"]]
    return tuple(pair for pair in every if pair in set(found))


def listed(given: Any, field: Path, names: Mapping[str, Sequence[str]], place: OpenDocument) -> list[Pair]:
    """The pairs that a field lists, of known ``query_sets`` and ``datasets``. Faults are noted."""
    if not isinstance(given, list) or not given:
        place.note(field, "wrong_type", "must be a list of pairs [query set, dataset]", _ALL_OF_THEM)
        return []
    found: dict[Pair, Path] = {}
    for at, one in enumerate(given):
        path: Path = (*field, at)
        if not isinstance(one, list) or len(one) != 2 or not all(isinstance(name, str) for name in one):
            place.note(path, "wrong_type", f"must be a pair [query set, dataset] (got {shown(str(one))})")
            continue
        pair = one[0], one[1]
        known = [
            _is_known(name, side, names[side], path, place)
            for name, side in zip(pair, ("query_sets", "datasets"), strict=True)
        ]
        if pair in found:
            line = place.document.line(found[pair])
            place.note(
                path, "duplicate_key", f"is given twice: [{', '.join(pair)}] (first in line {line})", "Remove one."
            )
        elif all(known):
            found[pair] = path
    return list(found)


def _of_dataset(dataset: str, given: Any, restricted: bool, known: Sequence[str], place: OpenDocument) -> list[Pair]:
    """The pairs of one dataset: with the query sets that it lists, or with all."""
    if not restricted:
        return [(query_set, dataset) for query_set in known]
    path: Path = ("datasets", dataset, "query_sets")
    if not isinstance(given, list):
        place.note(path, "wrong_type", "must be a list of query sets", _ALL_OF_THEM)
        return []
    if not given:
        place.note(
            path, "missing_field", "leaves the dataset no query set", "Give at least one, or remove the dataset."
        )
    found: dict[Pair, None] = {}
    for at, name in enumerate(given):
        if not isinstance(name, str):
            place.note((*path, at), "wrong_type", f"must be the name of a query set (got {shown(str(name))})")
        elif (name, dataset) in found:
            place.note((*path, at), "duplicate_key", f"is given twice: {shown(name)}", "Remove one.")
        elif _is_known(name, "query_sets", known, (*path, at), place):
            found[name, dataset] = None
    return list(found)


def _is_known(name: str, side: str, known: Sequence[str], path: Path, place: OpenDocument) -> bool:
    if name in known:
        return True
    one = side.removesuffix("s")
    allowed = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    place.note(path, f"unknown_{one}", f"names no {one.replace('_', ' ')} (got {shown(name)}, allowed: {allowed})")
    return False


def check_all_used(found: Sequence[Pair], names: Mapping[str, Sequence[str]], field: Path, place: OpenDocument) -> None:
    """Note what no pair names: with a typing error a whole language would be missing without a word."""
    for at, (side, other) in enumerate((("query_sets", "dataset"), ("datasets", "query set"))):
        used = {pair[at] for pair in found}
        for name in names[side]:
            if name not in used:
                what = f"has no {other} left: no pair names it"
                place.note((*field, side, name), "contradiction", what, "Give it a pair, or remove it.")
