"""A keyword search output from its XML file to figures, in a process of its own: ``python -m bench.score``.

Beside ``rescore score``, all of its figures, with the compiled reader and without: a plain pandas notebook that makes
ATWV and MTWV only, and the same cell from trials that a store holds, aligned anew under another tolerance. Prints CPU
and wall seconds, nanoseconds of CPU a detection and the highest memory of each process, and how many times less than
the notebook. One thread each; Python's and the compiled reader's caches are warm.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.kws_files import write_files

SIZES = (100_000, 1_000_000, 5_000_000)
_PLAIN = "import sys; sys.modules['numba'] = None; from pipeline.cli import main; sys.exit(main(sys.argv[1:]))"
_STORED = """
import sys
from pipeline.engine.cell import score_cell
from pipeline.engine.plan import plan
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Dataset, Evaluation, QuerySet, System
place, tolerance_s, *paths = sys.argv[1:]
ecf, rttm, kwlist, output = paths
evaluation = Evaluation(
    name="bench", protocol="openkws13", mode="official", overrides=(("tolerance_s", tolerance_s),),
    datasets=(Dataset("d", ecf, rttm),), query_sets=(QuerySet("q", kwlist),),
    systems=(System("s", outputs={("q", "d"): output}),),
)
store = Store(place)
score_cell(store, plan(evaluation, store), Cell("q", "d", "s"))
"""


@dataclass(frozen=True)
class Spent:
    """What a process took."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.score", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES, help="detections (default: 1e5, 1e6 and 5e6)")
    parser.add_argument("--times", type=int, default=1, help="runs of each, of which the least CPU counts (default: 1)")
    args = parser.parse_args(argv)
    for rows in args.rows:
        with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
            inputs = write_files(Path(folder), rows)
            print(f"{rows} detections, {Path(inputs['output']).stat().st_size / 1e6:.1f} MB", flush=True)
            measure(inputs, Path(folder), rows, args.times)


def measure(inputs: dict[str, str], folder: Path, rows: int, times: int) -> None:
    """All routes on the same files, a line each."""
    paths = [inputs[role] for role in ("ecf", "rttm", "kwlist", "output")]
    options = [word for pair in zip(("-e", "-r", "-t", "-s"), paths, strict=True) for word in pair]
    scoring = ["score", "--protocol", "openkws13", *options, "--json"]
    spend([sys.executable, "-m", "pipeline.cli", *scoring])  # fills the caches
    notebook = least([sys.executable, "-m", "bench.notebook", *paths], times)
    show("pandas notebook", notebook, notebook, rows)
    show("rescore score", least([sys.executable, "-m", "pipeline.cli", *scoring], times), notebook, rows)
    show("rescore score, not compiled", least([sys.executable, "-c", _PLAIN, *scoring], times), notebook, rows)
    stored = [sys.executable, "-c", _STORED, str(folder / "store")]
    show("into a new store", spend([*stored, "0.5", *paths]), notebook, rows)
    show("from stored trials", spend([*stored, "0.4", *paths]), notebook, rows)


def least(command: Sequence[str], times: int) -> Spent:
    """The run of least CPU time."""
    return min((spend(command) for _ in range(times)), key=lambda spent: spent.cpu_s)


def spend(command: Sequence[str]) -> Spent:
    """Run a command to its end."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA")}
    environment = {**os.environ, **threads}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command[:4]} ended with {child.returncode}")
    return Spent(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024)


def show(name: str, spent: Spent, notebook: Spent, rows: int) -> None:
    """One line of the table."""
    ratios = f"{notebook.cpu_s / spent.cpu_s:6.1f} x less CPU, {notebook.peak_mb / spent.peak_mb:5.1f} x less memory"
    per_row = f"{spent.cpu_s / rows * 1e9:6.0f} ns a detection"
    print(
        f"{name:<28} {spent.cpu_s:7.2f} s CPU {spent.wall_s:7.2f} s wall {per_row} {spent.peak_mb:6.0f} MB {ratios}",
        flush=True,
    )


if __name__ == "__main__":
    main()
