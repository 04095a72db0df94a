"""Opening a participant's archive: nothing is written but regular files, below one folder, within bounds.

Members are copied by hand: no library extracts anything, so that no path, link, device or mode of an archive counts.
Sizes that headers declare are not believed; what comes out is counted while it comes.
"""

from __future__ import annotations

import bz2
import gzip
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from pipeline.formats.findings import quoted
from pipeline.season.verdict import Remarks

EXTENSIONS = ("tar", "tar.bz2", "tar.gz", "tb2", "tbz", "tbz2", "tgz", "zip")
_SINGLE_READ = 16 << 20
_PIECE = 1 << 20
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\:]")


@dataclass(frozen=True)
class ArchiveBounds:
    """The bounds of an archive: members, bytes, and bytes out for bytes in."""

    n_members: int = 2_000
    n_bytes: int = 4 << 30
    ratio: float = 500.0
    """Bytes out for each byte in, once more than ``free_bytes`` are out."""
    free_bytes: int = 64 << 20
    depth: int = 8


class ArchiveError(Exception):
    """The archive cannot be read on; what was noted says why."""


def extension_of(name: str) -> str:
    """The archive's extension in lower case, ``""`` where it has none of ``EXTENSIONS``."""
    lower = name.lower()
    return max((end for end in EXTENSIONS if lower.endswith(f".{end}")), key=len, default="")


def unpack(path: Path, name: str, into: Path, remarks: Remarks, bounds: ArchiveBounds | None = None) -> dict[str, Path]:
    """The regular files of the archive at ``path``, by their names in it, copied to numbered files in ``into``.

    Folders are members with a name that ends in ``/`` and are in the result with ``into`` itself. Everything wrong is
    noted: names that leave the folder, links, devices, members given twice, encryption, damage, and more of anything
    than ``bounds`` allow, after which reading stops.
    """
    opened = _Unpacking(name, into, remarks, bounds or ArchiveBounds(), path.stat().st_size)
    extension = extension_of(name)
    try:
        with path.open("rb") as stream:
            if extension == "zip":
                _zip(stream, opened)
            else:
                _tar(stream, extension, opened)
    except ArchiveError:
        pass
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
        what = f"the archive cannot be unpacked ({type(error).__name__}: {error})"
        remarks.error("bad_archive", name, what, "Pack it again, and check that it was sent whole.")
    except NotImplementedError as error:
        remarks.error("bad_archive", name, f"the archive uses what is not read here ({error})", "Use deflate.")
    return opened.files


class _Unpacking:
    """An archive while it is copied."""

    def __init__(self, name: str, into: Path, remarks: Remarks, bounds: ArchiveBounds, n_packed: int) -> None:
        self.name, self.into, self.remarks, self.bounds, self.n_packed = name, into, remarks, bounds, n_packed
        self.files: dict[str, Path] = {}
        self.n_members = self.n_bytes = 0

    def admit(self, member: str, kind: str) -> str | None:
        """The member's plain name if it may be taken; None with the reason noted."""
        self.n_members += 1
        if self.n_members > self.bounds.n_members:
            self.remarks.error(
                "too_many_members", self.name, f"the archive has more than {self.bounds.n_members} members"
            )
            raise ArchiveError
        plain = member.removeprefix("./").rstrip("/")
        if plain in ("", ".") and kind == "folder":
            return None
        parts = plain.split("/")
        if member.startswith("/") or _UNSAFE.search(member) or {"..", ".", ""} & set(parts):
            what = f"the member {quoted(member)} has an unsafe name (allowed: names below the archive's own folder)"
            self.remarks.error("unsafe_path", self.name, what, "Pack plain folders and files.")
        elif len(parts) > self.bounds.depth or len(plain) > 1000:
            self.remarks.error("unsafe_path", self.name, f"the member {quoted(member)} lies too deep")
        elif kind not in ("file", "folder"):
            what = f"the member {quoted(member)} is a {kind} (allowed: files and folders)"
            self.remarks.error("unsafe_member", self.name, what, "Pack the file itself.")
        elif plain in self.files:
            self.remarks.error("duplicate_member", self.name, f"the member {quoted(member)} is there twice")
        elif kind == "folder":
            self.files.setdefault(f"{plain}/", self.into)
        else:
            return plain
        return None

    def count(self, n_bytes: int) -> None:
        """Count bytes that came out; raises ``ArchiveError`` beyond the bounds."""
        self.n_bytes += n_bytes
        if self.n_bytes > self.bounds.n_bytes:
            what = f"the archive unpacks to more than {self.bounds.n_bytes} bytes"
        elif self.n_bytes > self.bounds.free_bytes and self.n_bytes > self.bounds.ratio * max(self.n_packed, 1):
            what = f"the archive unpacks to more than {self.bounds.ratio:g} times its size"
        else:
            return
        self.remarks.error("archive_too_large", self.name, what, "Submit text files of this evaluation only.")
        raise ArchiveError

    def copy(self, member: str, stream: BinaryIO, *, counted: bool) -> None:
        """Copy one regular file."""
        path = self.into / f"{len(self.files):06d}"
        with path.open("xb") as out:
            while piece := stream.read(_PIECE):
                if not counted:
                    self.count(len(piece))
                out.write(piece)
        self.files[member] = path


