"""What commands cost before they score anything: ``python -m bench.startup`` (one small cell; some two minutes).

Seconds by the clock and of processor time, with all processes that a command starts and ends: the least of several
runs, since whatever else the machine does lengthens both. What a standing Prefect server takes for a run is told beside
it. Aims are by the clock, for two cores that nobody else uses. Ends with 1 where a command fails, not where an aim is
missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.servers import PrefectServer
from pipeline.demo.evaluation import write_evaluation

RESCORE = Path(sys.executable).parent / "rescore"
INPUTS = {
    "-e": "datasets/eval.ecf.xml",
    "-r": "datasets/eval.rttm",
    "-t": "queries/eval-q.tlist.xml",
    "-s": "systems/aurora/eval-q_eval.stdlist.xml",
}
EVALUATION = """name: one-cell
protocol: sws2013
datasets: {eval: {ecf: datasets/eval.ecf.xml, rttm: datasets/eval.rttm}}
query_sets: {eval-q: {kwlist: queries/eval-q.tlist.xml}}
systems: {aurora: {outputs: {eval-q/eval: systems/aurora/eval-q_eval.stdlist.xml}}}
"""
FOREIGN = ("PREFECT_", "DASK_", "RESCORE_", "PYTHONDONTWRITEBYTECODE")
"""Variables of whoever measures that commands do not get: settings, and a Python that compiles all it imports anew."""


@dataclass(frozen=True)
class Took:
    """Of one run. ``server_cpu_s`` is what a standing server took meanwhile."""

    wall_s: float
    cpu_s: float
    server_cpu_s: float = 0.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.startup", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each command (default: 3)")
    runs = parser.parse_args(argv).runs
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        place = Path(folder)
        write_evaluation(place)
        (place / "one.yaml").write_text(EVALUATION)
        try:
            measure(place, runs)
        except subprocess.CalledProcessError as error:
            print(f"{' '.join(map(str, error.cmd))} ended with {error.returncode}:\n{error.stderr}", file=sys.stderr)
            return 1
    return 0


def measure(place: Path, runs: int) -> None:
    """One line for each command."""
    score = ["score", "--protocol", "sws2013", "--json", *(part for pair in INPUTS.items() for part in pair)]
    run = ["run", "one.yaml", "--store", "store", "--cluster", "local", "--json"]
    home = {"PREFECT_HOME": str(place / "home")}

    def afresh() -> None:
        shutil.rmtree(place / "store", ignore_errors=True)

    def anew() -> None:
        afresh()
        shutil.rmtree(place / "home", ignore_errors=True)

    told("rescore score, one small cell", least(place, runs, score), 2.0)
    told("rescore run, embedded server, new database", least(place, runs, run, home, anew), 25.0)
    told("rescore run, embedded server, its database there", least(place, runs, run, home, afresh))
    told("rescore run, nothing to do", least(place, runs, run, home))
    with standing(place / "server") as server:
        took = least(place, runs, run, server.environment, afresh, psutil.Process(server.pid))
    told("rescore run, Prefect server running", took, 5.0)


@contextmanager
def standing(home: Path) -> Iterator[PrefectServer]:
    """A Prefect server with a database of its own."""
    server = PrefectServer(home, f"sqlite+aiosqlite:///{home}/prefect.db")
    try:
        server.start()
        yield server
    finally:
        server.kill()


def least(
    place: Path,
    runs: int,
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] = lambda: None,
    server: psutil.Process | None = None,
) -> Took:
    """The least of several runs of a command, each after ``before``."""
    found = []
    for _ in range(runs):
        before()
        found.append(once(place, arguments, environment or {}, server))
    return Took(*(min(values) for values in zip(*((t.wall_s, t.cpu_s, t.server_cpu_s) for t in found), strict=True)))


def once(
    place: Path, arguments: Sequence[str], environment: Mapping[str, str], server: psutil.Process | None = None
) -> Took:
    """One run of a command. Raises ``CalledProcessError`` where it fails."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    before, busy_s, start = resource.getrusage(resource.RUSAGE_CHILDREN), cpu_of(server), time.perf_counter()
    command = [RESCORE, *arguments]
    subprocess.run(command, cwd=place, env={**own, **environment}, check=True, capture_output=True, text=True)
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall_s, cpu_s, cpu_of(server) - busy_s)


def cpu_of(process: psutil.Process | None) -> float:
    """Processor time that a process has taken so far."""
    times = None if process is None else process.cpu_times()
    return 0.0 if times is None else times.user + times.system


def told(name: str, took: Took, aim_s: float | None = None) -> None:
    """One line, with the aim where there is one."""
    aim = "" if aim_s is None else f", aim {aim_s:g} s: {'met' if took.wall_s <= aim_s else 'missed'}"
    server = f" and {took.server_cpu_s:.1f} s of the server's" if took.server_cpu_s else ""
    print(f"{name:<49} {took.wall_s:6.2f} s wall {took.cpu_s:6.2f} s CPU{server}{aim}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
