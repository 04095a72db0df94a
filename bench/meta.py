"""Replicates at scale: ``python -m bench.meta``. Many systems, MTWV found anew in every replicate, on worker processes.

Draws everything twice, with other tasks and other numbers of workers, and compares the bits.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from bench.__main__ import write_inputs
from flows.settings import ONE_THREAD
from pipeline.engine.cell import score_cell
from pipeline.engine.plan import Plan, plan
from pipeline.meta.cells import open_cell
from pipeline.meta.intervals import Resampling
from pipeline.meta.resamples import collected, draws, work
from pipeline.store.blobs import Store
from pipeline.terms import Dataset, Evaluation, QuerySet, System


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.meta", description=__doc__)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--rows", type=int, default=20_000, help="detections of each system (default: 20000)")
    parser.add_argument("--replicates", type=int, default=1000)
    args = parser.parse_args(argv)
    how = Resampling(n_replicates=args.replicates)
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        made, scored = prepared(Path(folder), args.systems, args.rows)
        found = []
        for workers, per_task in ((2, 250), (1, 100)):
            store = copied(scored, Path(folder) / f"store-{workers}")
            began = time.monotonic()
            seconds = drawn(store, made, how, workers, per_task)
            print(
                f"{workers} workers, {per_task} a task: {seconds:.1f} s of drawing, "
                f"{time.monotonic() - began:.1f} s with the cluster's start"
            )
            found.append(values_of(store, made, how, per_task))
    same = all(np.array_equal(a.view(np.int64), b.view(np.int64)) for a, b in zip(*found, strict=True))
    print(f"{len(found[0])} systems x {found[0][0].size} replicates of MTWV: the same bits: {same}")


def prepared(folder: Path, n_systems: int, rows: int) -> tuple[Plan, Store]:
    """Systems with outputs of their own, scored."""
    write_inputs(folder, rows)
    text = (folder / "a.stdlist.xml").read_text()
    systems = []
    for at in range(n_systems):
        path = folder / f"{at:02d}.xml"
        path.write_text(text.replace('score="0.', f'score="0.{at:02d}'))
        systems.append(System(f"s{at:02d}", outputs={("a", "a"): str(path)}))
    evaluation = Evaluation(
        name="bench",
        protocol="sws2013",
        mode="official",
        overrides=(),
        datasets=(Dataset("a", str(folder / "a.ecf.xml"), str(folder / "a.rttm")),),
        query_sets=(QuerySet("a", str(folder / "a.tlist.xml")),),
        systems=tuple(systems),
    )
    store = Store(str(folder / "store"))
    made = plan(evaluation, store)
    for job in made.jobs:
        score_cell(store, made, job.cell)
    return made, store


def copied(store: Store, folder: Path) -> Store:
    """The same objects in another place."""
    other = Store(str(folder))
    for path in store.listing():
        other.put(path, store.get(path))
    return other


def drawn(store: Store, made: Plan, how: Resampling, workers: int, per_task: int) -> float:
    """Seconds that drawing takes on a cluster."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, env=ONE_THREAD) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        began = time.monotonic()
        client.gather(
            [client.submit(work, store, one, how, pure=False) for one in draws(made, ("mtwv",), how, per_task)]
        )
        return time.monotonic() - began


def values_of(store: Store, made: Plan, how: Resampling, per_task: int) -> list[np.ndarray]:
    values = []
    for job in made.jobs:
        cell = open_cell(store, made, job)
        sample = "" if isinstance(cell, str) else cell.sample("mtwv")
        if isinstance(cell, str) or isinstance(sample, str):
            raise TypeError(f"{job.cell}: {cell if isinstance(cell, str) else sample}")
        wanted = [one for one in draws(made, ("mtwv",), how, per_task) if one.cell == job.cell]
        values.append(collected(store, cell, sample, wanted, how))
    return values


if __name__ == "__main__":
    main()