def _zip(stream: BinaryIO, opened: _Unpacking) -> None:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            kind = _zip_kind(info)
            member = opened.admit(info.filename, kind)
            if info.flag_bits & 1:
                opened.remarks.error("encrypted", opened.name, f"the member {quoted(info.filename)} is encrypted")
            elif member is not None:
                with archive.open(info) as content:
                    opened.copy(member, cast(BinaryIO, content), counted=False)


def _zip_kind(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if info.filename.endswith("/"):  # is_dir() takes it that there is a name
        return "folder"
    return {0: "file", 0o100000: "file", 0o120000: "symbolic link", 0o040000: "folder"}.get(mode & 0o170000, "device")


def _tar(stream: BinaryIO, extension: str, opened: _Unpacking) -> None:
    source: Any = stream
    if extension in ("tar.gz", "tgz"):
        source = gzip.GzipFile(fileobj=stream)
    elif extension != "tar":
        source = bz2.BZ2File(stream)
    bounded = cast(BinaryIO, _Bounded(source, opened))
    with tarfile.open(fileobj=bounded, mode="r:", errorlevel=2) as archive:
        for info in _members(archive):
            member = opened.admit(info.name + "/" * info.isdir(), _tar_kind(info))
            if member is not None:
                content = archive.extractfile(info)
                opened.copy(member, cast(BinaryIO, content), counted=True)


def _members(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Members one by one; the library's own list of them is emptied, which would grow with the archive."""
    while (info := archive.next()) is not None:
        yield info
        archive.members = []  # type: ignore[attr-defined]


def _tar_kind(info: tarfile.TarInfo) -> str:
    if info.isdir():
        return "folder"
    if info.issym() or info.islnk():
        return "symbolic link" if info.issym() else "hard link"
    return "file" if info.isreg() and not info.issparse() else "device"


class _Bounded(io.RawIOBase):
    """A decompressed stream that is read forwards, in pieces of bounded size, and counted."""

    def __init__(self, source: Any, opened: _Unpacking) -> None:
        self._source, self._opened, self._at = source, opened, 0

    def read(self, size: int = -1) -> bytes:
        """``size`` bytes; a header that asks for more than a header has is refused."""
        if size < 0 or size > _SINGLE_READ:
            self._opened.remarks.error("bad_archive", self._opened.name, "a header of the archive is far too large")
            raise ArchiveError
        data: bytes = self._source.read(size)
        self._at += len(data)
        self._opened.count(len(data))
        return data

    def tell(self) -> int:
        """The bytes read."""
        return self._at

    def seekable(self) -> bool:
        """Forwards only."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Read on to ``offset``."""
        target = offset if whence == 0 else self._at + offset
        if whence == 2 or target < self._at:
            raise OSError("the archive's headers point backwards")
        while self._at < target and self.read(min(_PIECE, target - self._at)):
            pass
        return self._at
