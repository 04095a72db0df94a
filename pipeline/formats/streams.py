"""Streams in pieces of one size."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

CHUNK_BYTES = 1 << 16


def chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in pieces of ``CHUNK_BYTES``, the last one shorter, whatever its own reads return."""
    while pieces := _filled(stream):
        yield pieces


def _filled(stream: BinaryIO) -> bytes:
    missing, pieces = CHUNK_BYTES, []
    while missing and (piece := stream.read(missing)):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def filled(stream: BinaryIO, data: bytearray | memoryview, held: int) -> int:
    """Fill ``data`` up behind the ``held`` bytes; returns how many there are now."""
    with memoryview(data) as view:
        while held < len(view) and (n := stream.readinto(view[held:])):  # type: ignore[attr-defined]
            held += n
    return held


def size_of(stream: BinaryIO) -> int | None:
    """The bytes of a stream that is at its beginning, and is again; None where only reading it would tell."""
    try:
        n_bytes = stream.seek(0, io.SEEK_END)
    except (OSError, ValueError):  # io.UnsupportedOperation is both
        return None
    stream.seek(0)
    return n_bytes
