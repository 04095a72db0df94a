"""Finding files by a pattern with placeholders, in any file system fsspec knows.

The pattern is walked folder by folder: what a participant's file is called can then be read off exactly, a name
that fits in two ways is seen, and nothing outside the pattern's folders is listed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fsspec.implementations.local import LocalFileSystem

from pipeline.config.urls import filled, masked, placeholders, shown
from pipeline.errors import PlatformError, RescoreError
from pipeline.store import elsewhere, faults, s3
from pipeline.store.regular import leads_out, why_not

MOST_MATCHES = 100_000


class _TwoWaysError(ValueError):
    """A file's name fits a pattern in more than one way."""


Known = Mapping[str, tuple[str, ...]]

_TOKEN = re.compile(r"\{[^{}]*\}|[*?]")


@dataclass(frozen=True)
class Match:
    """A file found, and what its placeholders stand for."""

    url: str
    names: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    """Why it cannot be taken: a link that leads out, a folder that cannot be looked into, a name that reads two ways.
    ``names`` are then those that were read so far."""


class PatternError(ValueError):
    """A pattern that cannot be walked."""


def exists(url: str) -> bool:
    """Whether there is a file at ``url``. Raises ``PlatformError`` when that cannot be told."""
    return _is_file(*_file_system(url))


def is_there(url: str) -> bool:
    """Whether there is a file at ``url``, or something local under its name; raises as ``exists`` does."""
    return _is_there(*_file_system(url))


def find(pattern: str, known: Known, *, follow_links: bool = False) -> list[Match]:
    """Every file that fits ``pattern``, sorted by URL.

    ``known`` lists the names a placeholder is expected to stand for; a file with another name is found as well, so
    that the caller can refuse it. What bears the name of a file and is none is found as well: opening it tells why.
    Unless ``follow_links``, local links out of the folder above the first placeholder are not taken.
    Raises ``PlatformError`` when that folder cannot be listed.
    """
    _check(pattern)
    fs, path = _file_system(pattern)
    segments = path.split("/")
    first = _first_of(segments)
    here = _Walk(fs, None if follow_links or not isinstance(fs, LocalFileSystem) else "/".join(segments[:first]))
    matches = [Match("/".join(segments[:first]))]
    for index in range(first, len(segments)):
        last = index == len(segments) - 1
        matches = [found for match in matches for found in _step(here, match, segments[index], known, last)]
        if len(matches) > MOST_MATCHES:
            raise PatternError(f"fits more than {MOST_MATCHES} files")
    return sorted((replace(match, url=_url(fs, pattern, match.url)) for match in matches), key=lambda match: match.url)


def _first_of(segments: Sequence[str]) -> int:
    """The first segment with a placeholder or wildcard, the last where none has any."""
    return next((i for i, segment in enumerate(segments) if _TOKEN.search(segment)), len(segments) - 1)


def link_out(pattern: str, url: str) -> bool:
    """Whether a local file of a filled pattern is reached by links out of the folder above its first placeholder."""
    fs, path = _file_system(pattern)
    if not isinstance(fs, LocalFileSystem):
        return False
    segments = path.split("/")
    return leads_out(_file_system(url)[1], "/".join(segments[: _first_of(segments)]) or "/")


@dataclass(frozen=True)
class _Walk:
    """A file system that is walked, and the folder that links may not leave, None where they may."""

    fs: Any
    root: str | None

    def fault(self, path: str) -> str:
        """Why an entry cannot be taken, "" where it can. Only a link leads out of a folder that is looked into."""
        if self.root is None or not Path(path).is_symlink():
            return ""
        return LINK_OUT if leads_out(path, self.root or "/") else ""

    def entries(self, match: Match) -> list[_Entry] | Match:
        """What lies in a folder, or the folder itself with the reason that it cannot be looked into."""
        try:
            return [_Entry.of(self.fs, entry) for entry in _listing(self.fs, match.url)]
        except PlatformError as error:
            if not match.names or not isinstance(error.__cause__, OSError) or not isinstance(self.fs, LocalFileSystem):
                raise
            return replace(match, fault=f"the folder cannot be looked into: {why_not(error.__cause__)}.")


LINK_OUT = "a link leads out of the folder of outputs. Supply the file, or set `follow_links: true` in `systems`."


@dataclass(frozen=True)
class _Entry:
    """An entry of a folder: a folder, a file, or something else that has a name."""

    path: str
    kind: str
    """``directory``, ``file``, ``broken`` (a link that leads nowhere) or ``other``."""
    is_local: bool

    @classmethod
    def of(cls, fs: Any, found: Mapping[str, Any]) -> _Entry:
        """An entry as fsspec lists it, links as what they lead to."""
        path, kind = found["name"].rstrip("/"), found["type"]
        return cls(path, _kind_behind(path) if found.get("islink") else kind, isinstance(fs, LocalFileSystem))

    @property
    def name(self) -> str:
        """Its name in the folder."""
        return self.path.rpartition("/")[2]

    def fits(self, segment: str, last: bool) -> bool:
        """Whether it may stand for a segment of a pattern: for a folder, or for the file of the last one.

        A local folder may stand where a file should that has more of a name than a placeholder.
        """
        if not last:
            return self.kind in ("directory", "broken")
        return self.kind != "directory" or (self.is_local and _TOKEN.sub("", segment) != "")


