"""Which systems of an evaluation count: primary and contrastive ones, and versions that others replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pipeline.config.found import some
from pipeline.config.models import DiscoveryEntry, SystemEntry
from pipeline.config.place import OpenDocument
from pipeline.config.urls import shown
from pipeline.protocols.base import Boards


@dataclass(frozen=True)
class Counting:
    """How a system stands: whether it is primary, and which later version counts in its place."""

    primary: bool = True
    replaced_by: str = ""


def who_counts(
    discovery: DiscoveryEntry,
    listed: Mapping[str, SystemEntry],
    names: Sequence[str],
    boards: Boards,
    place: OpenDocument,
) -> dict[str, Counting]:
    """How every system stands: as it says itself, else as the lists say, else as its name does, else as a primary one.

    Of several versions of an experiment the last counts; one that says ``primary`` itself does so beside it.
    """
    _check_patterns(discovery, listed, names, place)
    own = {name: listed[name].primary for name in names if name in listed}
    known = {name: boards.standing(name) for name in names}
    last: dict[str, str] = {}
    for name in sorted(names, key=lambda one: known[one].version):
        if known[name].experiment:
            last[known[name].experiment] = name
    made = {}
    for name in names:
        said = next(
            (one for one in (own.get(name), _by_lists(discovery, name)) if one is not None), known[name].primary
        )
        latest = last.get(known[name].experiment, name) if own.get(name) is None else name
        made[name] = Counting(said is not False, "" if latest == name else latest)
    return made


def _by_lists(discovery: DiscoveryEntry, name: str) -> bool | None:
    """What ``primary`` and ``contrastive`` say of a system; None where neither is given or has a say."""
    if any(fnmatchcase(name, pattern) for pattern in discovery.contrastive):
        return False
    if discovery.primary is None:
        return None
    return any(fnmatchcase(name, pattern) for pattern in discovery.primary)


def _check_patterns(
    discovery: DiscoveryEntry, listed: Mapping[str, SystemEntry], names: Sequence[str], place: OpenDocument
) -> None:
    """Note patterns that fit no system, and systems that are called both: with a typing error another system would be
    ranked without a word."""
    for field in ("primary", "contrastive"):
        for index, pattern in enumerate(getattr(discovery, field) or ()):
            path = ("systems", field, index)
            fitting = [name for name in names if fnmatchcase(name, pattern)]
            if not fitting:
                what = f"names no system (got {shown(pattern)}, allowed: {some(names)})"
                place.note(path, "unknown_system", what, "List a system without outputs yet as `NAME: {}`.")
            for name in fitting:
                says = listed[name].primary if name in listed else None
                if name == pattern and says is not None and says is not (field == "primary"):
                    what = f"lists {shown(name)}, which says `primary: {str(says).lower()}` itself"
                    place.note(path, "contradiction", what)
                elif field == "contrastive" and any(fnmatchcase(name, one) for one in discovery.primary or ()):
                    place.note(path, "contradiction", f"fits {shown(name)}, which `primary` lists too", "Keep one.")
