"""The simulation of large cells: every task of the real scheduler's graph is done, once."""

from __future__ import annotations

import asyncio

from bench.simulate import simulated
from bench.simulated import Model, Outcome, Pass

ONE = Pass("one", cpu_ns=1000, read_bytes=0, sum_bytes=10, merge_cpu_s=0)
MODEL = Model((ONE, ONE), latency_s=0, task_cpu_s=0)
N_PARTS, PART_S = 64, 1.0


def simulate(n_workers: int) -> Outcome:
    """64 parts of a second's work, twice."""
    return asyncio.run(simulated(MODEL, N_PARTS * 10**6, n_workers, 10**6))


def test_all_work_is_done_once_and_shared_out() -> None:
    alone, many = simulate(1), simulate(8)
    for outcome in (alone, many):
        assert outcome.n_tasks == 2 * (64 + 8 + 1)
        assert abs(outcome.worker_busy_s - 2 * N_PARTS * PART_S) < 0.01
        assert outcome.scheduler_cpu_s > 0
        assert outcome.control_bytes > 0
    assert alone.moved_bytes == 0
    assert many.moved_bytes > 0
    assert alone.wall_s >= 128
    assert 16 <= many.wall_s < 24
