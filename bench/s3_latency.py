"""A run of many small cells against a bucket that is far away: ``python -m bench.s3_latency``.

A real S3 server (SeaweedFS) on loopback stands behind a proxy, a process of its own, that forwards every request 30 ms
late. 200 small cells are planned, scored on a Dask cluster of 4 worker threads of this process (8 cells in flight) and
published. Prints wall seconds of each part, CPU seconds of this process, and how many requests it took.

The script asks nothing of a version but what all have, so that an older one can be measured by the same lines:
``PYTHONPATH=OLD:. OLD/.venv/bin/python bench/s3_latency.py`` with the worktree of that version as ``OLD``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from distributed import Client, LocalCluster

from bench.s3_cells import write_cells
from flows.steps import finish
from pipeline.config import load_evaluation
from pipeline.engine.cell import do_cell
from pipeline.engine.plan import missing, plan
from pipeline.engine.work import total
from pipeline.store.blobs import Store
from tests.s3_faults import spoiling
from tests.s3_server import environment, serving

N_THREADS, IN_FLIGHT = 4, 8


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.s3_latency", description=__doc__)
    parser.add_argument("--systems", type=int, default=200, help="cells of one query set and dataset (default: 200)")
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--latency-ms", type=float, default=30.0)
    parser.add_argument("--proxy", metavar="URL", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.proxy:
        return _delay(args.proxy, args.latency_ms / 1000)
    with tempfile.TemporaryDirectory(prefix="rescore-s3-") as folder:
        evaluation = write_cells(Path(folder, "evaluation"), args.systems, args.queries)
        Path(folder, "s3").mkdir()
        with serving(Path(folder, "s3")) as server, _delaying(server.endpoint, args.latency_ms) as proxy:
            os.environ.update(environment(proxy.endpoint))
            _measure(str(evaluation), Store(f"s3://{server.bucket()}/store"))
        print(f"{proxy.n_requests} requests, {proxy.n_requests / args.systems:.1f} a cell")
    return 0


def _measure(evaluation: str, store: Store) -> None:
    """Plan, score and publish; a line for each."""
    options = {"n_workers": 1, "threads_per_worker": N_THREADS, "processes": False, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        began, cpu_s = time.perf_counter(), time.process_time()
        made = plan(load_evaluation(evaluation), store)
        todo = missing(made.jobs, store)
        planned = time.perf_counter()
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            works = list(pool.map(lambda job: do_cell(store, made, job.cell, client), todo))
        scored = time.perf_counter()
        finish(store, made, total(works))
        ended = time.perf_counter()
        cpu_s = time.process_time() - cpu_s
    print(f"{len(todo)} cells: plan {planned - began:.1f} s, score {scored - planned:.1f} s, ", end="")
    print(f"publish {ended - scored:.1f} s; {ended - began:.1f} s in all, {cpu_s:.1f} s CPU")


class _Proxy:
    """The endpoint of a delaying proxy, and how many requests it has had once it is closed."""

    endpoint = ""
    n_requests = 0


@contextmanager
def _delaying(upstream: str, latency_ms: float) -> Iterator[_Proxy]:
    """A delaying proxy in a process of its own: it takes no turn from the threads that are measured."""
    command = [sys.executable, __file__, "--proxy", upstream, "--latency-ms", str(latency_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        proxy = _Proxy()
        proxy.endpoint = process.stdout.readline().strip()
        try:
            yield proxy
        finally:
            proxy.n_requests = int(process.communicate()[0])


def _delay(upstream: str, latency_s: float) -> int:
    """Be that proxy until standard input ends; then print how many requests came."""
    with spoiling(upstream) as proxy:
        proxy.fault = lambda _method, _path: time.sleep(latency_s)
        print(proxy.endpoint, flush=True)
        sys.stdin.read()
        print(len(proxy.seen), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
