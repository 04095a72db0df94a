"""Atomic operations on local files. Readers see a whole object or none; temporary files begin with a dot.

fsspec's local exclusive creation checks first and writes later: several writers can win. A link cannot.
Data is not forced to the disk: after a power cut an object may be short, which sizes and seals reveal.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


def write(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, replacing what is there."""
    with _temporary(path, data) as temporary:
        temporary.replace(path)


def create(path: Path, data: bytes) -> bool:
    """Put ``data`` at ``path`` unless something is there: True for exactly one of any number of racing callers."""
    with _temporary(path, data) as temporary:
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            return False
        return True


def sizes(top: Path) -> Iterator[tuple[Path, int]]:
    """Every object below ``top`` with its size in bytes; what others remove meanwhile may be left out."""
    for path, status in _statuses(top):
        yield path, status.st_size


def times(top: Path) -> Iterator[tuple[Path, float]]:
    """Every object below ``top`` with the time of writing, seconds since 1970."""
    for path, status in _statuses(top):
        yield path, status.st_mtime


def _statuses(top: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for folder, _, names in os.walk(top, onerror=_unless_gone):
        for name in names:
            path = Path(folder, name)
            if not name.startswith("."):
                with suppress(FileNotFoundError):
                    yield path, path.stat()


@contextmanager
def _temporary(path: Path, data: bytes) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        # Not tempfile: its files are private, and a store may be shared by a group.
        with temporary.open("xb") as stream:
            stream.write(data)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
