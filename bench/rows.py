"""All figures of one cell from its batches' partials, up to 1e8 distinct scores: ``python -m bench.rows``.

Partials are made up: 64 batches with the trials of four queries each, scores of 17 digits, none twice. What is measured
is what the last task of a cell does: it joins them and makes every figure, block and table of keyword search, and the
drawn curve. Each size runs in a process of its own, in one thread; the highest memory is that of the process,
partials included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence

import numpy as np

from bench.inside import Made, Run, Ways
from bench.measured import CPU, MEMORY
from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.scores import Scores
from pipeline.partials.tally import Tally
from pipeline.protocols import find
from pipeline.protocols.base import DRAWN
from pipeline.terms import Facts

N_BATCHES, QUERIES_EACH, HITS_EACH, MISSES_EACH = 64, 4, 20, 5
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.rows", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000_000, 100_000_000], help="distinct scores")
    options = parser.parse_args(argv)
    print(f"{'rows':>12} {'CPU s':>8} {'ns each':>8} {'peak MiB':>9}  MTWV")
    for n in options.rows:
        command = [sys.executable, "-m", "bench.inside", "bench.rows", "rows", str(n)]
        done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, check=True, capture_output=True, text=True)
        made = json.loads(done.stdout)
        cpu_s, peak = made["figures"][CPU], made["figures"][MEMORY] * 1e6 / 2**20
        print(f"{n:12,} {cpu_s:8.1f} {cpu_s / n * 1e9:8.0f} {peak:9,.0f}  {made['found']!r}", flush=True)


def batch(number: int, n_rows: int) -> Outcomes:
    """The partial of a batch: so many rows of each of its queries, those of few targets among them."""
    random, size = np.random.default_rng(number), QUERIES_EACH * n_rows
    queries = tuple(f"q{number * QUERIES_EACH + at:04d}" for at in range(QUERIES_EACH))
    score, counts = np.empty(size), np.empty((4, size), np.uint8)
    for at in range(QUERIES_EACH):
        rows = slice(at * n_rows, (at + 1) * n_rows)
        own = np.unique(random.normal(-2.0, 2.0, n_rows))
        while own.size < n_rows:
            own = np.union1d(own, random.normal(-2.0, 2.0, n_rows - own.size))
        target = np.zeros(n_rows, np.uint8)
        target[np.searchsorted(own, random.normal(3.0, 2.0, HITS_EACH)).clip(max=n_rows - 1)] = 1
        score[rows], yes = own, own > 2.0
        counts[:, rows] = target, 1 - target, target * yes, (1 - target) * yes
    first, missed = np.arange(QUERIES_EACH + 1) * n_rows, np.full((1, QUERIES_EACH), MISSES_EACH)
    return Outcomes.of(Ledger(("all",), queries, missed, first, Scores(score, None), counts), Tally({}))


def _concluded(rows: str) -> Run:
    n_queries = N_BATCHES * QUERIES_EACH
    parts = [batch(number, max(int(rows) // n_queries, 100)) for number in range(N_BATCHES)]
    conclude([batch(number, 1000) for number in range(N_BATCHES)])

    def run() -> Made:
        return Made(conclude(parts))

    return run


def conclude(parts: list[Outcomes]) -> float | None:
    """MTWV, beside everything else."""
    total = merge_tree(parts, Outcomes())
    parts.clear()
    protocol, audio_s = find("openkws13"), 900_000.0
    queries = tuple(f"q{number:04d}" for number in range(N_BATCHES * QUERIES_EACH))
    facts = Facts(t_audio_s=audio_s, n_trials=audio_s, n_trials_exact=audio_s, queries=queries)
    return protocol.family.concluded(protocol, total, facts, {}, DRAWN).figures["mtwv"].value


WAYS: Ways = {"rows": _concluded}

if __name__ == "__main__":
    main()
