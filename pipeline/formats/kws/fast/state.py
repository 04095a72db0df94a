"""The interface of both scanners of the fast reader: why they stop, what they move on, and the spelling they know."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from pipeline.formats.table import Array

MORE, DECLINED, TAIL, FULL = 0, 1, 2, 3
"""Why a scan stopped: out of bytes, not canonical, at what follows the last block, or out of room."""

PADDING = 256
"""Bytes after the data that may be read, and are not looked at."""
NAMES_AT_MOST, CHANNELS_AT_MOST = 1 << 16, 1 << 8
"""Files and channels of one output; what has more is declined."""
DIGITS_AT_MOST = 15
DECIMALS_AT_MOST = 22
"""A whole number of so many digits divided by so high a power of ten is the nearest double (Clinger 1990)."""

POSITION, LIMIT, LINE, INSIDE, ROWS, PLAIN, FEWEST, MOST = range(8)
"""Places in a scan's state, int64: where it is in the data and where the data ends, the line, whether a block is open,
the rows so far, whether all scores are such as 0.125, and the fewest and most decimals of scores, 0 for others than
one digit before the point and some behind it. A scan moves all but the limit on."""

COLUMNS = (
    *(("begin_s", np.float64), ("dur_s", np.float64), ("score", np.float64)),
    *(("file", np.uint16), ("channel", np.uint8), ("decision", np.bool_), ("line", np.int32)),
)
"""The columns that a scanner makes of a row: 32 bytes."""

ROW, CHANNEL, BEGIN, DUR, SCORE, DECISION, ROW_END, YES, NO, OPEN, CLOSE = range(11)
"""Rows of ``literals``."""


class Scanned(NamedTuple):
    """The tags and odd numbers that a scan found beside rows."""

    why: int
    tags: list[list[int]]
    """Tags of blocks: start, end, rows before, line."""
    odds: list[list[int]]
    """Numbers to be read elsewhere: row, column (0 begin, 1 duration, 2 score), start."""


class Scanner(Protocol):
    """Reads detections in canonical spelling, and declines anything else."""

    buffer_bytes: ClassVar[int]

    def __init__(self, detection: bytes, block: bytes) -> None:
        """For an output whose detections and blocks are elements of these names."""

    def scan(self, data: bytearray, state: Array, columns: tuple[Array, ...]) -> Scanned:
        """Read from the state's position on, as far as bytes and room go.

        ``columns`` receive the rows, as ``COLUMNS`` names them.
        """

    def names(self) -> tuple[list[bytes], list[bytes]]:
        """The files and the channels by code."""


def literals(detection: bytes, block: bytes) -> Array:
    """The literals between values, as (word, mask, word, mask, length) of its first 16 bytes: uint64, (11, 5)."""
    texts = (
        *(b"<%s file=" % detection + b'"', b'" channel="', b'" tbeg="', b'" dur="', b'" score="', b'" decision="'),
        *(b"/>", b'YES"', b'NO"', b"<%s " % block, b"</%s>" % block),
    )
    masks = [(b"\xff" * min(len(text), 16)).ljust(16, b"\0") for text in texts]
    words = np.frombuffer(b"".join(text[:16].ljust(16, b"\0") for text in texts), "<u8").reshape(-1, 2)
    mask = np.frombuffer(b"".join(masks), "<u8").reshape(-1, 2)
    lengths = np.array([len(text) for text in texts], np.uint64)
    return np.ascontiguousarray(np.column_stack((words[:, 0], mask[:, 0], words[:, 1], mask[:, 1], lengths)))
