"""Inputs compressed with gzip or Zstandard, known by their first bytes, read as if they were not."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from pipeline.errors import Finding, InputError
from pipeline.formats.budgets import budget, refusal

BYTES_UNASKED = 1 << 23
RATIO_AT_MOST = 200
"""An input that unpacks to more than ``BYTES_UNASKED`` and more than so many times its size is a bomb, not text."""
_WINDOW_BYTES_AT_MOST = 1 << 27
_PIECE_BYTES = 1 << 10
"""Packed bytes that are unpacked at once: no more than 32 MiB can come of them."""


def unpacked(stream: io.BufferedReader[Any], where: str) -> BinaryIO:
    """The stream itself, or what is packed in it. ``where`` names it in messages.

    Raises ``InputError``, also while it is read, for what is damaged, cut off, or grows beyond all bounds, and where
    Zstandard is needed and not installed.
    """
    magic = stream.peek(4)[:4]
    if magic[:2] == b"\x1f\x8b":
        return io.BufferedReader(_Unpacked(stream, lambda: gzip.GzipFile(fileobj=stream), where))
    if magic == b"\x28\xb5\x2f\xfd":
        return io.BufferedReader(_Unpacked(stream, lambda: _zstandard(stream, where), where))
    _refuse_other_kinds(stream.peek(_HEAD_BYTES), where)
    return stream


def _refuse_other_kinds(head: bytes, where: str) -> None:
    """Raise ``InputError`` for what is no text by its first bytes."""
    kind = _kind(head[:_HEAD_BYTES])
    if kind is not None:
        message = f"the file is {kind}, whatever its name says (allowed: the text itself, or gzip of it). Unpack it."
        raise InputError([Finding("packed_input", message, where)])


_HEAD_BYTES = 512
_MAGIC = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a rar archive",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"%PDF-": "a PDF document",
}


def _kind(head: bytes) -> str | None:
    """What a file is that holds other files or is compressed in a way that is not read here; None for text."""
    if head[257:262] == b"ustar":
        return "a tar archive"
    if head[:3] == b"BZh" and head[4:10] == b"1AY&SY":
        return "compressed with bzip2"
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def _zstandard(stream: BinaryIO, where: str) -> Any:
    try:
        return io.BufferedReader(_Frames(stream))
    except ImportError as error:
        message = "the file is compressed with Zstandard, which is not installed. Install rescore[zst], or use gzip."
        raise InputError([Finding("no_zstandard", message, where)]) from error


class _Frames(io.RawIOBase):
    """The bytes of Zstandard frames. The library's own reader takes a frame that is cut off for the end of the file."""

    def __init__(self, packed: BinaryIO) -> None:
        from zstandard import ZstdDecompressor

        self._packed, self._unpacker = packed, ZstdDecompressor(max_window_size=_WINDOW_BYTES_AT_MOST)
        self._frame, self._held, self._rest = self._unpacker.decompressobj(), b"", b""
        self._begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._held:
            piece = self._rest or self._packed.read(_PIECE_BYTES)
            if not piece:
                if self._begun and not self._frame.eof:
                    raise EOFError("the last frame has no end")
                return 0
            if self._frame.eof:
                self._frame = self._unpacker.decompressobj()
            self._begun = True
            self._held = self._frame.decompress(piece)
            self._rest = self._frame.unused_data if self._frame.eof else b""
        n = min(len(buffer), len(self._held))
        buffer[:n], self._held = self._held[:n], self._held[n:]
        return n


class _Unpacked(io.RawIOBase):
    """The bytes that are packed in a stream; faults are refusals of the input."""

    def __init__(self, packed: io.BufferedReader[Any], begin: Callable[[], Any], where: str) -> None:
        self._packed, self._begin, self._where = packed, begin, where
        self._plain, self._n_bytes = begin(), 0
        self._most = budget("RESCORE_INPUT_UNPACKED_BYTES")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._packed.seekable()

    def tell(self) -> int:
        return self._n_bytes

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """To the beginning; nowhere else."""
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation("only to the beginning")
        self._packed.seek(0)
        self._plain, self._n_bytes = self._begin(), 0
        return 0

    def readinto(self, buffer: Any) -> int:
        faults: tuple[type[Exception], ...] = (EOFError, zlib.error, gzip.BadGzipFile, *_zstandard_errors())
        try:
            n = int(self._plain.readinto(buffer))
        except InputError:
            raise
        except faults as error:
            message = f"the compressed file is damaged or cut off ({error}). Compress it again."
            raise InputError([Finding("bad_compression", message, self._where)]) from error
        if self._n_bytes == 0:
            _refuse_other_kinds(bytes(memoryview(buffer)[: min(n, _HEAD_BYTES)]), self._where)
        self._n_bytes += n
        if self._n_bytes > self._most:
            raise refusal("RESCORE_INPUT_UNPACKED_BYTES", self._where)
        if self._n_bytes > BYTES_UNASKED and self._n_bytes > RATIO_AT_MOST * self._packed.tell():
            message = f"the file unpacks to more than {RATIO_AT_MOST} times its size. Hand it in uncompressed."
            raise InputError([Finding("bad_compression", message, self._where)])
        return n


def _zstandard_errors() -> tuple[type[Exception], ...]:
    try:
        from zstandard import ZstdError
    except ImportError:
        return ()
    return (ZstdError,)
