"""What a small cell costs all in: ``python -m bench.small`` (100 and 1,000 cells on a local cluster of two workers).

CPU seconds a cell of the run's own process, of the workers and of Prefect's server, and the peak of memory of the run's
own process, which is to be flat within 20 % from the first number of cells to the last: fails where it is not. They are
sampled twice a second: what a process burns in its last half second is left out.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench import rescore

N_QUERIES, N_FILES, N_ROWS = 20, 20, 200
EVERY_S = 0.5
MOST_GROWN = 1.2
"""Peak of memory at the last number of cells, by that at the first."""


@dataclass(frozen=True)
class SmallCost:
    """Of one run of small cells."""

    wall_s: float
    whole_cpu_s: float
    cpu_s: dict[str, float]
    """By kind of process."""
    peak_rss_bytes: int
    """Of the run's own process."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.small", description=__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[100, 1000], help="cells of each run (default: both)")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args(argv)
    rescore.N_QUERIES, rescore.N_FILES = N_QUERIES, N_FILES
    peaks = []
    for n_cells in args.cells:
        with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
            place = Path(folder)
            rescore.write(place, n_cells // 4, N_ROWS)
            cost = run(place, args.workers)
        told(n_cells, cost)
        peaks.append(cost.peak_rss_bytes)
    return int(peaks[-1] > MOST_GROWN * peaks[0])


def run(place: Path, workers: int) -> SmallCost:
    """``rescore run`` on a cluster of its own, looked at until it ends."""
    own: list[str | Path] = ["--store", place / "store", "--cluster", "local", "--workers", str(workers), "--quiet"]
    command, start = [rescore.RESCORE, "run", place / "evaluation.yaml", *own], time.perf_counter()
    seen: dict[psutil.Process, tuple[str, float]] = {}
    peak, before = 0, resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        top = psutil.Process(child.pid)
        while child.poll() is None:
            peak = max(peak, look(top, seen))
            time.sleep(EVERY_S)
        if child.returncode:
            raise SystemExit(f"rescore run ended with {child.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole_cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cpu_s: dict[str, float] = {}
    for kind, spent_s in seen.values():
        cpu_s[kind] = cpu_s.get(kind, 0.0) + spent_s
    return SmallCost(time.perf_counter() - start, whole_cpu_s, cpu_s, peak)


def look(top: psutil.Process, seen: dict[psutil.Process, tuple[str, float]]) -> int:
    """Note what every process of a run has burnt; returns the memory of its own process."""
    rss = 0
    try:
        for process in (top, *top.children(recursive=True)):
            spent = process.cpu_times()
            kind = seen[process][0] if process in seen else kind_of(top, process)
            seen[process] = kind, spent.user + spent.system
        rss = top.memory_info().rss
    except psutil.NoSuchProcess:
        pass  # it ended between two questions
    return rss


def kind_of(top: psutil.Process, process: psutil.Process) -> str:
    """Main, server, or workers: whatever else a run starts is of its cluster."""
    if process == top:
        return "main"
    words = " ".join(process.cmdline())
    return "server" if "uvicorn" in words or "prefect" in words else "workers"


def told(n_cells: int, cost: SmallCost) -> None:
    """One line."""
    each = ", ".join(f"{kind} {spent_s / n_cells:.3f}" for kind, spent_s in sorted(cost.cpu_s.items()))
    print(
        f"{n_cells:>5} cells: {cost.whole_cpu_s / n_cells:.3f} s of CPU a cell ({each}), {cost.wall_s:.1f} s wall, "
        f"main's peak {cost.peak_rss_bytes / 1e6:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
