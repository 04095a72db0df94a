"""Which inputs an evaluation file names where: by the roles of its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.config.document import Path
from pipeline.config.place import OpenDocument
from pipeline.errors import UsageError
from pipeline.protocols import find

HOMES = {
    **dict.fromkeys(("ecf", "scoring_ecf", "rttm"), "datasets"),
    **dict.fromkeys(("kwlist", "queries"), "query_sets"),
}
"""Roles that belong to one side; every other one may stand with a dataset or with a query set."""
_RESOURCES = "resources"
_DEFAULT = "openkws13"


@dataclass(frozen=True)
class InputRoles:
    """The roles of one protocol: the organiser's on both sides, and those of a system's outputs, the main one first."""

    datasets: tuple[str, ...]
    query_sets: tuple[str, ...]
    required: frozenset[str]
    outputs: tuple[str, ...]


def roles_of(document: Any) -> InputRoles:
    """The roles that an evaluation file's protocol has; those of keyword search where it names none that exists."""
    top = document if isinstance(document, Mapping) else {}
    try:
        protocol = find(str(top.get("protocol")))
    except UsageError:
        protocol = find(_DEFAULT)
    outputs = protocol.family.outputs
    own = [role for role in protocol.roles if role.name not in (*outputs, _RESOURCES)]
    return InputRoles(
        datasets=tuple(role.name for role in own if HOMES.get(role.name) != "query_sets"),
        query_sets=tuple(role.name for role in own if HOMES.get(role.name) != "datasets"),
        required=frozenset(role.name for role in protocol.roles if role.required),
        outputs=outputs,
    )


def with_inputs(value: Any, roles: InputRoles) -> Any:
    """The document with the inputs of datasets and query sets gathered: ``{ecf: URL}`` as ``{inputs: {ecf: URL}}``."""
    made = dict(value)
    for side, names in (("datasets", roles.datasets), ("query_sets", roles.query_sets)):
        entries = value.get(side)
        if isinstance(entries, dict):
            made[side] = {name: _gathered(entry, names) for name, entry in entries.items()}
    return made


def _gathered(entry: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(entry, dict | None):
        return entry
    fields = entry or {}
    inputs = {name: url for name, url in fields.items() if name in names}
    return {**{name: field for name, field in fields.items() if name not in inputs}, "inputs": inputs}


def with_others(entry: Any, field: str, roles: InputRoles) -> Any:
    """An entry whose ``field`` says where outputs are, those of roles beside the main one apart, in ``others``."""
    given = entry.get(field) if isinstance(entry, dict) else None
    if not isinstance(given, dict) or not given or any("/" in str(name) for name in given):
        return entry
    main = {field: given[roles.outputs[0]]} if roles.outputs[0] in given else {}
    others = {name: url for name, url in given.items() if name != roles.outputs[0]}
    return {**{name: kept for name, kept in entry.items() if name != field}, **main, "others": others}


def check_roles(place: OpenDocument, pairs: tuple[tuple[str, str], ...] = ()) -> None:
    """Note required inputs that are missing, and outputs of roles that the protocol has not. ``pairs``: those that
    exist as (query set, dataset); empty: all.

    Works on the document, so that these faults are told beside those of the fields' form.
    """
    top = place.document.value if isinstance(place.document.value, Mapping) else {}
    roles = roles_of(top)
    datasets, query_sets = (_entries(top.get(side)) for side in ("datasets", "query_sets"))
    for name, dataset in datasets.items():
        asked = [set(entry) for query_set, entry in query_sets.items() if not pairs or (query_set, name) in pairs]
        everywhere = set.intersection(*asked) if asked else set()
        for role in roles.datasets:
            if role in roles.required and role not in dataset and role not in everywhere:
                place.note(("datasets", name, role), "missing_field", "is missing")
    for name, query_set in query_sets.items():
        for role in roles.query_sets:
            if role in roles.required and HOMES.get(role) == "query_sets" and role not in query_set:
                place.note(("query_sets", name, role), "missing_field", "is missing")
    systems = top.get("systems")
    for name, entry in (systems if isinstance(systems, Mapping) else {}).items():
        if name == "pattern":
            _check_outputs(entry, ("systems", "pattern"), roles, place)
        elif isinstance(entry, Mapping) and entry.get("outputs"):
            _check_outputs(entry["outputs"], ("systems", name, "outputs"), roles, place)


def _entries(side: Any) -> dict[str, Mapping[str, Any]]:
    """The entries of one side that have the form of a mapping."""
    entries = side.items() if isinstance(side, Mapping) else ()
    return {name: entry or {} for name, entry in entries if isinstance(entry, Mapping | None)}


def _check_outputs(given: Any, path: Path, roles: InputRoles, place: OpenDocument) -> None:
    by_role = isinstance(given, Mapping) and not any("/" in str(name) for name in given)
    if not by_role and not isinstance(given, str | Mapping):
        return
    named = list(given) if by_role else [roles.outputs[0]]
    for name in named:
        if name not in roles.outputs:
            what = f"is unknown (allowed: {', '.join(roles.outputs)})"
            place.note((*path, name), "unknown_field", what)
    missing = [name for name in roles.outputs if name in roles.required and name not in named]
    if missing:
        shape = ", ".join(f"{role}: …" for role in roles.outputs)
        place.note(path, "missing_field", f"lacks {', '.join(missing)}", f"Give a mapping {{{shape}}}.")
