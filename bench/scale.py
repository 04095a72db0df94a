"""Figures of one cell from 1e6 to 1e8 trials that lie in parts: ``python -m bench.scale --trials 1000000 10000000``.

Tasks make up the parts of a cell, some million trials each, and keep them in a store. Then
the cell is concluded from them, with every figure, curve and table of keyword search, on new workers of one thread that
have concluded a tiny cell before; a small one several times, and the cheapest counts, since workers that touch their
memory for the first time have the system clear it. Prints CPU seconds of all workers, nanoseconds a trial, wall time,
and the highest memory of a worker. With two numbers of workers it prints how much faster the second is. Busy machines
blur wall time, so the load average stands beside it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from bench.large import ONE_THREAD, used
from bench.partitions import HIT_SHARE, N_QUERIES, N_REFERENCES
from pipeline.engine.counting import Counted
from pipeline.engine.large import Stored
from pipeline.engine.parts import Parts
from pipeline.engine.runner import runner
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols import find
from pipeline.protocols.base import Conclusion
from pipeline.store.blobs import Store
from pipeline.terms import Facts
from pipeline.trials.schema import N_BUCKETS

ROWS_PER_PART = 1_000_000
REPEATS, ENOUGH_TRIALS = 5, 20_000_000
"""A cell is concluded so often, but not once so many trials were."""
QUERIES = tuple(f"q{number:04d}" for number in range(N_QUERIES))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument(
        "--memory", default="4GiB", help="of a worker; what exceeds it goes to the disk (default: 4GiB)"
    )
    options = parser.parse_args(argv)
    names = ("CPU s", "ns each", "wall s", "peak MB", "load")
    print(f"{'trials':>12} {'parts':>6} {'workers':>8}", *(f"{name:>8}" for name in names))
    for n in options.trials:
        walls = []
        with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
            tiny = parts_of(Path(folder) / "tiny", 20_000, 1, 4 * max(options.workers))
            n_parts = min(N_BUCKETS, max(1, n // ROWS_PER_PART))
            parts = parts_of(Path(folder), n, max(options.workers), n_parts)
            answers = set()
            for n_workers in options.workers:
                wall_s, found = measure(parts, n, n_workers, options.memory, tiny)
                walls.append(wall_s)
                answers.add(repr(vars(found)))
        if len(walls) > 1:
            print(f"{options.workers[-1]} workers are {walls[0] / walls[-1]:.2f} times as fast as {options.workers[0]}")
        print(f"MTWV {found.figures['mtwv'].value!r}" + ("" if len(answers) == 1 else "  THE FIGURES DIFFER"))


def parts_of(place: Path, n_trials: int, n_workers: int, n: int) -> list[Stored]:
    """Parts in a new store, made on a cluster of its own."""
    store = Store(str(place / "store"))
    makers = [partial(made, number, n, n_trials // n) for number in range(n)]
    parts = [Stored(store, f"scratch/00/part.{at}-{at + 1}", make) for at, make in enumerate(makers)]
    with cluster(n_workers, "8GiB") as workers, Client(workers) as client:
        client.gather([client.submit(kept, part, pure=False) for part in parts])
    return parts


def kept(part: Stored) -> None:
    """Task: make a part up."""
    part.ensured()


def made(number: int, n_parts: int, n_trials: int) -> Counted:
    """One part: all trials of some queries."""
    random = np.random.default_rng((number, n_parts))
    low, high = number * N_QUERIES // n_parts, (number + 1) * N_QUERIES // n_parts
    n_reference = N_REFERENCES // n_parts
    query, target = random.integers(0, high - low, n_trials).astype(np.int32), np.zeros(n_trials, np.bool_)
    target[: round(n_reference * HIT_SHARE)] = True
    score = np.where(target, random.normal(3.0, 2.0, n_trials), random.normal(-2.0, 2.0, n_trials)).round(6)
    missed = random.integers(0, high - low, n_reference - int(target.sum())).astype(np.int32)
    ledger = Ledger.of(QUERIES[low:high], query, score, score > 2.0, target, missed)
    return Counted(Outcomes.of(ledger, Tally({})))


def cluster(n_workers: int, memory: str) -> LocalCluster:
    where = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, env=ONE_THREAD, memory_limit=memory, **where)


def measure(
    parts: Sequence[Stored], n_trials: int, n_workers: int, memory: str, tiny: Sequence[Stored]
) -> tuple[float, Conclusion]:
    """Conclude on new workers; the wall time and what came out."""
    with cluster(n_workers, memory) as workers, Client(workers) as client:
        client.wait_for_workers(n_workers)
        concluded(client, tiny, 20_000)
        runs = []
        for _ in range(max(1, min(REPEATS, ENOUGH_TRIALS // n_trials))):
            before, start = client.run(used), time.perf_counter()
            found = concluded(client, parts, n_trials)
            wall_s, after = time.perf_counter() - start, client.run(used)
            runs.append((sum(after[name][0] - before[name][0] for name in after), wall_s))
    cpu_s, wall_s = map(min, zip(*runs, strict=True))
    peak_mb, load = max(peak for _, peak in after.values()), os.getloadavg()[0]
    figures = f"{cpu_s:8.1f} {cpu_s / n_trials * 1e9:8.0f} {wall_s:8.1f} {peak_mb:8,.0f} {load:8.1f}"
    print(f"{n_trials:12,} {len(parts):6} {n_workers:8} {figures}", flush=True)
    return wall_s, found


def concluded(client: Client, parts: Sequence[Stored], n_trials: int) -> Conclusion:
    """All figures of the cell."""
    protocol, audio_s = find("sws2013"), float(max(n_trials, 900_000))
    facts = Facts(t_audio_s=audio_s, n_trials=audio_s, n_trials_exact=audio_s, queries=QUERIES)
    conclude = protocol.family.can.parts
    survey = {"n_rows": n_trials, "oov_count": {}}
    found = None if conclude is None else conclude(protocol, Parts(runner(client), parts), facts, survey)
    if found is None:
        raise SystemExit("the cell cannot be concluded in parts")
    return found


if __name__ == "__main__":
    main()
