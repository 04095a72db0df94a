"""What a second worker brings: ``python -m bench.scaling`` (20 large cells and 200 small ones; at most six minutes).

Cells a second between the first and the last result that ``rescore run`` writes, with one worker and with two, on a
local cluster: the start has no part in it. For a reading on a machine that is not alone, processor time of the run's
own process, of Prefect's server and of the workers stands beside it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import rescore, small

AIM = 1.8


@dataclass(frozen=True)
class Kind:
    """Cells of one size."""

    name: str
    n_cells: int
    n_queries: int
    n_files: int
    n_rows: int


KINDS = (
    Kind("large", 20, 500, 1000, 200_000),
    Kind("small", 200, small.N_QUERIES, small.N_FILES, small.N_ROWS),
)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    parser.add_argument("--only", choices=[kind.name for kind in KINDS])
    parser.add_argument("--workers", type=int, nargs=2, default=[1, 2])
    args = parser.parse_args(argv)
    missed = 0
    for kind in KINDS:
        if args.only in (None, kind.name):
            missed += measure(kind, args.workers) < AIM
    return int(missed > 0)


def measure(kind: Kind, workers: Sequence[int]) -> float:
    """How many times as fast the second number of workers is as the first."""
    rescore.N_QUERIES, rescore.N_FILES = kind.n_queries, kind.n_files
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        place = Path(folder)
        rescore.write(place, kind.n_cells // 4, kind.n_rows)
        first, second = (rate(kind, place, number) for number in workers)
    print(f"{kind.name}: {second / first:.2f} times as fast (aimed at: {AIM})", flush=True)
    return second / first


def rate(kind: Kind, place: Path, workers: int) -> float:
    """Cells a second while all workers are at work; printed with what a cell costs."""
    cost = small.run(place, workers)
    ended_s = sorted(path.stat().st_mtime for path in (place / "store/results").glob("*.json"))
    shutil.rmtree(place / "store")
    found = (len(ended_s) - workers) / (ended_s[-1] - ended_s[0])
    each = ", ".join(f"{who} {spent_s / kind.n_cells:.3f}" for who, spent_s in sorted(cost.cpu_s.items()))
    print(
        f"{kind.n_cells} {kind.name} cells, workers {workers}: {found:.2f} a second; CPU s a cell: {each}", flush=True
    )
    return found


if __name__ == "__main__":
    sys.exit(main())
