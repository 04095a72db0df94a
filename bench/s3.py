"""Runs on disk and in a bucket, and the requests that they take: ``python -m bench.s3``.

A SeaweedFS on loopback serves the bucket. Everything is scored in this process: once from nothing, and once more with
nothing to do, when every object of the run is read and checked. The made-up evaluation of ``rescore demo`` prints wall
and CPU seconds of this process. Then a proxy counts requests by kind: of the demo, and of twelve systems with 20 and
with 500 queries, on one query list and on five that share their outputs. Fails where a cell takes more than it may.
``python -m bench.s3_latency`` plays a bucket that is far away.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from s3fs import S3FileSystem

from bench.s3_cells import write_cells
from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.demo.evaluation import write_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.engine.stored import references
from pipeline.grid import check_objects, latest
from pipeline.store.blobs import Store
from tests.s3_faults import KINDS, FaultProxy, spoiling
from tests.s3_server import environment, serving

MOST_REQUESTS = 20
"""Of a cell, with its part of plan and publication."""
N_SYSTEMS = 12


def main() -> int:
    """Disk, bucket, and the bucket's requests; 1 where a cell takes too many."""
    with tempfile.TemporaryDirectory(prefix="rescore-s3-") as folder:
        place = Path(folder)
        demo = str(write_evaluation(place / "evaluation"))
        (place / "s3").mkdir()
        measured(demo, Store(str(place / "store")), "disk")
        with serving(place / "s3") as server, spoiling(server.endpoint) as proxy:
            os.environ.update(environment(server.endpoint))
            bucket = server.bucket()
            measured(demo, Store(f"s3://{bucket}/timed"), "bucket")
            os.environ.update(environment(proxy.endpoint))
            S3FileSystem.clear_instance_cache()
            most = counted(demo, Store(f"s3://{bucket}/demo"), proxy, "demo")
            for n_queries in (20, 500):
                for n_lists in (1, 5):
                    name = f"{n_queries}-{n_lists}"
                    made = write_cells(place / name, N_SYSTEMS, n_queries, n_lists)
                    told = f"{n_queries} queries, {n_lists} list{'s' if n_lists > 1 else ''}"
                    most = max(most, counted(str(made), Store(f"s3://{bucket}/{name}"), proxy, told))
    return int(most > MOST_REQUESTS)


def score(evaluation: str, store: Store) -> int:
    """A run, in this process; how many cells were scored."""
    references.load.cache_clear()
    work = plan(load_evaluation(evaluation), store)
    todo = missing(work.jobs, store)
    if todo:
        finish(store, work, score_here(store, work, todo))
    else:
        run = latest(store, work.evaluation)
        if run is None:
            raise RuntimeError("nothing was published")
        check_objects(store, run)
    return len(todo)


def measured(evaluation: str, store: Store, name: str) -> None:
    """Both runs, timed."""
    for _ in range(2):
        wall_s, cpu_s = time.perf_counter(), time.process_time()
        n_cells = score(evaluation, store)
        wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
        print(f"{name:<7} {n_cells:3d} cells scored: {wall_s:6.2f} s wall, {cpu_s:6.2f} s CPU")


def counted(evaluation: str, store: Store, proxy: FaultProxy, name: str) -> float:
    """Both runs, by their requests, and the objects left; requests of each cell scored."""
    most = 0.0
    for _ in range(2):
        proxy.kinds.clear()
        n_cells = score(evaluation, store)
        n_requests, n_each = proxy.kinds.total(), proxy.kinds.total() / max(n_cells, 1)
        each = f", {n_each:.1f} a cell" if n_cells else ""
        kinds = ", ".join(f"{proxy.kinds[kind]} {kind}" for kind in KINDS if proxy.kinds[kind])
        print(f"{name:<20} {n_cells:3d} cells scored: {n_requests:4d} requests{each} ({kinds})")
        most = max(most, n_each if n_cells else 0.0)
    print(f"{name:<20} {len(store.listing())} objects")
    return most


if __name__ == "__main__":
    sys.exit(main())
