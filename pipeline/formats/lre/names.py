"""Names of the Albayzin 2012 LRE: tasks with their languages, tracks, and what submitted files are called.

Source: Albayzin 2012 LRE plan, sections 3.2, 3.3, 6.1.3, 6.2.1 and 6.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pipeline.errors import Finding
from pipeline.formats.findings import quoted

OOS = "OOS"
"""The class of all languages that are no target."""
REMOVED = "-"
"""The key's label of a segment that the organiser took out."""
CLOSED, OPEN = "Closed", "Open"
LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "Plenty": ("Basque", "Catalan", "English", "Galician", "Portuguese", "Spanish"),
    "Empty": ("French", "German", "Greek", "Italian"),
}
"""The target languages of each task, in the order of the columns."""
TRACKS: Mapping[str, tuple[str, str]] = {
    "PC": ("Plenty", CLOSED),
    "PO": ("Plenty", OPEN),
    "EC": ("Empty", CLOSED),
    "EO": ("Empty", OPEN),
}
"""Task and set of each track. The first is mandatory."""
MANDATORY = "PC"
FORM = "<GroupID>_<PC|PO|EC|EO>_<pri|con1|con2|…>.out"

_SYSTEM = r"pri|con[1-9][0-9]*"
_NAME = re.compile(rf"(?P<group>.+)_(?P<track>{'|'.join(TRACKS)})_(?P<system>{_SYSTEM})\.out", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileName:
    """A submitted file's name: the group, the track, and ``pri`` or ``con1`` …"""

    group: str
    track: str
    system: str


def columns_of(task: str) -> tuple[str, ...]:
    """The classes of a task in the order of the columns: its languages, then ``OOS``."""
    return (*LANGUAGES[task], OOS)


def track_of(task: str, chosen_set: str) -> str:
    """The track of a task and a set."""
    return next(track for track, codes in TRACKS.items() if codes == (task, chosen_set))


def read_name(name: str) -> FileName | None:
    """The fields of a file's name, read from the right since a group may hold ``_``; None where it breaks the rule."""
    found = _NAME.fullmatch(name)
    return None if found is None else FileName(found["group"], found["track"], found["system"])


def base_name(where: str) -> str:
    """The file's own name at the end of a path or URL."""
    return where.partition("::")[0].rpartition("/")[2]


def submission_faults(names: Iterable[str]) -> Iterator[Finding]:
    """Faults of the names of all submitted files together: each group needs its primary systems.

    A track that a group enters has exactly one primary system, and the track PC is mandatory.
    """
    seen: dict[tuple[str, str], list[FileName]] = {}
    for name in names:
        read = read_name(base_name(name))
        if read is None:
            yield Finding("bad_file_name", f"the name is {quoted(base_name(name))} (allowed: {FORM}). Rename it.", name)
        else:
            seen.setdefault((read.group, read.track), []).append(read)
    for (group, track), entries in seen.items():
        n_primary = sum(entry.system == "pri" for entry in entries)
        if n_primary != 1:
            what = f"group {quoted(group)} has {n_primary} primary systems in {track} (allowed: exactly one)"
            yield Finding("primary_systems", f"{what}. Name one file {group}_{track}_pri.out.", f"{group}_{track}")
    for group in dict.fromkeys(group for group, _ in seen):
        if (group, MANDATORY) not in seen:
            what = f"group {quoted(group)} has nothing in the mandatory track {MANDATORY}"
            yield Finding("mandatory_track", f"{what}. Submit {group}_{MANDATORY}_pri.out.", group)
