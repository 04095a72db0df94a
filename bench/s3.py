"""The made-up evaluation of ``rescore demo``, stored on disk and in a bucket: ``python -m bench.s3``.

A SeaweedFS on loopback serves the bucket. Everything is scored in this process: once from nothing, and once more with
nothing to do, when every object of the run is read and checked. Prints wall and CPU seconds of this process, and how
many requests the same takes, counted by a proxy in a pass of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from s3fs import S3FileSystem

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.demo.evaluation import write_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.engine.stored import references
from pipeline.grid import check_objects, latest
from pipeline.store.blobs import Store
from tests.s3_faults import FaultProxy, spoiling
from tests.s3_server import environment, serving


def main() -> int:
    """Disk, bucket, and the bucket's requests."""
    with tempfile.TemporaryDirectory(prefix="rescore-s3-") as folder:
        evaluation = str(write_evaluation(Path(folder, "evaluation")))
        Path(folder, "s3").mkdir()
        measured(evaluation, Store(str(Path(folder, "store"))), "disk")
        with serving(Path(folder, "s3")) as server, spoiling(server.endpoint) as proxy:
            os.environ.update(environment(server.endpoint))
            bucket = server.bucket()
            measured(evaluation, Store(f"s3://{bucket}/timed"), "bucket")
            os.environ.update(environment(proxy.endpoint))
            S3FileSystem.clear_instance_cache()
            counted(evaluation, Store(f"s3://{bucket}/counted"), proxy)
    return 0


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


def counted(evaluation: str, store: Store, proxy: FaultProxy) -> None:
    """Both runs, by their requests."""
    for _ in range(2):
        proxy.seen.clear()
        n_cells = score(evaluation, store)
        methods = Counter(method for method, _ in proxy.seen)
        each = f", {len(proxy.seen) / n_cells:.0f} a cell" if n_cells else ""
        told = ", ".join(f"{n} {method}" for method, n in methods.most_common())
        print(f"bucket  {n_cells:3d} cells scored: {len(proxy.seen)} requests{each} ({told})")


if __name__ == "__main__":
    sys.exit(main())
