"""Large outputs read by many tasks, each a piece that begins with a block and is known by its bytes from the plan.

A task leaves what it read in the store. The task that makes trials joins the pieces, and reads the whole file where one
is missing or not in canonical spelling; what it makes of the file is the same to the last bit.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from typing import Any, BinaryIO

from pipeline.engine import editions
from pipeline.engine.inputs import format_of, read_planned
from pipeline.engine.mending import removing, unless_damaged
from pipeline.errors import DamageError, PlatformError, UsageError
from pipeline.formats.kws.fast.kwslist import output_of
from pipeline.formats.kws.fast.part import FIRST_BLOCK, NotCanonicalError, PartOfFile, read_part
from pipeline.formats.kws.kwslist import SystemOutput, scanner_for
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store, open_input, redacted
from pipeline.store.columns import Column, decode_columns, encode_columns
from pipeline.store.meter import BYTES
from pipeline.terms import Source

PIECE_BYTES = 1 << 27
"""About how large a piece is. Smaller files are not cut."""
BOUND = "RESCORE_PIECE_BYTES"
"""The environment variable that sets another size when a run is planned. No figure depends on it."""
FORMATS = frozenset(("kwslist", "kwslist_texts"))
"""Formats of files that are read in pieces."""
KIND = "piece/1"
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
    """Where what was read of a piece belongs."""
    first, sha256 = pieces[k]
    laid = editions.named("reading", KIND, protocol, file=source.sha256, first=first, sha256=sha256)
    return f"pieces/{laid[:2]}/{laid}"


def ensure(store: Store, protocol: Protocol, source: Source, pieces: Pieces, k: int) -> None:
    """Read piece ``k`` of an output and leave it in the store, unless it is there.

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
            data = encode(read_part(buffered, scanner_for(buffered, last - pieces[k][0])))
        except (NotCanonicalError, UnicodeDecodeError):
            data = encode_columns(KIND, {}, {"declined": True})
        while buffered.read(1 << 20):
            pass
    if piece.sha256 != pieces[k][1]:
        raise PlatformError(f"{redacted(source.uri)}: the file changed since the run was planned. Start again.")
    store.put(path, data)


def read(store: Store, known: Mapping[str, Pieces], protocol: Protocol, role: str, source: Source) -> Any:
    """The table of an input as ``read_planned`` gives it: from its pieces, where all are in the store and canonical."""
    parts = _parts(store, protocol, source, known.get(source.sha256, ()))
    if parts:
        texts = format_of(protocol, role) == "kwslist_texts"
        output: SystemOutput | None = output_of(parts, role, texts=texts)
        if output is not None:
            return output
    return read_planned(protocol, role, source)


def forget(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> None:
    """Remove what was read of pieces: trials are made of it. Who needs it now reads the file."""
    with removing("pieces of an output"):
        for k in range(len(pieces)):
            store.remove(path_of(protocol, source, pieces, k))


def _parts(store: Store, protocol: Protocol, source: Source, pieces: Pieces) -> list[PartOfFile]:
    """The parts of a file; none where one is missing, damaged or not canonical."""
    paths = [path_of(protocol, source, pieces, k) for k in range(len(pieces))]
    if not all(map(store.exists, paths)):
        return []
    parts = list[PartOfFile]()
    for path in paths:
        part = unless_damaged(lambda path=path: decode(store.get(path)), path)  # type: ignore[misc]
        if part is None:
            return []
        parts.append(part)
    return parts


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


def encode(part: PartOfFile) -> bytes:
    """A part as sealed bytes."""
    columns: dict[str, Column] = {f"column.{name}": column for name, column in part.columns.items()}
    columns |= {name: getattr(part, name) for name in ("files", "channels", "tags", "tag_rows", "tag_lines")}
    about = {"block": part.block.decode(), "n_breaks": part.n_breaks, "shapes": part.shapes}
    texts = {name: getattr(part, name).decode("latin-1") for name in ("head", "tail")}
    return encode_columns(KIND, columns, {**about, **texts, "declined": False})


def decode(data: bytes) -> PartOfFile | None:
    """The part that ``encode`` wrote; None for a piece that was declined. Raises ``DamageError`` for anything else."""
    columns, about = decode_columns(data, KIND)
    try:
        if about.pop("declined"):
            return None
        texts = {name: about.pop(name).encode("latin-1") for name in ("block", "head", "tail")}
        kept = {name.removeprefix("column."): columns.pop(name) for name in list(columns) if name.startswith("column.")}
        return PartOfFile(columns=kept, **columns, **texts, n_breaks=about["n_breaks"], shapes=tuple(about["shapes"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DamageError(f"a stored piece is none ({error}). Remove it and run again.") from error
