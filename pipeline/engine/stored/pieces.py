"""Large outputs read by many tasks, each a piece that begins with a block and is known by its bytes from the plan.

A task leaves the rows of its piece in the store, by bucket. A task for each batch of buckets takes its own from all of
them; what is made of the file is the same to the last bit as if one task had read it. A packed file is one piece, read
in parts. One that is not in canonical spelling is read as a whole. The rows take 32 bytes each in the store, from when
they are read until the trials are written; ``rescore gc`` removes what a run that was killed leaves of them.
"""

from __future__ import annotations

import hashlib
import io
import os
from itertools import count
from typing import Any, BinaryIO

from pipeline.engine import editions
from pipeline.engine.inputs import format_of
from pipeline.engine.mending import mended, removing, unless_damaged
from pipeline.engine.stored import spread
from pipeline.engine.stored.spread import Spread
from pipeline.errors import InputError, PlatformError, UsageError
from pipeline.formats.kws.fast.part import FIRST_BLOCK, NotCanonicalError, read_part
from pipeline.formats.kws.kwslist import scanner_for
from pipeline.formats.packed import unpacked
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store, open_input
from pipeline.store.meter import BYTES
from pipeline.terms import Source

PIECE_BYTES = 1 << 27
"""About how large a piece is. Smaller files are not cut."""
BOUND = "RESCORE_PIECE_BYTES"
"""The environment variable that sets another size when a run is planned. No figure depends on it."""
FORMATS = frozenset(("kwslist", "kwslist_texts"))
"""Formats of files that are read in pieces."""
_HELD_BACK = 32
"""Bytes that may be the first ones of a block's beginning."""

Pieces = tuple[tuple[int, str], ...]
"""Where each piece of a file begins, and its SHA-256."""


def piece_bytes() -> int:
    """The size in force. Raises ``UsageError`` where the environment holds no whole number above 0."""
    text = os.environ.get(BOUND, str(PIECE_BYTES))
    if not text.isascii() or not text.isdecimal() or int(text) == 0:
        raise UsageError(f"{BOUND} is {text!r} (allowed: a whole number of bytes above 0). Correct or unset it.")
    return int(text)


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


def path_of(protocol: Protocol, source: Source, pieces: Pieces, k: int) -> str:
    """Where what was read of a piece belongs: its only part or the last one, the others beside it."""
    first, sha256 = pieces[k]
    laid = editions.named("reading", spread.KIND, protocol, file=source.sha256, first=first, sha256=sha256)
    return f"pieces/{laid[:2]}/{laid}"


def ensure(store: Store, protocol: Protocol, source: Source, pieces: Pieces, k: int) -> None:
    """Read piece ``k`` of an output and leave its rows in the store, unless they are there.

    A file that is packed is one piece, which is read in parts of ``PIECE_BYTES``.
    Raises ``PlatformError`` where the bytes are not those that the run was planned for.
    """
    path = path_of(protocol, source, pieces, k)
    if store.exists(path):
        return
    last = pieces[k + 1][0] if k + 1 < len(pieces) else source.n_bytes
    with open_input(source.uri) as stream:
        piece = _Piece(stream, pieces[k][0], last)
        buffered = io.BufferedReader(piece)
        try:
            plain = unpacked(buffered, source.uri)
            if plain is buffered:
                data = spread.encode(read_part(buffered, scanner_for(buffered, last - pieces[k][0])))
            else:
                data = _read_parts(store, path, plain)
        except (NotCanonicalError, UnicodeDecodeError, InputError):
            data = spread.DECLINED
        while buffered.read(1 << 20):
            pass
    if piece.sha256 != pieces[k][1]:
        raise PlatformError(f"{source.uri}: the file changed since the run was planned. Start again.")
    store.put(path, data)


def _read_parts(store: Store, path: str, stream: BinaryIO) -> bytes:
    """Leave all parts of a packed file in the store but the last, which comes back."""
    n_bytes = piece_bytes()
    parts = Parts(stream, n_bytes)
    for number in count():
        part = io.BufferedReader(parts.following())
        data = spread.encode(read_part(part, scanner_for(part, n_bytes)), number)
        if parts.is_over:
            return data
        store.put(spread.part_of(path, number), data)
    raise AssertionError("count() does not end")


class Parts:
    """A stream as parts, each of which begins with a block and has about so many bytes."""

    def __init__(self, stream: BinaryIO, n_bytes: int) -> None:
        self._stream, self._n_bytes = stream, n_bytes
        self._held, self._left, self.is_over = b"", 0, False
        """``is_over`` after a part that has been read to its end: whether it was the last."""

    def following(self) -> io.RawIOBase:
        """The next part; the one before has been read to its end."""
        self._left = self._n_bytes
        return _Part(self)

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


class _Part(io.RawIOBase):
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


def read(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> Spread | None:
    """The output in pieces, those read that the store lacks or holds damaged.

    None where it is not cut, not in canonical spelling, or of a kind that is laid out as a whole.
    """
    fits, role = protocol.family.can.by_buckets, protocol.family.outputs[0]
    if not pieces or fits is None:
        return None
    for k in range(len(pieces)):
        ensure(store, protocol, source, pieces, k)
    paths = [path_of(protocol, source, pieces, k) for k in range(len(pieces))]
    texts = format_of(protocol, role) == "kwslist_texts"
    place = store, protocol, source, pieces
    found, _ = mended(lambda: spread.opened(store, paths, role, texts=texts), lambda: renew(*place), paths[0])
    return found if found is not None and fits(protocol, found.output) else None


def renew(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> None:
    """Read those pieces again that the store lacks or holds damaged."""
    for k in range(len(pieces)):
        path = path_of(protocol, source, pieces, k)
        if unless_damaged(lambda path=path: spread.verify(store, path), path) is None:  # type: ignore[misc]
            store.remove(path)  # what vouches for its other parts
            ensure(store, protocol, source, pieces, k)


def forget(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> None:
    """Remove what was read of pieces: trials are made of it. Who needs it now reads the file."""
    with removing("pieces of an output"):
        for k in range(len(pieces)):
            path = path_of(protocol, source, pieces, k)
            if store.exists(path):
                for part in unless_damaged(lambda path=path: spread.parts_of(store, path), path) or ():  # type: ignore[misc]
                    store.remove(part)
                store.remove(path)


class _Piece(io.RawIOBase):
    """The bytes of a stream from ``first`` to ``last`` (exclusive), hashed as they pass."""

    def __init__(self, stream: BinaryIO, first: int, last: int) -> None:
        self._stream, self._left, self._hash = stream, last - first, hashlib.sha256()
        stream.seek(first)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer) as view:
            n = int(self._stream.readinto(view[: self._left]))  # type: ignore[attr-defined]
            self._hash.update(view[:n])
        self._left -= n
        BYTES.read(n)
        return n

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()
