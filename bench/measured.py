"""What commands take: children of this process, whose processor time and highest memory the system counts.

A ``Way`` is one way to do a piece of work. ``measure`` runs several in turn, again and again, so that whatever else
the machine does falls on all of them, and keeps of each the least processor time, the least time by the clock and the
highest memory.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from bench import launched

CPU, WALL, MEMORY, ADDED = "CPU", "wall", "memory", "added memory"
"""Quantities: seconds of processor time (user and system) and by the clock; MB (1e6 bytes) at most, and beyond what the
process had before."""
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
PATIENCE_S = 600.0
"""How long one run may take."""


@dataclass(frozen=True)
class Way:
    """``times`` is the most runs it is to have, None for as many as the whole table has. What is measured ``inside``
    tells its figures itself, in JSON, without the start of its process and what it prepares. ``found`` reads what came
    out from the child's output and its folder, for comparison."""

    name: str
    command: tuple[str, ...]
    inside: bool = False
    times: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    found: Callable[[str, Path], Any] | None = None


@dataclass(frozen=True)
class Measured:
    """``figures`` by quantity, none where a run ``failed``, which says how."""

    name: str
    runs: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)
    found: Any = None
    failed: str = ""


def inside(name: str, module: str, way: str, *arguments: object, times: int | None = None) -> Way:
    """A way of ``WAYS`` of a module of this package; see ``bench.inside``."""
    command = (sys.executable, "-m", "bench.inside", module, way, *map(str, arguments))
    return Way(name, command, inside=True, times=times)


def measure(ways: Sequence[Way], place: Path, times: int) -> dict[str, Measured]:
    """All ways by name, in turn. One that fails is not run again."""
    found: dict[str, Measured] = {}
    for turn in range(times):
        for way in ways:
            before = found.get(way.name)
            if turn < (way.times or times) and not (before and before.failed):
                once = run(way, place)
                found[way.name] = best(before, once) if before and not once.failed else once
    return found


def best(before: Measured, once: Measured) -> Measured:
    """Of two or more runs: the least times, the highest memory. They must have brought out the same."""
    if once.found != before.found:
        return Measured(before.name, failed=f"brought out {once.found} after {before.found}")
    highest = {MEMORY, ADDED}
    figures = {
        name: (max if name in highest else min)(value, once.figures[name]) for name, value in before.figures.items()
    }
    return Measured(before.name, before.runs + once.runs, figures, once.found)


def run(way: Way, place: Path) -> Measured:
    """One run, in a new folder within ``place`` that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="run-", dir=place) as folder:
        return _run(way, Path(folder))


def _run(way: Way, place: Path) -> Measured:
    environment = {**os.environ, **THREADS, **way.environment}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), os.getenv("PYTHONPATH"))))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as use:
        command = [sys.executable, "-I", "-S", launched.__file__, str(use.fileno()), *way.command]
        child = subprocess.Popen(command, stdout=out, stderr=errors, cwd=place, env=environment,
                                 pass_fds=[use.fileno()], start_new_session=True)  # fmt: skip
        try:
            child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            return Measured(way.name, failed=f"took more than {PATIENCE_S:.0f} s")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # the command and all of its own, where any is left
            child.wait()
        text, complaint, used = (_text(stream) for stream in (out, errors, use))
    return _told(way, json.loads(used), text, complaint, place)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")


def _told(way: Way, use: Mapping[str, Any], text: str, complaint: str, place: Path) -> Measured:
    if use["status"] is None:
        return Measured(way.name, failed=f"does not start: {use['error']}")
    if use["status"]:
        last = (complaint.strip() or "no word").splitlines()[-1]
        return Measured(way.name, failed=f"ended with {use['status']}: {last[:80]}")
    if way.inside:
        told = json.loads(text)
        return Measured(way.name, 1, told["figures"], told["found"])
    figures = {CPU: use["cpu_s"], WALL: use["wall_s"], MEMORY: use["peak_kib"] * 1024 / 1e6}
    try:
        return Measured(way.name, 1, figures, way.found(text, place) if way.found else None)
    except (OSError, ValueError, LookupError, TypeError) as error:
        return Measured(way.name, failed=f"its output was not understood: {error}")
