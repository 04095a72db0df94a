"""The systems of an evaluation: those listed by name joined with those a pattern finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pipeline.config import discover
from pipeline.config.document import Path
from pipeline.config.ledger import ledger_systems
from pipeline.config.models import DiscoveryEntry, EvaluationEntry, SystemEntry
from pipeline.config.names import name_fault
from pipeline.config.place import OpenDocument
from pipeline.config.urls import filled, masked, placeholders, shown
from pipeline.terms import System

Outputs = dict[tuple[str, str], str]
Known = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class KnownCells:
    """The names that outputs may bear, and the (query set, dataset) pairs that are cells."""

    known: Known
    pairs: frozenset[tuple[str, str]]

    def completed(self, given: Mapping[str, str]) -> dict[str, str] | None:
        """Names of a cell from those that a file bears; None where those do not settle the others."""
        sides = ("query_set", "dataset")
        fits = [
            pair for pair in self.pairs if all(given.get(s, name) == name for s, name in zip(sides, pair, strict=True))
        ]
        only = {side: {pair[at] for pair in fits} or set(self.known[side]) for at, side in enumerate(sides)}
        if any(side not in given and len(only[side]) > 1 for side in sides):
            return None
        return {side: given.get(side) or next(iter(only[side])) for side in sides}

    def lacking(self, given: Iterable[str]) -> str | None:
        """The placeholder that a pattern with ``given`` ones needs besides, to tell cells apart; None where it does."""
        for side, other in (("query_set", "dataset"), ("dataset", "query_set")):
            if side in given or len(self.known[side]) == 1:
                continue
            names = [{other: name} for name in self.known[other]] if other in given else [{}]
            if any(self.completed(one) is None for one in names):
                return side
        return None


def collect_systems(
    entry: EvaluationEntry, place: OpenDocument, pairs: Iterable[tuple[str, str]] = ()
) -> tuple[System, ...]:
    """Listed systems in the order of the file, then the others found, sorted by name.

    A listed system takes what the pattern finds under its name; its own ``outputs`` win cell by cell. A cell without
    an output is left out of ``System.outputs``. Excluded systems are dropped wherever they come from. ``pairs``: the
    (query set, dataset) pairs that are cells; empty: all.
    """
    discovery, listed = entry.systems.discovery, entry.systems.listed
    every = ((query_set, dataset) for query_set in entry.query_sets for dataset in entry.datasets)
    known = KnownCells(
        {"query_set": tuple(entry.query_sets), "dataset": tuple(entry.datasets)}, frozenset(pairs or every)
    )
    if not listed and discovery.pattern is None and discovery.ledger is None:
        place.note(("systems",), "missing_field", "lists no system and has no `pattern` to find them by")
    found = _discovered(discovery, known, place)
    names = [*listed, *sorted(set(found) - set(listed))]
    _check_exclude(discovery, names, place)
    names = [name for name in names if not _excluded(name, discovery)]
    by_cell = {name: _outputs(found.get(name, []), ("systems", "pattern"), known, place) for name in names}
    declared = _resources(discovery, names, place)
    primary = _primary(discovery, listed, names, place)
    systems = []
    for name in names:
        own = listed.get(name, SystemEntry())
        outputs = {**by_cell[name], **_own_outputs(name, own, known, place)}
        if own.outputs is None and name in listed and discovery.pattern is None:
            place.note(("systems", name), "missing_field", "has no `outputs`, and there is no `pattern`")
        resources = declared.get(name)
        if own.resources is not None:
            resources = place.resolve(("systems", name, "resources"), filled(own.resources, {"system": name}))
        others = _others(name, discovery.others, own.others, outputs, place)
        systems.append(System(name, own.team, primary[name], outputs, resources, own.disclosure, others, own.canary))
    if discovery.ledger is not None:
        systems += ledger_systems(discovery.ledger, known.pairs, names, place)
    return tuple(systems)


def _discovered(discovery: DiscoveryEntry, known: KnownCells, place: OpenDocument) -> dict[str, list[discover.Match]]:
    """The files that the pattern finds, by system, excluded systems included."""
    if discovery.pattern is None:
        return {}
    path: Path = ("systems", "pattern")
    if "system" not in placeholders(discovery.pattern):
        place.note(path, "bad_placeholder", "needs {system}: it tells the systems apart")
        return {}
    matches = _matches(discovery.pattern, path, known, place)
    if matches is not None and not matches:
        where = masked(place.resolve(path, discovery.pattern))
        place.note(path, "no_match", f"fits no file ({where})", "Check the path and the placeholders.")
    found: dict[str, list[discover.Match]] = {}
    for match in matches or ():
        found.setdefault(match.names["system"], []).append(match)
    for name, group in found.items():
        fault = name_fault(name)
        if fault is not None and not _excluded(name, discovery):
            what = f"finds {shown(group[0].url)}: the system's name {fault}"
            place.note(path, "bad_name", what, "Rename or exclude it.")
    return found


def _matches(pattern: str, path: Path, known: KnownCells, place: OpenDocument) -> list[discover.Match] | None:
    """The files that fit a pattern of outputs; None when the pattern itself is refused (and noted)."""
    name = known.lacking(placeholders(pattern))
    if name is not None:
        values = known.known[name]
        what = f"needs {{{name}}}, as there are {len(values)} ({_some(values)})"
        place.note(path, "bad_placeholder", what, "List a file that serves several cells by `outputs: {Q/D: URL}`.")
        return None
    try:
        return discover.find(place.resolve(path, pattern), known.known)
    except discover.PatternError as fault:
        place.note(path, "bad_pattern", str(fault))
        return None


def _outputs(matches: Iterable[discover.Match], path: Path, known: KnownCells, place: OpenDocument) -> Outputs:
    """The files found for one system by cell; a file that belongs to no cell is noted, and so is a second one."""
    outputs: Outputs = {}
    for match in matches:
        unknown = [name for name, values in known.known.items() if match.names.get(name, values[0]) not in values]
        names = known.completed(match.names) or {}
        for name in unknown:
            what = f"finds {shown(match.url)}: {name.replace('_', ' ')} {shown(match.names[name])} is unknown"
            mend = "Rename the file, or exclude its system."
            place.note(path, f"unknown_{name}", f"{what} (allowed: {_some(known.known[name])})", mend)
        if unknown:
            continue
        cell = names["query_set"], names["dataset"]
        if cell not in known.pairs:
            what = f"finds {shown(match.url)}: {'/'.join(cell)} is no cell of this evaluation"
            place.note(path, "unknown_cell", what, "Remove the file, or add the pair.")
        elif cell in outputs:
            what = f"finds two outputs for {'/'.join(cell)}: {shown(outputs[cell])} and {shown(match.url)}"
            place.note(path, "two_outputs", what, "Remove one.")
        else:
            outputs[cell] = match.url
    return outputs


def _own_outputs(name: str, own: SystemEntry, known: KnownCells, place: OpenDocument) -> Outputs:
    """The outputs a listed system names itself, by pattern or cell by cell."""
    path: Path = ("systems", name, "outputs")
    if isinstance(own.outputs, str):
        matches = _matches(filled(own.outputs, {"system": name}), path, known, place)
        return _outputs(matches or (), path, known, place)
    outputs: Outputs = {}
    for key, url in (own.outputs or {}).items():
        query_set, slash, dataset = key.partition("/")
        if not slash or (query_set, dataset) not in known.pairs:
            every = ((q, d) for q in known.known["query_set"] for d in known.known["dataset"])
            pairs = [f"{q}/{d}" for q, d in every if (q, d) in known.pairs]
            place.note((*path, key), "unknown_cell", f"is no query_set/dataset pair (allowed: {_some(pairs)})")
            continue
        names = {"system": name, "query_set": query_set, "dataset": dataset}
        outputs[query_set, dataset] = place.resolve((*path, key), filled(url, names))
    return outputs


def _others(
    name: str, found: Mapping[str, str], own: Mapping[str, Any], outputs: Outputs, place: OpenDocument
) -> dict[str, Outputs]:
    """A system's outputs of roles beside the main one, for the cells that have a main one; its own entries win."""
    others = {}
    for role in {**found, **own}:
        path: Path = ("systems", name, "outputs", role) if role in own else ("systems", "pattern", role)
        given = own.get(role, found.get(role))
        urls: Outputs = {}
        for query_set, dataset in outputs:
            pattern = given.get(f"{query_set}/{dataset}") if isinstance(given, Mapping) else given
            if pattern is not None:
                filling = {"system": name, "query_set": query_set, "dataset": dataset}
                urls[query_set, dataset] = place.resolve(path, filled(pattern, filling))
        if any(wild in url for url in urls.values() for wild in "*?"):
            place.note(path, "bad_pattern", "may hold no wildcard: it takes the names that the main output has")
        others[role] = {cell: url for cell, url in urls.items() if discover.exists(url)}
    return others


