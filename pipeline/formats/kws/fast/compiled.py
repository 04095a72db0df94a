"""The scanner that Numba compiles: ``python -m pipeline.formats.kws.fast.compiled`` does, for images.

Numba's start takes most of a second, and a whole run of 5e6 detections is 1.5 times as fast as by ``vectors``.
"""

from __future__ import annotations

import numpy as np

from pipeline.formats.kws.fast.kernel_cache import begin_with_compiled

begin_with_compiled()

from pipeline.formats.kws.fast.fast_kernel import BYTES_AT_MOST, FIRST_BYTE, FIRST_PLACE, scan  # noqa: E402
from pipeline.formats.kws.fast.state import COLUMNS, DECIMALS_AT_MOST, PADDING, Scanned, literals  # noqa: E402
from pipeline.formats.table import Array  # noqa: E402

_TAGS, _ODDS = 1 << 12, 3 << 15


class Compiled:
    """The scanner that needs Numba."""

    buffer_bytes = 1 << 19

    def __init__(self, detection: bytes, block: bytes) -> None:
        self._literals = literals(detection, block)
        self._files, self._channels = _new_names(), _new_names()
        self._tags, self._odds = np.empty((_TAGS, 4), np.int64), np.empty((_ODDS, 3), np.int64)

    def scan(self, data: bytearray, state: Array, columns: tuple[Array, ...]) -> Scanned:
        """See ``Scanner``."""
        tables = [table.ctypes.data for table in (self._literals, self._files, self._channels)]
        found = np.zeros(2, np.int64)
        base = np.frombuffer(data, np.uint8).ctypes.data
        why = scan(base, state, *tables, columns, self._odds, self._tags, found)
        return Scanned(why, self._tags[: found[0]].tolist(), self._odds[: found[1]].tolist())

    def names(self) -> tuple[list[bytes], list[bytes]]:
        """See ``Scanner``."""
        return _names_of(self._files), _names_of(self._channels)


def _new_names() -> Array:
    """An empty table of names."""
    return np.zeros((FIRST_BYTE + BYTES_AT_MOST) // 8, np.uint64)


def _names_of(table: Array) -> list[bytes]:
    """The names by code."""
    held = table.view(np.uint8)[FIRST_BYTE:]
    places = table[FIRST_PLACE : FIRST_PLACE + int(table[0])].tolist()
    return [held[place >> 16 : (place >> 16) + (place & 0xFFFF)].tobytes() for place in places]


def compile_all() -> None:
    """Have everything compiled."""
    state = np.array([0, 0, 1, 0, 0, 1, DECIMALS_AT_MOST, 0])
    columns = tuple(np.empty(1, kind) for _, kind in COLUMNS)
    Compiled(b"kw", b"detected_kwlist").scan(bytearray(PADDING), state, columns)


if __name__ == "__main__":
    compile_all()
