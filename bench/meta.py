"""Replicates at scale: ``python -m bench.meta``. Many systems, MTWV found anew in every replicate, on worker processes.

Draws everything again with other numbers of workers and other partitions into tasks, and compares the bits of all.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from distributed import Client, LocalCluster

from bench.stages import write_inputs
from flows.settings import ONE_THREAD
from pipeline.arrays import Floats
from pipeline.engine.cell import score_cell
from pipeline.engine.plan import Plan, plan
from pipeline.meta.cells import OpenCell, open_cell
from pipeline.meta.intervals import BoardIntervals, Resampling, board_of
from pipeline.meta.resamples import collected, draws, work
from pipeline.metrics.statistics.resampling import Sample
from pipeline.store.blobs import Store
from pipeline.terms import Dataset, Evaluation, QuerySet, System

MEASURE = "mtwv"
PARTITIONS = ((2, 250), (1, 100), (2, 37))
"""Worker processes, and replicates of a task."""


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.meta", description=__doc__)
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--rows", type=int, default=20_000, help="detections of each system (default: 20000)")
    parser.add_argument("--replicates", type=int, default=1000)
    args = parser.parse_args(argv)
    how = Resampling(n_replicates=args.replicates, method="bca")
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        made, scored = prepared(Path(folder), args.systems, args.rows)
        print(f"{args.systems} systems of {args.rows:,} detections, scored; {args.replicates} replicates of {MEASURE}")
        found = []
        for at, (workers, per_task) in enumerate(PARTITIONS):
            store = copied(scored, Path(folder) / f"store-{at}")
            cost = drawn(store, made, how, workers, per_task)
            print(f"{workers} workers, {per_task:>3} a task: {cost.n_tasks} tasks, {cost.wall_s:.1f} s, CPU of workers "
                  f"{cost.cpu_s:.1f} s", flush=True)  # fmt: skip
            found.append(values_of(store, made, how, per_task))
        began_s = time.process_time()
        board = told(scored, made, how, found[0])
        print(f"intervals, {len(board.comparisons)} paired tests and ties from them: "
              f"CPU {time.process_time() - began_s:.1f} s")  # fmt: skip
    alike = {b"".join(found_here[name].tobytes() for name in sorted(found_here)) for found_here in found}
    print(f"{len(found)} partitions, {len(alike)} outcome{'s' if len(alike) > 1 else ''}")
    if len(alike) > 1:
        raise SystemExit("the bits depend on the partition")


@dataclass(frozen=True)
class Cost:
    """What drawing took, without the cluster's start."""

    n_tasks: int
    wall_s: float
    cpu_s: float


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


def drawn(store: Store, made: Plan, how: Resampling, workers: int, per_task: int) -> Cost:
    """Draw all replicates on a cluster, in tasks of ``per_task``."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", env=ONE_THREAD
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        before_s = sum(client.run(time.process_time).values())
        began_s = time.monotonic()
        tasks = draws(made, (MEASURE,), how, per_task)
        client.gather([client.submit(work, store, one, how, pure=False) for one in tasks])
        wall_s = time.monotonic() - began_s
        return Cost(len(tasks), wall_s, sum(client.run(time.process_time).values()) - before_s)


def samples_of(store: Store, made: Plan) -> dict[str, tuple[OpenCell, Sample]]:
    """By system: its cell and its figure as a function of its queries."""
    found = {}
    for job in made.jobs:
        cell = open_cell(store, made, job)
        sample = cell if isinstance(cell, str) else cell.sample(MEASURE)
        if isinstance(cell, str) or isinstance(sample, str):
            raise TypeError(f"{job.cell}: {sample}")
        found[job.cell.system] = cell, sample
    return found


def values_of(store: Store, made: Plan, how: Resampling, per_task: int) -> dict[str, Floats]:
    """By system: all replicates, from the parts that tasks left in the store."""
    tasks = draws(made, (MEASURE,), how, per_task)
    n_left = len(store.listing("resamples"))
    if n_left != len(tasks):
        raise ValueError(f"{len(tasks)} tasks left {n_left} objects")
    return {
        system: collected(store, cell, sample, [one for one in tasks if one.cell.system == system], how)
        for system, (cell, sample) in samples_of(store, made).items()
    }


def told(store: Store, made: Plan, how: Resampling, values: dict[str, Floats]) -> BoardIntervals:
    """The board that the replicates make."""
    samples = {system: sample for system, (_, sample) in samples_of(store, made).items()}
    return board_of(("a", "a"), MEASURE, samples, how, drawn=values)


if __name__ == "__main__":
    main()