def _resources(discovery: DiscoveryEntry, names: list[str], place: OpenDocument) -> dict[str, str]:
    """The resources file of each system that has one where the pattern says."""
    if discovery.resources is None or not names:
        return {}
    path: Path = ("systems", "resources")
    if "system" not in placeholders(discovery.resources):
        place.note(path, "bad_placeholder", "needs {system}: each system has its own file")
        return {}
    url = place.resolve(path, discovery.resources)
    declared = {name: filled(url, {"system": name}) for name in names}
    declared = {name: one for name, one in declared.items() if discover.exists(one)}
    if not declared:
        place.note(path, "no_match", f"fits no file of any system ({masked(url)})", "Check the path.")
    return declared


def _excluded(name: str, discovery: DiscoveryEntry) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in discovery.exclude)


def _check_exclude(discovery: DiscoveryEntry, names: list[str], place: OpenDocument) -> None:
    """Note exclusions that exclude nothing: with a typing error a withdrawn system would be on the board."""
    for index, pattern in enumerate(discovery.exclude):
        if not any(fnmatchcase(name, pattern) for name in names):
            what = f"excludes nothing (got {shown(pattern)}, systems: {_some(names)})"
            place.note(("systems", "exclude", index), "unknown_system", what, "Correct or remove it.")


def _primary(
    discovery: DiscoveryEntry, listed: Mapping[str, SystemEntry], names: list[str], place: OpenDocument
) -> dict[str, bool]:
    """Whether each system is primary: as it says itself, else as ``primary`` lists, else yes."""
    for index, name in enumerate(discovery.primary or ()):
        path: Path = ("systems", "primary", index)
        if name not in names:
            what = f"names no system (got {shown(name)}, allowed: {_some(names)})"
            place.note(path, "unknown_system", what, "List a system without outputs yet as `NAME: {}`.")
        elif name in listed and listed[name].primary is False:
            place.note(path, "contradiction", f"lists {shown(name)}, which says `primary: false` itself")
    primary = {}
    for name in names:
        own = listed[name].primary if name in listed else None
        in_list = discovery.primary is None or name in discovery.primary
        primary[name] = in_list if own is None else own
    return primary


def _some(names: Sequence[str]) -> str:
    """Names as a message lists them, at most 20."""
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
