"""Overlays of the evaluation file: queries withdrawn, recordings excluded, a scoring ECF; who, when and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pipeline.config.document import Path, read_document
from pipeline.config.place import OpenDocument
from pipeline.config.urls import fault_of, folder_of, masked, shown
from pipeline.errors import Problems
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import open_input
from pipeline.terms import Overlay

KINDS = {"withdraw_queries": "withdrawn", "exclude_files": "excluded_files", "scoring_ecf": "scoring_ecf"}
"""The setting or role that a protocol needs for each kind."""
_ABOUT = ("author", "date", "reason")
_SCOPES = ("query_sets", "datasets")
_FIELDS = (*KINDS, *_ABOUT, *_SCOPES)


@dataclass(frozen=True)
class _OverlayNames:
    """The names that overlays may give."""

    protocol: Protocol
    query_sets: Collection[str]
    datasets: Collection[str]


def collect_overlays(
    place: OpenDocument, protocol: Protocol, query_sets: Collection[str], datasets: Collection[str]
) -> tuple[Overlay, ...]:
    """The overlays of the field ``overlays``: a list, or the URL of a YAML file that is one. Faults are noted, each at
    its own file and line.
    """
    given = place.document.value.get("overlays")
    names, path = _OverlayNames(protocol, query_sets, datasets), ("overlays",)
    if not isinstance(given, str):
        return _listed(given, path, names, place)
    fault = fault_of(given, ())
    if fault is not None:
        place.note(path, *fault)
        return ()
    uri = place.resolve(path, given)
    problems = Problems(masked(uri))
    place.check_file(path, uri)
    if place.problems.count:
        return ()
    with open_input(uri) as stream:
        document = read_document(stream, problems)
    found = _listed(document.value, (), names, OpenDocument(document, folder_of(uri), problems))
    place.problems.findings.extend(problems.findings)
    place.problems.count += problems.count
    return found


def _listed(given: Any, path: Path, names: _OverlayNames, place: OpenDocument) -> tuple[Overlay, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        what = f"must be a list of overlays, or the path of a file with one (got {shown(given)})"
        place.note(path, "wrong_type", what)
        return ()
    found = [_overlay(entry, (*path, index), names, place) for index, entry in enumerate(given)]
    return tuple(layer for layer in found if layer is not None)


def _overlay(entry: Any, path: Path, names: _OverlayNames, place: OpenDocument) -> Overlay | None:
    """One overlay, or None with every fault noted."""
    if not isinstance(entry, Mapping):
        place.note(path, "wrong_type", f"must be a mapping (got {shown(entry)})")
        return None
    before = place.problems.count
    for name in entry.keys() - _FIELDS:
        place.note((*path, name), "unknown_field", f"is unknown (allowed: {', '.join(_FIELDS)})")
    kinds = [kind for kind in KINDS if kind in entry]
    if len(kinds) != 1:
        what = f"must have one of {', '.join(KINDS)} (got {', '.join(kinds) or 'none'})"
        place.note(path, "missing_field", what, "Write one overlay for each.")
        return None
    about = {name: _text(entry.get(name), (*path, name), place) for name in _ABOUT}
    _check_date(about["date"], (*path, "date"), place)
    values = _values(kinds[0], entry[kinds[0]], (*path, kinds[0]), names, place)
    scopes = [_scope(entry.get(scope), scope, path, names, place) for scope in _SCOPES]
    if place.problems.count > before:
        return None
    return Overlay(kinds[0], values, about["author"], about["reason"], about["date"], *scopes)


def _text(value: Any, path: Path, place: OpenDocument) -> str:
    if not isinstance(value, str) or not value.strip():
        place.note(path, "missing_field", "must be text that is not empty", "Say who corrected what, when and why.")
        return ""
    return value


def _check_date(text: str, path: Path, place: OpenDocument) -> None:
    try:
        if text:
            date.fromisoformat(text)
    except ValueError:
        place.note(path, "bad_date", f"must be a day as YYYY-MM-DD (got {shown(text)})")


def _values(kind: str, given: Any, path: Path, names: _OverlayNames, place: OpenDocument) -> tuple[str, ...]:
    """The names that the overlay is about, or the URL of a scoring ECF."""
    protocol, needed = names.protocol, KINDS[kind]
    if not hasattr(protocol.settings, needed) and needed not in {role.name for role in protocol.roles}:
        place.note(path, "unknown_field", f"is nothing that {protocol.name} knows", "Leave it out.")
        return ()
    if kind != "scoring_ecf":
        return _names_of(given, path, place)
    fault = fault_of(given, ()) if isinstance(given, str) else ("wrong_type", f"must be a path (got {shown(given)})")
    if fault is not None:
        place.note(path, *fault)
        return ()
    url = place.resolve(path, given)
    place.check_file(path, url)
    return (url,)


def _names_of(given: Any, path: Path, place: OpenDocument) -> tuple[str, ...]:
    listed = given if isinstance(given, list) else ()
    sound = [name for name in listed if isinstance(name, str) and name.strip() == name and name and "\n" not in name]
    if not listed or len(sound) < len(listed):
        place.note(path, "wrong_type", "must be a list of one or more names, without blanks around them")
    return tuple(sound)


def _scope(given: Any, scope: str, path: Path, names: _OverlayNames, place: OpenDocument) -> tuple[str, ...]:
    """The query sets or datasets it holds for; () is all."""
    if given is None:
        return ()
    known, listed = getattr(names, scope), _names_of(given, (*path, scope), place)
    for index, name in enumerate(listed):
        if name not in known:
            what = f"names none of the evaluation (got {shown(name)}, allowed: {', '.join(known)})"
            place.note((*path, scope, index), f"unknown_{scope.removesuffix('s')}", what)
    return listed
