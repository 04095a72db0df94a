"""One way of ``WAYS`` of a module, measured without its process's start: ``python -m bench.inside MODULE WAY …``.

What ``WAYS`` names takes the rest of the arguments, prepares, and returns what is to be measured. That returns what
came out, or a function that tells once time is no longer taken. Processor time, time by the clock, the highest memory
from there on, and memory beyond what there was before (Linux) are printed as JSON.
"""

from __future__ import annotations

import importlib
import json
import math
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.measured import ADDED, CPU, MEMORY, WALL


@dataclass(frozen=True)
class Made:
    """What came out, in JSON's types, and figures by quantity that are no times."""

    found: Any = None
    figures: Mapping[str, float] = field(default_factory=dict)


Run = Callable[[], "Made | Callable[[], Made]"]
Ways = Mapping[str, Callable[..., Run]]


def main(argv: Sequence[str]) -> None:
    module, way, *arguments = argv
    run = importlib.import_module(module).WAYS[way](*arguments)
    before_kib = _forgotten_kib()
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    result = run()
    cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
    added = (_highest_kib() - before_kib) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    made = result() if callable(result) else result
    figures = {CPU: cpu_s, WALL: wall_s, MEMORY: peak, ADDED: added, **made.figures}
    print(json.dumps({"figures": figures, "found": made.found}))


def _forgotten_kib() -> float:
    """Have the highest memory so far forgotten, and say what there is now; NaN where that cannot be had."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return math.nan
    return _highest_kib()


def _highest_kib() -> float:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return math.nan
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


if __name__ == "__main__":
    main(sys.argv[1:])
