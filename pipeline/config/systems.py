"""The systems of an evaluation: those listed by name joined with those a pattern finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from pipeline.config import discover
from pipeline.config.counting import who_counts
from pipeline.config.document import Path
from pipeline.config.found import Found, KnownCells, Outputs, by_cell, discovered, excluded, matching, some
from pipeline.config.ledger import ledger_systems
from pipeline.config.models import DiscoveryEntry, EvaluationEntry, SystemEntry
from pipeline.config.place import OpenDocument
from pipeline.config.urls import filled, masked, placeholders, shown
from pipeline.protocols import find
from pipeline.terms import System


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
    found = discovered(discovery, listed, known, place)
    names = [*listed, *sorted(set(found) - set(listed))]
    _check_exclude(discovery, names, place)
    names = [name for name in names if not excluded(name, discovery)]
    of_pattern = {name: by_cell(found.get(name, []), ("systems", "pattern"), known, place) for name in names}
    declared = _resources(discovery, names, place, needed=discovery.ledger is None)
    counting = who_counts(discovery, listed, names, find(entry.protocol).family.boards, place)
    systems = []
    for name in names:
        own = listed.get(name, SystemEntry())
        named = _own_outputs(name, own, discovery.follow_links, known, place)
        outputs = {**of_pattern[name].outputs, **named.outputs}
        faults = {cell: why for cell, why in of_pattern[name].faults.items() if cell not in named.outputs}
        faults |= named.faults
        if own.outputs is None and name in listed and discovery.pattern is None:
            place.note(("systems", name), "missing_field", "has no `outputs`, and there is no `pattern`")
        resources = declared.get(name)
        if own.resources is not None:
            resources = place.resolve(("systems", name, "resources"), filled(own.resources, {"system": name}))
        others, out = _others(name, discovery, own.others, outputs, place)
        about = own.team, counting[name].primary, outputs, resources, own.disclosure, others, own.canary
        faults = {**faults, **out}
        systems.append(System(name, *about, faults=faults, replaced_by=counting[name].replaced_by))
    if place.told and not any(system.outputs or system.faults for system in systems):
        place.note(("systems",), "no_match", "leads to no output of any system", "Mend the names that are told of.")
    if discovery.ledger is not None:
        systems += ledger_systems(
            discovery.ledger,
            known.pairs,
            names,
            place,
            lambda others: _resources(discovery, others, place, needed=not declared),
        )
    return tuple(systems)


def _own_outputs(name: str, own: SystemEntry, follow_links: bool, known: KnownCells, place: OpenDocument) -> Found:
    """The outputs a listed system names itself, by pattern or cell by cell."""
    path: Path = ("systems", name, "outputs")
    if isinstance(own.outputs, str):
        matches = matching(filled(own.outputs, {"system": name}), path, follow_links, known, place)
        return by_cell(matches or (), path, known, place)
    outputs: Outputs = {}
    for key, url in (own.outputs or {}).items():
        query_set, slash, dataset = key.partition("/")
        if not slash or (query_set, dataset) not in known.pairs:
            every = ((q, d) for q in known.known["query_set"] for d in known.known["dataset"])
            pairs = [f"{q}/{d}" for q, d in every if (q, d) in known.pairs]
            place.note((*path, key), "unknown_cell", f"is no query_set/dataset pair (allowed: {some(pairs)})")
            continue
        names = {"system": name, "query_set": query_set, "dataset": dataset}
        outputs[query_set, dataset] = place.resolve((*path, key), filled(url, names))
    return Found(outputs)


def _others(
    name: str, discovery: DiscoveryEntry, own: Mapping[str, Any], outputs: Outputs, place: OpenDocument
) -> tuple[dict[str, Outputs], Outputs]:
    """A system's outputs of roles beside the main one, for the cells that have a main one; its own entries win.

    With them the cells whose outputs cannot be taken, and why.
    """
    others, faults = {}, Outputs()
    for role in {**discovery.others, **own}:
        path: Path = ("systems", name, "outputs", role) if role in own else ("systems", "pattern", role)
        given = own.get(role, discovery.others.get(role))
        urls: Outputs = {}
        for query_set, dataset in outputs:
            pattern = given.get(f"{query_set}/{dataset}") if isinstance(given, Mapping) else given
            if pattern is not None:
                filling = {"system": name, "query_set": query_set, "dataset": dataset}
                urls[query_set, dataset] = place.resolve(path, filled(pattern, filling))
        if any(wild in url for url in urls.values() for wild in "*?"):
            place.note(path, "bad_pattern", "may hold no wildcard: it takes the names that the main output has")
        others[role] = {cell: url for cell, url in urls.items() if url and discover.is_there(url)}
        if role not in own and not discovery.follow_links:
            pattern = place.resolve(path, discovery.others[role])
            faults |= {cell: discover.LINK_OUT for cell, url in others[role].items() if discover.link_out(pattern, url)}
    return others, faults


def _resources(
    discovery: DiscoveryEntry, names: list[str], place: OpenDocument, *, needed: bool = True
) -> dict[str, str]:
    """The resources file of each system that has one where the pattern says; where ``needed``, noted if none has."""
    if discovery.resources is None or not names:
        return {}
    path: Path = ("systems", "resources")
    if "system" not in placeholders(discovery.resources):
        place.note(path, "bad_placeholder", "needs {system}: each system has its own file")
        return {}
    url = place.resolve(path, discovery.resources)
    if not url:
        return {}
    declared = {name: filled(url, {"system": name}) for name in names}
    declared = {name: one for name, one in declared.items() if discover.is_there(one)}
    if needed and not declared:
        place.note(path, "no_match", f"fits no file of any system ({masked(url)})", "Check the path.")
    out = [name for name, one in declared.items() if not discovery.follow_links and discover.link_out(url, one)]
    for name in out:
        what = f"finds {place.shown(declared.pop(name))}, which is left out: {discover.LINK_OUT}"
        place.tell(path, "link_out", what)
    return declared


def _check_exclude(discovery: DiscoveryEntry, names: list[str], place: OpenDocument) -> None:
    """Note exclusions that exclude nothing: with a typing error a withdrawn system would be on the board."""
    for index, pattern in enumerate(discovery.exclude):
        if not any(fnmatchcase(name, pattern) for name in names):
            what = f"excludes nothing (got {shown(pattern)}, systems: {some(names)})"
            place.note(("systems", "exclude", index), "unknown_system", what, "Correct or remove it.")
