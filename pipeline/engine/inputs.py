"""Reading a cell's input files: bytes are hashed as they are read, so a result can name exactly what it saw."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

from pipeline.errors import InputError, PlatformError, RescoreError, StoreError
from pipeline.formats import READERS
from pipeline.formats.budgets import Spent
from pipeline.formats.packed import unpacked
from pipeline.formats.streams import size_of
from pipeline.protocols.base import Protocol
from pipeline.store import faults
from pipeline.store.blobs import open_input, redacted, unreadable
from pipeline.store.meter import BYTES
from pipeline.store.regular import why_not
from pipeline.terms import Source

T = TypeVar("T")
COMPRESSED = (".gz", ".zst")
"""Ends of names of files that hold more than their bytes."""
INFLATED = 20
"""How many times as much, about."""
_BLOCK = 1 << 20


class _Hashed(io.RawIOBase):
    """A binary stream that hashes what passes through, within the budgets of an input."""

    def __init__(self, stream: BinaryIO, where: str) -> None:
        self._stream, self._spent, self._where = stream, Spent(where), where
        self._spent.stream(size_of(stream) or 0)
        self._hash = hashlib.sha256()
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """To the beginning, to read and hash everything again; to the end, to tell the size, and then there."""
        if whence == io.SEEK_CUR and offset == 0:
            return self.n_bytes
        if whence == io.SEEK_END and offset == 0:
            return self._stream.seek(0, io.SEEK_END)
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation("only to the beginning")
        self._hash, self.n_bytes = hashlib.sha256(), 0
        return self._stream.seek(0)

    def tell(self) -> int:
        return self.n_bytes

    def readinto(self, buffer: Any) -> int:
        try:
            n = int(self._stream.readinto(buffer))  # type: ignore[attr-defined]  # any stream that is opened has it
        except OSError as error:
            raise _unread(self._where, error) from error
        self._hash.update(memoryview(buffer)[:n])
        self.n_bytes += n
        BYTES.read(n)
        self._spent.stream(self.n_bytes)
        return n

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


def _unread(where: str, error: OSError) -> RescoreError:
    """An error while a file is read: that of a place that may be well again, or of this file alone."""
    if faults.is_passing(error):
        return StoreError(f"{where}: cannot read the input ({faults.told(error)}).")
    return unreadable(where, why_not(error))


def read_role(
    protocol: Protocol, role: str, uri: str, where: str | None = None, sha256: str = ""
) -> tuple[Any, Source]:
    """The table of one input and the source it came from.

    Compressed files are read as what is in them. ``where`` is the name used in messages (default: the URL). Raises
    ``InputError`` for a missing or refused file, ``PlatformError`` for one of other bytes than ``sha256`` says, refused
    or not: a file that is half uploaded is refused, and is not the one that was meant.
    """
    return read_uri(format_of(protocol, role), role, uri, where, sha256)


def read_uri(kind: str, role: str, uri: str, where: str | None = None, sha256: str = "") -> tuple[Any, Source]:
    """As ``read_role``, by the reader of the format ``kind``."""
    name = where or redacted(uri)
    table, hashed = _read_by(uri, name, sha256, lambda stream: _read(kind, stream, name))
    return table, Source(name, role, hashed.sha256, hashed.n_bytes)


def _read_by(uri: str, name: str, sha256: str, read: Callable[[BinaryIO], T]) -> tuple[T, _Hashed]:
    """What ``read`` makes of a file, and its bytes as they were hashed; raises as ``read_role`` does."""
    with open_input(uri) as stream:
        hashed = _Hashed(stream, name)
        buffered = io.BufferedReader(hashed, _BLOCK)
        try:
            made = read(unpacked(buffered, name))
        except InputError as error:
            if sha256 and not _is_whole(buffered, hashed, sha256):
                raise _changed(uri) from error
            raise
        if not _is_whole(buffered, hashed, sha256):
            raise _changed(uri)
    return made, hashed


def _read(kind: str, stream: BinaryIO, name: str) -> Any:
    """What the reader of a format makes of a stream; a Parquet table is read as the file that it would be."""
    peek = getattr(stream, "peek", None)
    if peek is not None and bytes(peek(4)[:4]) == b"PAR1":
        from pipeline.frames.parquet import as_text

        return READERS[kind](io.BytesIO(as_text(kind, stream, name)), name)
    return READERS[kind](stream, name)


def read_stream(kind: str, role: str, stream: BinaryIO, name: str) -> tuple[Any, Source]:
    """As ``read_uri``, from a stream that is open, and stays so; ``name`` is what messages call it."""
    hashed = _Hashed(stream, name)
    buffered = io.BufferedReader(hashed, _BLOCK)
    table = _read(kind, unpacked(buffered, name), name)
    _is_whole(buffered, hashed, "")
    buffered.detach()
    return table, Source(name, role, hashed.sha256, hashed.n_bytes)


def _is_whole(rest: BinaryIO, hashed: _Hashed, sha256: str) -> bool:
    """Read what is left of a file, and say whether it is the one that was meant."""
    while rest.read(_BLOCK):
        pass
    return sha256 in ("", hashed.sha256)


def _changed(uri: str) -> PlatformError:
    return PlatformError(f"{redacted(uri)}: the file changed since the run was planned. Start again.")


def format_of(protocol: Protocol, role: str) -> str:
    """The format that an input of a protocol is read with."""
    asked = protocol.family.can.reader(protocol, role)
    return asked or next(known.format for known in protocol.roles if known.name == role)


def digest(uri: str, role: str, see: Callable[[bytes], object] = len, *, above: int = 0) -> Source:
    """The source at ``uri`` by its bytes, without reading it as anything.

    ``see`` is shown all of them in order, unless they are known to be no more than ``above``.
    """
    with open_input(uri) as stream:
        n_bytes = size_of(stream) if above else None
        small = n_bytes is not None and n_bytes <= above
        hashed = _Hashed(stream, redacted(uri))
        while data := hashed.read(_BLOCK):
            if not small:
                see(data)
    return Source(uri, role, hashed.sha256, hashed.n_bytes)


def read_planned(protocol: Protocol, role: str, planned: Source) -> Any:
    """The table of an input that a plan names by its bytes; messages name it by its role.

    Raises ``InputError`` where the format refuses it, and ``PlatformError`` where it is gone or has other bytes than
    were planned for: what would be made of it must not stand under the planned address.
    """
    with _there(planned):
        return read_role(protocol, role, planned.uri, role, planned.sha256)[0]


def with_planned(planned: Source, role: str, read: Callable[[BinaryIO], T]) -> T:
    """What ``read`` makes of an input that a plan names by its bytes; raises as ``read_planned`` does."""
    with _there(planned):
        return _read_by(planned.uri, role, planned.sha256, read)[0]


@contextmanager
def _there(planned: Source) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        if error.findings[0].code in ("missing_input", "unknown_place", "unreadable_input"):
            raise PlatformError(
                f"{redacted(planned.uri)}: the file is gone since the run was planned, or can no longer be read. "
                "Start again."
            ) from error
        raise
