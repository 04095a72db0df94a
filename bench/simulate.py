"""A real Dask scheduler, simulated workers: what scheduling costs a cell of 1e8 to 1e12 trials on 10 to 1000 workers.

``python -m bench.simulate`` prints the table of ``bench/SIMULATION.md``, which tells the model and its limits.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import multiprocessing
import resource
from collections.abc import Sequence
from multiprocessing.connection import Connection

import dask
from distributed import Scheduler

from bench.simulated import Model, Outcome, Pass, Simulation
from pipeline.engine.work import size_text

MI = 1 << 20

PASSES = (
    Pass("align", cpu_ns=60, read_bytes=6.0, sum_bytes=100_000),
    Pass("histogram", cpu_ns=14, read_bytes=1.6, sum_bytes=92_000),
    Pass("refine", cpu_ns=3, read_bytes=1.6, sum_bytes=20_000),
    Pass("newton", cpu_ns=18, read_bytes=1.6, sum_bytes=2_000),
    Pass("confirm", cpu_ns=18, read_bytes=1.6, sum_bytes=2_000),
)
CASES = (
    (10**8, 10, 4 * MI),
    (10**8, 100, MI),
    (10**10, 10, 64 * MI),
    (10**10, 100, 64 * MI),
    (10**10, 100, MI),
    (10**10, 1000, 8 * MI),
    (10**12, 100, 64 * MI),
    (10**12, 1000, 64 * MI),
)
"""Trials, workers, trials a task."""


async def simulated(model: Model, n_trials: int, n_workers: int, trials_per_task: int) -> Outcome:
    """One cell on a scheduler of its own."""
    quiet = {"distributed.scheduler.work-stealing": False, "distributed.admin.log-length": 0}
    with dask.config.set(quiet):
        async with Scheduler(
            dashboard=False, dashboard_address="127.0.0.1:0", protocol="tcp", host="127.0.0.1", port=0
        ) as scheduler:
            simulation = Simulation(scheduler, model, n_trials, trials_per_task)
            await simulation.add_workers(n_workers)
            outcome = await simulation.run()
            await simulation.end()
            return outcome


def alone(model: Model, case: tuple[int, int, int], answers: Connection) -> None:
    """A case in a process of its own, whose memory is then the scheduler's."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = asyncio.run(simulated(model, *case))
    outcome.scheduler_peak_bytes = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    answers.send(outcome)


def main(argv: Sequence[str] | None = None) -> None:
    """Simulate the cases and print a row of each."""
    parser = argparse.ArgumentParser(prog="python -m bench.simulate", description=__doc__)
    parser.add_argument("--trials", type=float, help="one case only: trials of the cell, as 1e10")
    parser.add_argument("--workers", type=int, default=100)
    parser.add_argument("--trials-per-task", type=float, default=64 * MI)
    options = parser.parse_args(argv)
    one = (int(options.trials or 0), options.workers, int(options.trials_per_task))
    print(HEADING)
    for case in [one] if options.trials else CASES:
        here, there = multiprocessing.get_context("spawn").Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(target=alone, args=(Model(PASSES), case, there))
        process.start()
        there.close()
        print(row(case, here.recv()), flush=True)
        process.join()


HEADING = """\
| trials | workers | trials a task | tasks | wall | workers busy | scheduler CPU | share of wall | \
scheduler memory | moved between workers | messages | held by a worker |
|---|---|---|---|---|---|---|---|---|---|---|---|"""


def row(case: tuple[int, int, int], outcome: Outcome) -> str:
    """A line of the table."""
    n_trials, n_workers, per_task = case
    cells = (
        f"1e{len(str(n_trials)) - 1}",
        n_workers,
        f"{per_task / MI:g} Mi",
        f"{outcome.n_tasks:,}",
        f"{outcome.wall_s:,.1f} s",
        f"{outcome.worker_busy_s / (n_workers * outcome.wall_s):.0%}",
        f"{outcome.scheduler_cpu_s:.2f} s",
        f"{outcome.scheduler_cpu_s / outcome.wall_s:.1%}",
        size_text(outcome.scheduler_peak_bytes),
        size_text(outcome.moved_bytes),
        size_text(outcome.control_bytes),
        size_text(outcome.held_bytes),
    )
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
