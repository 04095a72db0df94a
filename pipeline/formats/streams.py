"""Streams in pieces of one size."""

from __future__ import annotations

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
