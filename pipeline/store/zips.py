"""A zip whose directory vouches for every entry: one object that any tool opens, read whole or by ranges.

Entries are stored as they are, without dates and in the given order, so that equal entries are equal bytes. Each has
its SHA-256 in an extra field of the directory (which other tools pass over); the comment is the SHA-256 of the
directory and that of all before it. So a part that is read by its range is checked, and the whole to its last byte.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from pipeline.errors import DamageError
from pipeline.store.blobs import Store

_EXTRA_ID = 0x5352
"""Names the extra field that holds a digest; not among the registered ones."""
_EXTRA = struct.Struct("<HH32s")
_LOCAL_BYTES = 30
_END = zipfile.sizeEndCentDir  # type: ignore[attr-defined]
_COMMENT_BYTES = 128
_MARK = b"PK\5\6"
_END_RECORD = struct.Struct("<4s4H2IH")
TAIL_BYTES = 1 << 18
"""Bytes from the end that are asked for first: the directory is there, and a small zip as a whole."""
GAP_BYTES = 1 << 16
"""Ranges with no more than this between them are read as one."""


@dataclass(frozen=True)
class ZipEntry:
    """Where the bytes of an entry lie in the zip, and their SHA-256."""

    begin: int
    n_bytes: int
    sha256: bytes


Directory = Mapping[str, ZipEntry]


def pack(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """The zip of ``entries``, in their order."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as zipped:
        for name, data in entries:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            info.extra = _EXTRA.pack(_EXTRA_ID, 32, sha256(data).digest())
            zipped.writestr(info, data)
        begin = zipped.fp.tell()  # type: ignore[union-attr]
        zipped.comment = b"0" * _COMMENT_BYTES
    data = made.getvalue()
    end = len(data) - _END - _COMMENT_BYTES
    return data[:-_COMMENT_BYTES] + _digest(data[begin:end]) + _digest(data[:begin])


def _digest(data: bytes) -> bytes:
    return sha256(data).hexdigest().encode()


def end_of(data: bytes, name: str) -> bytes:
    """The last bytes of a zip that ``pack`` made: its directory, and before it all from an entry on."""
    at = len(data) - _END - _COMMENT_BYTES
    size, begin = struct.unpack_from("<II", data, at + 12)
    return data[dict(_entries(data[begin : begin + size]))[name].begin :]


