"""Atomic operations on local files. Readers see a whole object or none; temporary files begin with a dot.

fsspec's local exclusive creation checks first and writes later: several writers can win. A link cannot.
Data is not forced to the disk: after a power cut an object may be short, which sizes and seals reveal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from pipeline.store.entries import Entry

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{32}")


class Folder:
    """A folder of local files. Paths are checked by the caller."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)

    def put(self, path: str, *data: bytes | memoryview) -> None:
        """Write an object as a whole, of pieces that follow one another."""
        write(self._root / path, *data)

    def create(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one."""
        return create(self._root / path, data)

    def get(self, path: str) -> bytes:
        """The bytes of an object."""
        with _no_folder():
            return (self._root / path).read_bytes()

    def get_range(self, path: str, begin: int, end: int) -> bytes:
        """Bytes ``begin`` up to ``end`` (exclusive) of an object."""
        with _no_folder(), (self._root / path).open("rb", buffering=0) as stream:
            stream.seek(begin)
            return stream.read(end - begin)

    def get_tail(self, path: str, n_bytes: int) -> bytes:
        """The last ``n_bytes`` of an object, all of one that has fewer."""
        with _no_folder(), (self._root / path).open("rb", buffering=0) as stream:
            stream.seek(-min(n_bytes, os.fstat(stream.fileno()).st_size), os.SEEK_END)
            return stream.read()

    def exists(self, path: str) -> bool:
        """Whether there is an object."""
        return (self._root / path).is_file()

    def present(self, paths: Collection[str]) -> set[str]:
        """Those paths at which there is an object."""
        return set(filter(self.exists, paths))

    def entries(self, prefix: str) -> Iterator[Entry]:
        """Every object below the folder ``prefix``; what others remove meanwhile may be left out."""
        for path, status in _statuses(self._root / prefix):
            yield Entry(path.relative_to(self._root).as_posix(), status.st_size, status.st_mtime)

    def remove(self, path: str) -> None:
        """Remove an object."""
        (self._root / path).unlink()

    def leftovers(self) -> Iterator[Entry]:
        """Temporary files: of writers that are at work, and of those that were killed."""
        for folder, _, names in os.walk(self._root, onerror=_unless_gone):
            for name in filter(_TEMPORARY.fullmatch, names):
                with suppress(FileNotFoundError):
                    path = Path(folder, name)
                    status = path.stat()
                    yield Entry(path.relative_to(self._root).as_posix(), status.st_size, status.st_mtime)


def write(path: Path, *data: bytes | memoryview) -> None:
    """Put ``data`` at ``path``, replacing what is there."""
    with _temporary(path, *data) as temporary:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()  # an empty folder says nothing; what is in another one is somebody's
        temporary.replace(path)


def create(path: Path, data: bytes) -> bool:
    """Put ``data`` at ``path`` unless something is there: True for exactly one of any number of racing callers."""
    with _temporary(path, data) as temporary:
        try:
            path.hardlink_to(temporary)
        except FileExistsError:
            return False
        return True


def _statuses(top: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for folder, _, names in os.walk(top, onerror=_unless_gone):
        for name in names:
            path = Path(folder, name)
            if not name.startswith("."):
                with suppress(FileNotFoundError):
                    yield path, path.stat()


@contextmanager
def _no_folder() -> Iterator[None]:
    """A folder where an object should be is none."""
    try:
        yield
    except IsADirectoryError as error:
        raise FileNotFoundError(error.errno, "a folder stands in its place", error.filename) from error


@contextmanager
def _temporary(path: Path, *data: bytes | memoryview) -> Iterator[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        # Not tempfile: its files are private, and a store may be shared by a group.
        with temporary.open("xb") as stream:
            stream.writelines(data)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
