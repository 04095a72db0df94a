"""Live tools of the organisers beside ours: how they are found and run, how many cases, and how figures are compared.

``RESCORE_KWSEVAL``, ``RESCORE_STDEVAL``, ``RESCORE_DEVA``, ``RESCORE_JAR`` and ``RESCORE_KALDI`` say where a tool is;
without one its tests skip and are counted. ``RESCORE_LIVE_CASES`` is the number of random cases (``make soak`` takes
more), ``RESCORE_SEED`` the first of their seeds. Nothing of a tool is kept.
"""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from bench.installed import IN_ORDER, Installed, command
from pipeline.cli import main
from tests.conftest import require_or_skip

N_CASES = int(os.environ.get("RESCORE_LIVE_CASES", "10"))
SEED = int(os.environ.get("RESCORE_SEED", "1"))
PATIENCE_S = 120

Row = tuple[str, ...]
Found = list[tuple[str, Any, Any]]
"""Differences: what, ours, the tool's."""


SHOWN = 5


def differing(compared: Callable[[int, Path], Found], place: Path) -> dict[int, Found]:
    """The first differences of the random cases of this run, by seed; each case has a folder of its own, which is kept
    where it differs."""
    wrong: dict[int, Found] = {}
    for seed in range(SEED, SEED + N_CASES):
        folder = place / str(seed)
        folder.mkdir()
        if found := compared(seed, folder):
            wrong[seed] = found[:SHOWN]
        else:
            shutil.rmtree(folder)
    return wrong


def started(tool: Installed) -> tuple[str, ...]:
    """The words that start a tool; skips, or fails where it is required, without it."""
    start = command(tool, None)
    require_or_skip(tool.name.lower(), not isinstance(start, str), f"{tool.name} is {start}")
    return start if not isinstance(start, str) else ()


def run(start: Sequence[str], words: Sequence[str], place: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool in a folder of its own; what it prints is read as text, whatever it is."""
    environment = {**os.environ, **IN_ORDER}
    return subprocess.run(
        [*start, *words], cwd=place, env=environment, capture_output=True, text=True, errors="replace",
        timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def ours(words: Sequence[str]) -> tuple[int, dict[str, Any]]:
    """``rescore score`` in this process: exit code and document."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        status = main(["score", *words, "--json", "--curve"])
    return status, json.loads(out.getvalue() or "{}")


def number(text: str) -> float | None:
    """A printed number; None for what is not one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def close(seen: Any, wanted: Any, *, rel: float = 1e-12, places: int | None = None) -> bool:
    """Equal as far as the tool prints: to ``places`` decimals, else relatively; undefined alike."""
    if seen is None or wanted is None or isinstance(seen, str):
        return seen is None and wanted is None
    if places is not None:
        return abs(seen - wanted) <= 0.5000001 * 10.0**-places
    return math.isclose(seen, wanted, rel_tol=rel, abs_tol=1e-13)


def points(path: Path, columns: Sequence[int]) -> list[list[float | None]]:
    """Columns of a file of points, without its comments; what is undefined has no letters."""
    lines = [line.split(" ") for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [[number(line[at]) for at in columns] for line in lines]


def alignment_differences(own: Counter[Row], tools: Counter[Row]) -> Found:
    """Rows of file, channel, keyword, begin and end of the reference, those of the detection, score, decision, outcome.

    What is equally good the tools choose at random: the same detections, with occurrences that they overlap as much.
    """
    extra, lacking = own - tools, tools - own
    if _merit(extra) == _merit(lacking):
        return []
    return [("alignment", sorted(extra)[:3], sorted(lacking)[:3])]


def _merit(rows: Counter[Row]) -> tuple[list[Row], float]:
    """The detections that are mapped, and the sum of what they overlap of their occurrences."""
    mapped = [row for row in rows.elements() if row[3] and row[5]]
    overlap = 0.0
    for row in mapped:
        ref_begin, ref_end, begin, end = map(float, row[3:7])
        overlap += (min(ref_end, end) - max(ref_begin, begin)) / max(ref_end - ref_begin, 1e-5)
    return sorted((*row[:3], *row[5:]) for row in mapped), round(overlap, 6)


def curve_differences(seen: Sequence[dict[str, Any]], wanted: Sequence[Sequence[float | None]]) -> Found:
    """Ours against points (threshold, P_miss, P_FA, value), thresholds exactly."""
    found: Found = []
    if len(seen) != len(wanted):
        return [("curve points", len(seen), len(wanted))]
    names = ("threshold", "p_miss", "p_fa", "twv")
    for place, (point, values) in enumerate(zip(seen, wanted, strict=True)):
        for name, value in zip(names, values, strict=True):
            if not close(point[name], value):
                found.append((f"curve {place} {name}", point[name], value))
    return found