class Zip:
    """A zip in a store. Its directory is read at once, entries when they are asked for; ``DamageError`` for any lie.

    What came with the directory is checked at once and kept: a small zip is one request. Where its last bytes are known
    (``end``), nothing is asked for, and what is read later is what they vouch for or damaged.
    """

    def __init__(self, store: Store, path: str, end: bytes | None = None) -> None:
        self._store, self._path = store, path
        self._tail = store.get_tail(path, TAIL_BYTES) if end is None else end
        self._tail_begin = self._directory_begin = 0
        self.directory = self._parsed()
        """Where every entry is, in the order in which they lie."""
        self.read([name for name in self.directory if self.holds(name)])
        if not self._tail_begin:
            self._check(self._tail)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Zip) and (self.url, self.directory) == (other.url, other.directory)

    __hash__ = None  # type: ignore[assignment]

    @property
    def url(self) -> str:
        """Where it is."""
        return self._store.url(self._path)

    def holds(self, name: str) -> bool:
        """Whether an entry came with the directory: reading it asks for nothing."""
        return self.directory[name].begin >= self._tail_begin

    def read(self, names: Sequence[str]) -> dict[str, bytes]:
        """The bytes of entries by their names; those that lie near each other come by one request."""
        wanted = sorted(names, key=lambda name: self.directory[name].begin)
        found = {}
        for run in self._runs(wanted):
            begin = self.directory[run[0]].begin
            last = self.directory[run[-1]]
            data = self._range(begin, last.begin + last.n_bytes)
            for name in run:
                entry = self.directory[name]
                found[name] = self._checked(name, data[entry.begin - begin : entry.begin - begin + entry.n_bytes])
        return found

    def _runs(self, names: Sequence[str]) -> list[list[str]]:
        runs: list[list[str]] = []
        for name in names:
            if runs and self._gap(runs[-1][-1], name) <= GAP_BYTES:
                runs[-1].append(name)
            else:
                runs.append([name])
        return runs

    def _gap(self, one: str, other: str) -> int:
        before = self.directory[one]
        return self.directory[other].begin - before.begin - before.n_bytes

    def _range(self, begin: int, end: int) -> bytes:
        if begin >= self._tail_begin:
            return self._tail[begin - self._tail_begin : end - self._tail_begin]
        return self._store.get_range(self._path, begin, end)

    def _checked(self, name: str, data: bytes) -> bytes:
        if sha256(data).digest() != self.directory[name].sha256:
            raise self._damage(f"entry {name} is not what was written")
        return data

    def end_from(self, name: str) -> bytes:
        """The last bytes, from an entry on: ``end_of`` of what was written."""
        return self._range(self.directory[name].begin, self._tail_begin + len(self._tail))

    def verify(self) -> None:
        """Read and check all of it; what was read and checked with the directory is not read again."""
        if not self._tail_begin:
            return
        whole = self._store.get(self._path)
        for name, entry in self.directory.items():
            self._checked(name, whole[entry.begin : entry.begin + entry.n_bytes])
        self._check(whole)

    def _check(self, whole: bytes) -> None:
        before = _digest(whole[: self._directory_begin])
        if before != self._tail[-_COMMENT_BYTES // 2 :] or whole[self._tail_begin :] != self._tail:
            raise self._damage("the object is not what was written")

    def _damage(self, what: str) -> DamageError:
        return DamageError(f"{self._store.url(self._path)}: {what}. Remove the object and run again.")

    def _parsed(self) -> Directory:
        """The directory, after which ``_tail`` holds at least that and ``_tail_begin`` says where it begins."""
        end = len(self._tail) - _END - _COMMENT_BYTES
        if end < 0 or self._tail[end : end + 4] != _MARK:
            raise self._damage("this is no zip, or it is cut short")
        n_entries, size, begin = struct.unpack_from("<HII", self._tail, end + 10)
        if self._tail[end : end + _END] != _END_RECORD.pack(
            _MARK, 0, 0, n_entries, n_entries, size, begin, _COMMENT_BYTES
        ):
            raise self._damage("its end is not what was written")
        n_bytes = begin + size + _END + _COMMENT_BYTES
        self._tail_begin = n_bytes - len(self._tail)
        if self._tail_begin > begin:
            self._tail, self._tail_begin = self._store.get_range(self._path, begin, n_bytes), begin
        data = self._tail[begin - self._tail_begin :][:size] if self._tail_begin >= 0 else b""
        if _digest(data) != self._tail[-_COMMENT_BYTES : -_COMMENT_BYTES // 2]:
            raise self._damage("the directory is not what was written")
        found, self._directory_begin = dict(_entries(data)), begin
        if len(found) != n_entries or begin != max(entry.begin + entry.n_bytes for entry in found.values()):
            raise self._damage("its end is not what was written")
        return found


def _entries(data: bytes) -> Iterable[tuple[str, ZipEntry]]:
    """The entries of a directory whose bytes are those that ``pack`` wrote."""
    at = 0
    while at < len(data):
        size, n_name, n_extra = (*struct.unpack_from("<I", data, at + 24), *struct.unpack_from("<HH", data, at + 28))
        begin = struct.unpack_from("<I", data, at + 42)[0]
        name = data[at + 46 : at + 46 + n_name].decode()
        digest = _EXTRA.unpack_from(data, at + 46 + n_name)[2]
        yield name, ZipEntry(begin + _LOCAL_BYTES + n_name + n_extra, size, digest)
        at += 46 + n_name + n_extra
