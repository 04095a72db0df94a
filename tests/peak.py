"""The peak of a process's own memory: ``ru_maxrss`` has that of the process it was started by, where that is larger."""

from __future__ import annotations

from pathlib import Path


def peak_bytes() -> int:
    """The largest resident memory of this process since it began, or since it was last forgotten (Linux)."""
    return _of_status("VmHWM:")


def resident_bytes() -> int:
    """The resident memory of this process now (Linux)."""
    return _of_status("VmRSS:")


def _of_status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) << 10
