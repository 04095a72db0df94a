"""From the files that patterns find to the outputs of systems: what spoils one of them is told, and spoils no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pipeline.config import discover
from pipeline.config.document import Path
from pipeline.config.models import DiscoveryEntry
from pipeline.config.names import name_fault, twins
from pipeline.config.place import OpenDocument
from pipeline.config.urls import masked, placeholders, shown

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

    def cells_of(self, given: Mapping[str, str]) -> list[tuple[str, str]]:
        """The cells that a file may be of which bears these names."""
        query_set, dataset = given.get("query_set"), given.get("dataset")
        return sorted(pair for pair in self.pairs if query_set in (None, pair[0]) and dataset in (None, pair[1]))


@dataclass(frozen=True)
class Found:
    """What was found of one system, by cell: files, or why what was found cannot be taken."""

    outputs: Outputs = field(default_factory=dict)
    faults: Outputs = field(default_factory=dict)


def discovered(
    discovery: DiscoveryEntry, listed: Iterable[str], known: KnownCells, place: OpenDocument
) -> dict[str, list[discover.Match]]:
    """What the pattern finds, by system, excluded systems included.

    A name that is none, or that could be taken for another system's, leaves out what bears it and is told.
    """
    if discovery.pattern is None:
        return {}
    path: Path = ("systems", "pattern")
    if "system" not in placeholders(discovery.pattern):
        place.note(path, "bad_placeholder", "needs {system}: it tells the systems apart")
        return {}
    matches = matching(discovery.pattern, path, discovery.follow_links, known, place)
    if matches is not None and not matches:
        where = masked(place.resolve(path, discovery.pattern))
        place.note(path, "no_match", f"fits no file ({where})", "Check the path and the placeholders.")
    found: dict[str, list[discover.Match]] = {}
    for match in matches or ():
        if "system" in match.names:
            found.setdefault(match.names["system"], []).append(match)
        else:
            place.tell(
                path, "bad_name", f"finds {place.shown(match.url)}, which is left out: {match.fault}", "Rename it."
            )
    kept = {name: group for name, group in found.items() if excluded(name, discovery)}
    asked = {name: group for name, group in found.items() if name not in kept}
    for name, why in _unusable(asked, set(listed)).items():
        what = f"finds {place.shown(asked.pop(name)[0].url)}, which is left out: the system's name {why}"
        place.tell(path, "bad_name", what, "Rename or exclude it.")
    return {**kept, **asked}


def _unusable(found: Iterable[str], listed: set[str]) -> dict[str, str]:
    """The names found that cannot be taken, with the reason. Of twins the one that the evaluation file lists may."""
    faults = {name: fault for name in found if (fault := name_fault(name)) is not None}
    for one, other in twins([*sorted(listed), *sorted(set(found) - listed - set(faults))]):
        for name, twin in ((one, other), (other, one)):
            if name not in listed:
                faults[name] = f"differs from {shown(twin)} by case or Unicode form alone"
    return faults


def excluded(name: str, discovery: DiscoveryEntry) -> bool:
    """Whether a system is left out whatever is found of it."""
    return any(fnmatchcase(name, pattern) for pattern in discovery.exclude)


def matching(
    pattern: str, path: Path, follow_links: bool, known: KnownCells, place: OpenDocument
) -> list[discover.Match] | None:
    """The files that fit a pattern of outputs; None when the pattern itself is refused (and noted)."""
    name = known.lacking(placeholders(pattern))
    if name is not None:
        values = known.known[name]
        what = f"needs {{{name}}}, as there are {len(values)} ({some(values)})"
        place.note(path, "bad_placeholder", what, "List a file that serves several cells by `outputs: {Q/D: URL}`.")
        return None
    url = place.resolve(path, pattern)
    try:
        return discover.find(url, known.known, follow_links=follow_links) if url else None
    except discover.PatternError as fault:
        place.note(path, "bad_pattern", str(fault))
        return None


def by_cell(matches: Iterable[discover.Match], path: Path, known: KnownCells, place: OpenDocument) -> Found:
    """What was found of one system by cell. A file of no cell is told, and a second one spoils the cell."""
    found = Found()
    for match in matches:
        unknown = [name for name, values in known.known.items() if match.names.get(name, values[0]) not in values]
        for name in unknown:
            seen = f"{name.replace('_', ' ')} {shown(match.names[name])}"
            why = f"{seen} is unknown (allowed: {some(known.known[name])})"
            what = f"finds {place.shown(match.url)}, which is left out: {why}"
            place.tell(path, f"unknown_{name}", what, "Rename the file, or exclude its system.")
        if match.fault and not unknown:
            found.faults.update(dict.fromkeys(known.cells_of(match.names), f"{match.fault.rstrip('.')}."))
        if match.fault or unknown:
            continue
        names = known.completed(match.names) or {}
        cell = names["query_set"], names["dataset"]
        if cell not in known.pairs:
            what = f"finds {place.shown(match.url)}, which is left out: {'/'.join(cell)} is no cell of this evaluation"
            place.tell(path, "unknown_cell", what, "Remove the file, or add the pair.")
        elif cell in found.outputs:
            both = " and ".join(shown(url.rpartition("/")[2]) for url in (found.outputs[cell], match.url))
            found.faults[cell] = f"there are two outputs for {'/'.join(cell)}: {both}. Remove one."
        else:
            found.outputs[cell] = match.url
    return found


def some(names: Sequence[str]) -> str:
    """Names as a message lists them, at most 20."""
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
