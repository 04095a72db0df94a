"""A drop folder or bucket prefix: ``<drop>/<phase>/<team>/<file>``, or a folder of files instead of the file.

What is new there is submitted; nothing in it is changed or removed. A submission arrived when its last file did, by
the clock of the place where it lies, whenever somebody looks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fsspec

from pipeline.errors import PlatformError
from pipeline.season.standing import Standing, Submission, standing
from pipeline.season.submit import Sender, submit
from pipeline.store.address import digest_stream
from pipeline.store.blobs import Store, redacted
from pipeline.store.entries import written_s

SETTLED_S = 60.0
"""A file that was written so lately may still be growing."""
_PIECE = 1 << 20


@dataclass(frozen=True)
class Collected:
    """The outcome of one collection."""

    submissions: tuple[Submission, ...]
    unsettled: tuple[str, ...]
    """What is too young to be taken."""
    strays: tuple[str, ...]
    """What lies where no phase and team of the season is."""
    unreadable: tuple[str, ...] = ()
    """What is there and may not be read."""


@dataclass
class _Parcel:
    """The files of one submission as they lie there."""

    phase: str
    team: str
    name: str
    files: list[tuple[str, str]] = field(default_factory=list)
    """Path and name."""
    written_s: float = 0.0


def collect(
    store: Store, season: str, drop: str, *, settled_s: float = SETTLED_S, now_s: float | None = None
) -> Collected:
    """Submit everything in a drop folder that the ledger does not have yet, in the order of its arrival.

    Raises ``PlatformError`` where the folder cannot be read.
    """
    limit_s = (time.time() if now_s is None else now_s) - settled_s
    found, made = standing(store, season), list[Submission]()
    unsettled, unreadable = list[str](), list[str]()
    try:
        fs, base = fsspec.core.url_to_fs(drop, use_listings_cache=False)
        parcels, strays = _parcels(fs, base.rstrip("/"), found)
        for parcel in sorted(parcels, key=lambda one: (one.written_s, one.team, one.name)):
            if parcel.written_s > limit_s:
                unsettled.append(f"{parcel.phase}/{parcel.team}/{parcel.name}")
                continue
            with TemporaryDirectory(prefix="rescore-drop-") as scratch:
                try:
                    paths = list(_fetched(fs, parcel, Path(scratch)))
                except PermissionError:
                    unreadable.append(f"{parcel.phase}/{parcel.team}/{parcel.name}")
                    continue
                if not _is_known(standing(store, season), parcel, paths):
                    arrival = datetime.fromtimestamp(parcel.written_s, UTC)
                    sender = Sender(parcel.team, parcel.phase)
                    made.append(submit(store, season, sender, paths, arrival=arrival))
    except OSError as error:
        raise PlatformError(f"{redacted(drop)}: the drop folder cannot be read ({error}).") from error
    return Collected(tuple(made), tuple(unsettled), tuple(strays), tuple(unreadable))


def _parcels(fs: Any, base: str, found: Standing) -> tuple[list[_Parcel], list[str]]:
    parcels: dict[tuple[str, ...], _Parcel] = {}
    strays = []
    phases = {phase.name for phase in found.rules.phases}
    for path, entry in sorted(fs.find(base, detail=True).items()):
        parts = path[len(base) :].lstrip("/").split("/")
        if entry["type"] != "file" or entry.get("islink") or any(part.startswith(".") for part in parts):
            continue
        if len(parts) not in (3, 4) or parts[0] not in phases or parts[1] not in found.teams:
            strays.append("/".join(parts))
            continue
        parcel = parcels.setdefault(tuple(parts[:3]), _Parcel(*parts[:3]))
        parcel.files.append((path, parts[-1]))
        parcel.written_s = max(parcel.written_s, written_s(entry))
    return list(parcels.values()), strays


def _fetched(fs: Any, parcel: _Parcel, folder: Path) -> Iterator[Path]:
    for path, name in parcel.files:
        with fs.open(path, "rb") as stream, (folder / name).open("wb") as out:
            while piece := stream.read(_PIECE):
                out.write(piece)
        yield folder / name


def _is_known(found: Standing, parcel: _Parcel, paths: list[Path]) -> bool:
    """Whether the ledger has a submission of the team with these very bytes."""
    digests = []
    for path in paths:
        with path.open("rb") as stream:
            digests.append(digest_stream(stream)[0])
    return any(
        (one.team, one.phase) == (parcel.team, parcel.phase)
        and sorted(entry["sha256"] for entry in one.files) == sorted(digests)
        for one in found.submissions
    )
