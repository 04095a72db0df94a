"""Finding files by a pattern with placeholders, in any file system fsspec knows.

The pattern is walked folder by folder: what a participant's file is called can then be read off exactly, a name
that fits in two ways is seen, and nothing outside the pattern's folders is listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.config.urls import filled, masked, placeholders, shown
from pipeline.errors import PlatformError, RescoreError
from pipeline.store import elsewhere, faults, s3

MOST_MATCHES = 100_000

Known = Mapping[str, tuple[str, ...]]

_TOKEN = re.compile(r"\{[^{}]*\}|[*?]")


@dataclass(frozen=True)
class Match:
    """A file found, and what its placeholders stand for."""

    url: str
    names: Mapping[str, str] = field(default_factory=dict)


class PatternError(ValueError):
    """A pattern that cannot be walked, or a file that fits it in more than one way."""


def exists(url: str) -> bool:
    """Whether there is a file at ``url``. Raises ``PlatformError`` when that cannot be told."""
    return _is_file(*_file_system(url))


def find(pattern: str, known: Known) -> list[Match]:
    """Every file that fits ``pattern``, sorted by URL.

    ``known`` lists the names a placeholder is expected to stand for; a file with another name is found as well, so
    that the caller can refuse it. Raises ``PatternError`` for an ambiguous name, ``PlatformError`` when a folder
    cannot be listed.
    """
    _check(pattern)
    fs, path = _file_system(pattern)
    segments = path.split("/")
    first = next((i for i, segment in enumerate(segments) if _TOKEN.search(segment)), len(segments) - 1)
    matches = [Match("/".join(segments[:first]))]
    for index in range(first, len(segments)):
        last = index == len(segments) - 1
        matches = [found for match in matches for found in _step(fs, match, segments[index], known, last)]
        if len(matches) > MOST_MATCHES:
            raise PatternError(f"fits more than {MOST_MATCHES} files")
    return sorted((Match(_url(fs, pattern, match.url), match.names) for match in matches), key=lambda match: match.url)


def _check(pattern: str) -> None:
    if "**" in pattern:
        raise PatternError("may not hold **: name every folder, * stands for one")
    if re.search(r"\}\{|\}\*|\*\{", pattern):
        raise PatternError("needs a character between two placeholders or wildcards")


def _step(fs: Any, match: Match, segment: str, known: Known, last: bool) -> list[Match]:
    """The entries of one folder that fit one segment of the pattern."""
    bound = filled(segment, match.names)
    if not _TOKEN.search(segment) or not (placeholders(bound) or re.search(r"[*?]", segment)):
        here = Match(f"{match.url}/{bound}", match.names)
        return [here] if not last or _is_file(fs, here.url) else []
    steps = []
    for entry in _listing(fs, match.url):
        name = entry["name"].rstrip("/").rpartition("/")[2]
        hidden = name.startswith(".") and name not in (".", "..") and not segment.startswith(".")
        if hidden or (entry["type"] == "directory") == last:
            continue
        names = _read(segment, name, known, match.names)
        if names is not None:
            steps.append(Match(f"{match.url}/{name}", {**match.names, **names}))
    return steps


def _file_system(url: str) -> tuple[Any, str]:
    """The process's one file system for ``url``, as the store opens it: without its cache of listings."""
    try:
        return (s3.file_system(), url.partition("://")[2]) if s3.is_s3(url) else elsewhere.file_system(url)
    except RescoreError:
        raise
    except Exception as error:  # drivers raise whatever their libraries raise
        raise _unreachable(url, error) from error


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
            raise PatternError(f"can be read in two ways for {shown(name)}: give each name its own folder")
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
