"""Where large files are cut: at the beginnings of blocks, as their bytes pass through."""

from __future__ import annotations

import hashlib
import io
from typing import Any, BinaryIO

from pipeline.formats.kws.fast.part import FIRST_BLOCK
from pipeline.store.meter import BYTES

_HELD_BACK = 32
"""Bytes that may be the first ones of a block's beginning."""

Pieces = tuple[tuple[int, str], ...]
"""Where each piece of a file begins, and its SHA-256."""


class Cutter:
    """Cuts a file that passes through at the first block from each multiple of the size on."""

    def __init__(self, n_bytes: int) -> None:
        self._size, self._due = n_bytes, 0
        self._hash, self._first = hashlib.sha256(), 0
        self._held, self._at = b"", 0
        self._pieces: list[tuple[int, str]] = []

    def feed(self, data: bytes) -> None:
        """The next bytes."""
        end = self._at + len(self._held) + len(data)
        if self._due >= end and len(data) > _HELD_BACK:  # no piece can begin here: nothing is copied
            self._hash.update(self._held)
            self._hash.update(memoryview(data)[:-_HELD_BACK])
            self._held, self._at = data[-_HELD_BACK:], end - _HELD_BACK
            return
        text, done = self._held + data, 0
        while (found := FIRST_BLOCK.search(text, max(self._due - self._at, done))) is not None:
            if self._due:
                self._hash.update(text[done : found.start()])
                self._end(self._at + found.start())
                done = found.start()
            else:  # the first block goes with what is before it
                self._due = max(self._size, self._at + found.start() + 1)
        keep = max(done, len(text) - _HELD_BACK)
        self._hash.update(text[done:keep])
        self._held, self._at = text[keep:], self._at + keep

    def pieces(self) -> Pieces:
        """All of them, after the last bytes; () where the file is one."""
        self._hash.update(self._held)
        self._end(0)
        return tuple(self._pieces) if len(self._pieces) > 1 else ()

    def _end(self, at: int) -> None:
        self._pieces.append((self._first, self._hash.hexdigest()))
        self._hash, self._first = hashlib.sha256(), at
        self._due = (at // self._size + 1) * self._size


class Parts:
    """A stream as parts, each of which begins with a block and has about so many bytes."""

    def __init__(self, stream: BinaryIO, n_bytes: int) -> None:
        self._stream, self._n_bytes = stream, n_bytes
        self._held, self._left, self.is_over = b"", 0, False
        """``is_over`` after a part that has been read to its end: whether it was the last."""

    def following(self) -> io.RawIOBase:
        """The next part; the one before has been read to its end."""
        self._left = self._n_bytes
        return _PartStream(self)

    def take(self, n_bytes: int) -> bytes:
        """Some of the next bytes of this part; none at its end."""
        if self._left > 0:
            n_bytes = min(n_bytes, self._left)
            data = self._held[:n_bytes] or self._stream.read(n_bytes)
            self._held = self._held[len(data) :]
            self._left -= len(data)
            self.is_over = not data
            return data
        return self._up_to_block(n_bytes)

    def _up_to_block(self, n_bytes: int) -> bytes:
        while True:
            found = FIRST_BLOCK.search(self._held)
            end = found.start() if found else len(self._held) - _HELD_BACK
            if found or end > 0:
                data, self._held = self._held[: min(end, n_bytes)], self._held[min(end, n_bytes) :]
                return data
            more = self._stream.read(n_bytes)
            if not more:
                data, self._held = self._held[:n_bytes], self._held[n_bytes:]
                self.is_over = not data
                return data
            self._held += more


class _PartStream(io.RawIOBase):
    """A part as a stream of its own."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer) as view:
            data = self._parts.take(len(view))
            view[: len(data)] = data
        return len(data)


class PieceStream(io.RawIOBase):
    """The bytes of a stream from ``first`` to ``last`` (exclusive), hashed as they pass."""

    def __init__(self, stream: BinaryIO, first: int, last: int) -> None:
        self._stream, self._left, self._hash = stream, last - first, hashlib.sha256()
        stream.seek(first)

    def readable(self) -> bool:
        """As every stream says it."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes; how many there were."""
        with memoryview(buffer) as view:
            n = int(self._stream.readinto(view[: self._left]))  # type: ignore[attr-defined]
            self._hash.update(view[:n])
        self._left -= n
        BYTES.read(n)
        return n

    @property
    def sha256(self) -> str:
        """Of the bytes that came by."""
        return self._hash.hexdigest()