def _kind_behind(link: str) -> str:
    try:
        mode = Path(link).stat().st_mode
    except OSError:
        return "broken"
    return "directory" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def _check(pattern: str) -> None:
    if "**" in pattern:
        raise PatternError("may not hold **: name every folder, * stands for one")
    if re.search(r"\}\{|\}\*|\*\{", pattern):
        raise PatternError("needs a character between two placeholders or wildcards")


def _step(here: _Walk, match: Match, segment: str, known: Known, last: bool) -> list[Match]:
    """The entries of one folder that fit one segment of the pattern; what cannot be taken stays as it is."""
    if match.fault:
        return [match]
    bound = filled(segment, match.names)
    if not _TOKEN.search(segment) or not (placeholders(bound) or re.search(r"[*?]", segment)):
        path = f"{match.url}/{bound}"
        return [Match(path, match.names, here.fault(path))] if not last or _is_there(here.fs, path) else []
    entries = here.entries(match)
    if isinstance(entries, Match):
        return [entries]
    steps = []
    for entry in entries:
        hidden = entry.name.startswith(".") and entry.name not in (".", "..") and not segment.startswith(".")
        if not hidden and entry.fits(segment, last):
            steps += _found(here, match, entry, segment, known, last)
    return steps


def _found(here: _Walk, match: Match, entry: _Entry, segment: str, known: Known, last: bool) -> list[Match]:
    """One entry as a match, if it fits."""
    try:
        names = _read(segment, entry.name, known, match.names)
    except _TwoWaysError as error:
        return [Match(entry.path, match.names, str(error))]
    if names is None:
        return []
    fault = here.fault(entry.path)
    if entry.kind == "broken" and not last:
        fault = fault or "the folder cannot be looked into: it is a link that leads nowhere."
    return [Match(entry.path, {**match.names, **names}, fault)]


def _file_system(url: str) -> tuple[Any, str]:
    """The process's one file system for ``url``, as the store opens it: without its cache of listings."""
    try:
        return (s3.file_system(), url.partition("://")[2]) if s3.is_s3(url) else elsewhere.file_system(url)
    except RescoreError:
        raise
    except Exception as error:  # drivers raise whatever their libraries raise
        raise _unreachable(url, error) from error


def _is_there(fs: Any, path: str) -> bool:
    """Whether something local has the name of a file, or a file elsewhere."""
    return os.path.lexists(path) if isinstance(fs, LocalFileSystem) else _is_file(fs, path)


def _is_file(fs: Any, path: str) -> bool:
    try:
        return bool(s3.patiently(lambda: fs.info(path))["type"] != "directory")
    except (FileNotFoundError, NotADirectoryError) as error:
        if faults.code_of(error) == faults.NO_BUCKET:
            raise _unreachable(fs.unstrip_protocol(path), error) from error
        return False
    except Exception as error:
        raise _unreachable(fs.unstrip_protocol(path), error) from error


def _listing(fs: Any, folder: str) -> list[dict[str, Any]]:
    try:
        return list(s3.patiently(lambda: fs.ls(folder or fs.root_marker, detail=True)))
    except (FileNotFoundError, NotADirectoryError) as error:
        if faults.code_of(error) == faults.NO_BUCKET:
            raise _unreachable(fs.unstrip_protocol(folder), error) from error
        return []
    except Exception as error:
        raise _unreachable(fs.unstrip_protocol(folder), error) from error


def _read(segment: str, name: str, known: Known, bound: Mapping[str, str]) -> dict[str, str] | None:
    """The values of the placeholders of ``segment`` in ``name``; None when it does not fit. Known names come first."""
    settled = {placeholder: (value,) for placeholder, value in bound.items()}
    for choices in ({**known, **settled}, settled):
        greedy = _regex(segment, choices, "+").fullmatch(name)
        if greedy is None:
            continue
        lazy = _regex(segment, choices, "+?").fullmatch(name)
        if lazy is None or lazy.groupdict() != greedy.groupdict():
            raise _TwoWaysError(f"the name {shown(name)} can be read in two ways: give each name its own folder")
        return greedy.groupdict()
    return None


def _regex(segment: str, known: Known, repeat: str) -> re.Pattern[str]:
    """A segment as a regular expression, its placeholders as named groups."""
    parts, end, seen = [], 0, set[str]()
    for token in _TOKEN.finditer(segment):
        parts.append(re.escape(segment[end : token.start()]))
        end = token.end()
        name = token[0][1:-1]
        if token[0] in "*?":
            parts.append("." if token[0] == "?" else f".{repeat.replace('+', '*')}")
        elif name in seen:
            parts.append(f"(?P={name})")
        else:
            seen.add(name)
            longest_first = sorted(known.get(name, ()), key=len, reverse=repeat == "+")
            inner = "|".join(map(re.escape, longest_first)) or f".{repeat}"
            parts.append(f"(?P<{name}>{inner})")
    parts.append(re.escape(segment[end:]))
    return re.compile("".join(parts), re.DOTALL)


def _url(fs: Any, pattern: str, path: str) -> str:
    """The URL of a path of ``fs``: plain for local files, with the chain of ``pattern`` where it has one."""
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol
    if "file" in protocols:
        return path
    head, chain, tail = pattern.partition("::")
    if chain:
        return f"{head.partition('://')[0]}://{path.lstrip('/')}::{tail}"
    return str(fs.unstrip_protocol(path))


def _unreachable(url: str, error: Exception) -> PlatformError:
    return PlatformError(f"cannot look into {masked(url)} ({masked(faults.told(error))}).")
