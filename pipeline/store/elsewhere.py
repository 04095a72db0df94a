"""Objects on any file system that fsspec knows, as far as it keeps fsspec's promises."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, cast

import fsspec

from pipeline.store.entries import Entry, written_s


def file_system(url: str) -> tuple[Any, str]:
    """The file system that fsspec keeps for ``url``, and the path on it. Without its cache of listings."""
    return cast(tuple[Any, str], fsspec.core.url_to_fs(url, use_listings_cache=False))


class Elsewhere:
    """A folder of a file system. Paths are checked by the caller."""

    def __init__(self, url: str) -> None:
        self._fs, base = file_system(url)
        self._base = base.rstrip("/")

    def put(self, path: str, data: bytes) -> None:
        """Write an object as a whole."""
        self._fs.pipe_file(self._at(path), data)

    def create(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one."""
        try:
            self._fs.pipe_file(self._at(path), data, mode="create")
        except FileExistsError:
            return False
        return True

    def get(self, path: str) -> bytes:
        """The bytes of an object."""
        return cast(bytes, self._fs.cat_file(self._at(path)))

    def get_range(self, path: str, begin: int, end: int) -> bytes:
        """Bytes ``begin`` up to ``end`` (exclusive) of an object."""
        return cast(bytes, self._fs.cat_file(self._at(path), start=begin, end=end))

    def get_tail(self, path: str, n_bytes: int) -> bytes:
        """The last ``n_bytes`` of an object, all of one that has fewer."""
        return cast(bytes, self._fs.cat_file(self._at(path))[-n_bytes:])

    def exists(self, path: str) -> bool:
        """Whether there is an object."""
        try:
            return bool(self._fs.info(self._at(path))["type"] == "file")
        except FileNotFoundError:
            return False

    def present(self, paths: Collection[str]) -> set[str]:
        """Those paths at which there is an object."""
        return set(filter(self.exists, paths))

    def entries(self, prefix: str) -> Iterator[Entry]:
        """Every object below the folder ``prefix``."""
        for name, found in self._fs.find(self._at(prefix).rstrip("/"), detail=True).items():
            yield Entry(name[len(self._base) + 1 :], int(found["size"]), written_s(found))

    def remove(self, path: str) -> None:
        """Remove an object."""
        self._fs.rm_file(self._at(path))

    def _at(self, path: str) -> str:
        return f"{self._base}/{path}"
