"""Costs of a piece of work: processor time, bytes of stores and inputs, memory. Counted for the whole process."""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

_KB = 1024
_RESET_PEAK = "5"
"""Written to ``/proc/self/clear_refs`` it resets the peak of memory."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of tasks of one kind. Times and bytes add up, peak and rise are the largest."""

    n_tasks: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    bytes_read: int = 0
    """From stores and input files."""
    bytes_written: int = 0
    peak_rss_bytes: int = 0
    """Resident memory of the process at its largest while such a task ran."""
    rise_rss_bytes: int = 0
    """What of it the process did not have when the task began: more than it keeps of tasks before."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.n_tasks + other.n_tasks,
            self.cpu_s + other.cpu_s,
            self.wall_s + other.wall_s,
            self.bytes_read + other.bytes_read,
            self.bytes_written + other.bytes_written,
            max(self.peak_rss_bytes, other.peak_rss_bytes),
            max(self.rise_rss_bytes, other.rise_rss_bytes),
        )

    def document(self) -> dict[str, float | int]:
        """As JSON carries it; times to the millisecond."""
        values = asdict(self)
        return {**values, "cpu_s": round(self.cpu_s, 3), "wall_s": round(self.wall_s, 3)}


Costs = Mapping[str, Cost]
"""Cost by kind of task."""


def together(one: Costs, other: Costs) -> dict[str, Cost]:
    """The costs of both."""
    return {kind: one.get(kind, Cost()) + other.get(kind, Cost()) for kind in dict.fromkeys([*one, *other])}


class _Bytes:
    """Bytes that this process read and wrote so far. Drivers read in threads of their own, so nothing is per thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.n_read = 0
        self.n_written = 0

    def read(self, n_bytes: int) -> None:
        """Count bytes that came in."""
        with self._lock:
            self.n_read += n_bytes

    def wrote(self, n_bytes: int) -> None:
        """Count bytes that went out."""
        with self._lock:
            self.n_written += n_bytes


BYTES = _Bytes()


class Metered:
    """``cost`` is what the block has taken so far, or took in all."""

    def __init__(self) -> None:
        self._began_rss_bytes = _peak_rss_bytes()
        self._began = time.process_time(), time.perf_counter(), BYTES.n_read, BYTES.n_written
        self._ended: Cost | None = None

    @property
    def cost(self) -> Cost:
        """Of one task."""
        if self._ended is not None:
            return self._ended
        cpu_s, wall_s, n_read, n_written = self._began
        peak_rss_bytes = _peak_rss_bytes()
        return Cost(
            1,
            time.process_time() - cpu_s,
            time.perf_counter() - wall_s,
            BYTES.n_read - n_read,
            BYTES.n_written - n_written,
            peak_rss_bytes,
            max(0, peak_rss_bytes - self._began_rss_bytes),
        )

    def end(self) -> None:
        """Nothing more counts."""
        self._ended = self.cost


@contextmanager
def metered() -> Iterator[Metered]:
    """Measure a block. Exact where the process does one thing at a time, as a worker with one thread does."""
    with suppress(OSError):  # not on Linux, or not allowed: the peak is then the process's, and a rise what it grew
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK, encoding="ascii")
    found = Metered()
    try:
        yield found
    finally:
        found.end()


def _peak_rss_bytes() -> int:
    """The largest resident memory since it was last forgotten."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * _KB
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KB
