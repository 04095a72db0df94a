"""A table of levels as a picture: a PNG of one pixel a cell that stands in the page itself."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED = (8, 3, 0, 0, 0)  # bits, colour type, compression, filter, interlace


def data_url(levels: NDArray[np.int64], colours: Sequence[str]) -> str:
    """A picture as a URL that holds it. ``levels``: (row, column), places in ``colours`` (#rrggbb), -1 transparent."""
    height, width = levels.shape
    pixels = np.zeros((height, width + 1), np.uint8)  # every row begins with its filter: none
    pixels[:, 1:] = levels + 1
    palette = b"\0\0\0" + b"".join(bytes.fromhex(colour[1:]) for colour in colours)
    parts = (
        (b"IHDR", struct.pack(">2I5B", width, height, *_INDEXED)),
        (b"PLTE", palette),
        (b"tRNS", b"\0"),
        (b"IDAT", zlib.compress(pixels.tobytes(), 9)),
        (b"IEND", b""),
    )
    data = _SIGNATURE + b"".join(_chunk(name, body) for name, body in parts)
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
