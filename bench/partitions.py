"""Exact MTWV over partitions against gathering and sorting all trials: ``python -m bench.partitions``.

Trials lie in 50 partitions of some queries each, in no order of scores. ``gather and sort`` concatenates scores,
queries and labels (13 bytes a trial), sorts them stably and sums weights up to every threshold: the least that finding
the maximum takes that way. ``rescore`` is what a cell above the bound of one worker gets: sums by buckets of scores,
then the few buckets that may hold the maximum. The bits must be those of ``the sweep in memory``, whose sums are not
rounded as those of the peer are and whose rows come sorted by query and score, or the bench fails. CPU
seconds, the best of several runs; bytes are the pickled answers of all partitions in all passes. Set
OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import importlib
import pickle
import resource
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np

from pipeline.metrics import radix
from pipeline.metrics.fixed_point import Ints
from pipeline.metrics.means import QueryMeans, query_means
from pipeline.metrics.radix_sweep import sweep_over
from pipeline.metrics.sweep import Curve, sweep
from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree

N_PARTITIONS, N_QUERIES, N_REFERENCES = 50, 4000, 30_000
HIT_SHARE = 0.75
BETA = 999.9
SCALE = 2.0**46
Result = TypeVar("Result")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.partitions", description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[5_000_000], help="detections in all partitions")
    parser.add_argument("--hours", type=float, default=250.0, help="audio; one trial a second (default: 250)")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(argv)
    return max(measure(n, options.hours * 3600.0, options.runs) for n in options.trials)


def measure(n_trials: int, audio_s: float, runs: int) -> int:
    """One size; 1 where the bits differ."""
    partitions = partitions_of(n_trials)
    whole = merge_tree(partitions, Ledger.zero())
    means, n_rows = query_means(whole, audio_s), sum(map(len, partitions))
    print(f"\n{n_trials:,} detections of {N_QUERIES} queries, {N_PARTITIONS} partitions, {n_rows:,} distinct scores")
    print(f"{'':34}{'CPU s':>9}{'ns each':>9}{'bytes moved':>14}{'CPU ratio':>11}{'bytes ratio':>12}")
    in_memory_s, curve = timed(partial(sweep, whole, means, BETA), 1)
    expected = extremes(curve)
    del whole, curve
    partitions = [shuffled(partition) for partition in partitions]
    trials = [trials_of(partition) for partition in partitions]
    peer_bytes = sum(column.nbytes for part in trials for column in part)
    peer_s, best = timed(partial(gather_and_sort, trials, means), runs)
    line("gather and sort", peer_s, n_trials, peer_bytes, peer_s, peer_bytes)
    line("the sweep in memory, once", in_memory_s, n_trials, peer_bytes, peer_s, peer_bytes)
    del trials
    same = abs(best - expected[0]) < 1e-9
    for name, compiled, drawn in (
        ("rescore, compiled", True, False),
        ("rescore, numpy", False, False),
        ("rescore, compiled, and the DET", True, True),
    ):
        with kernel(compiled=compiled):
            ours_s, (found, n_bytes) = timed(partial(over_partitions, partitions, means, drawn=drawn), runs)
        line(name, ours_s, n_trials, n_bytes, peer_s, peer_bytes)
        same &= extremes(found) == expected
    print(f"MTWV, threshold, P_miss and P_fa {expected}: " + ("the same bits" if same else "THE BITS DIFFER"))
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB at most, all partitions included")
    return 0 if same else 1


def line(name: str, cpu_s: float, n: int, n_bytes: int, peer_s: float, peer_bytes: int) -> None:
    print(
        f"{name:34}{cpu_s:9.3f}{cpu_s / n * 1e9:9.1f}{n_bytes:14,}{peer_s / cpu_s:11.1f}{peer_bytes / n_bytes:12.1f}",
        flush=True,
    )


def timed(run: Callable[[], Result], runs: int) -> tuple[float, Result]:
    """The least CPU time of some runs, and what came out."""
    spent = []
    for _ in range(runs):
        start = time.process_time()
        result = run()
        spent.append(time.process_time() - start)
    return min(spent), result


@contextmanager
def kernel(*, compiled: bool) -> Any:
    """With the compiled kernel, or with numpy alone."""
    if compiled:
        importlib.import_module("numba")
    with patch.object(radix, "COMPILED_FROM", 0 if compiled else sys.maxsize):
        yield


def partitions_of(n_trials: int) -> list[Ledger]:
    """Ledgers of 80 queries each, that name all queries; three quarters of the occurrences are hit."""
    random = np.random.default_rng(50)
    queries = tuple(f"q{number:04d}" for number in range(N_QUERIES))
    each, found = N_QUERIES // N_PARTITIONS, []
    for number in range(N_PARTITIONS):
        n = n_trials // N_PARTITIONS
        query = random.integers(number * each, (number + 1) * each, n).astype(np.int32)
        n_reference = N_REFERENCES // N_PARTITIONS
        target = np.zeros(n, np.bool_)
        target[: round(n_reference * HIT_SHARE)] = True
        score = np.where(target, random.beta(4, 2, n), random.beta(1, 6, n)).round(6)
        missed = random.integers(number * each, (number + 1) * each, n_reference - int(target.sum()))
        found.append(Ledger.of(queries, query, score, score > 0.5, target, missed.astype(np.int32)))
    return found


def shuffled(ledger: Ledger) -> Ledger:
    """The same rows in no order, as trials come; no pass asks for one."""
    order = np.random.default_rng(len(ledger)).permutation(len(ledger))
    names = ("condition", "query", "score", "n_target", "n_nontarget", "n_target_yes", "n_nontarget_yes")
    return replace(ledger, **{name: getattr(ledger, name)[order] for name in names})


def gather_and_sort(trials: Sequence[tuple[Any, Any, Any]], means: QueryMeans) -> float:
    """The maximum of TWV by one sort of everything, to the rounding of its weights."""
    score, query, target = (np.concatenate(columns) for columns in zip(*trials, strict=True))
    gain = np.rint(SCALE / np.maximum(means.n_true, 1) / means.n_queries).astype(np.int64)
    loss = np.rint(-BETA * SCALE / means.n_nontarget / means.n_queries * means.in_p_fa).astype(np.int64)
    order = np.argsort(-score, kind="stable")
    score = score[order]
    running: Ints = np.cumsum(np.where(target, gain[query], loss[query])[order])
    ends = np.append(score[1:] != score[:-1], True)
    return max(float(running[ends].max()) / SCALE, 0.0)


def trials_of(ledger: Ledger) -> tuple[Any, Any, Any]:
    """Score, query and label of every trial, in the order of the ledger's rows."""
    counts = np.stack([ledger.n_target, ledger.n_nontarget], axis=1).ravel()
    rows = np.repeat(np.arange(counts.size), counts)
    return ledger.score[rows // 2], ledger.query[rows // 2], rows % 2 == 0


def over_partitions(partitions: Sequence[Ledger], means: QueryMeans, *, drawn: bool) -> tuple[Curve, int]:
    """The sweep over partitions, and the bytes that left them."""
    sent = 0

    def over(task: Callable[..., Any], *state: Any) -> Any:
        nonlocal sent
        answers = [task(partition, *state) for partition in partitions]
        sent += sum(len(pickle.dumps(answer, protocol=5)) for answer in answers)
        return merge_tree(answers, answers[0])

    omitted = sum(partition.omitted[0] for partition in partitions)
    found = sweep_over(over, means, omitted, BETA, reject_all_point=True, drawn=drawn)
    if found is None:
        raise SystemExit("there is no score")
    return found, sent


def extremes(curve: Curve) -> tuple[float, float, float, float]:
    """MTWV and its point."""
    best = curve.best
    return float(curve.twv.max()), float(curve.threshold[best]), float(curve.p_miss[best]), float(curve.p_fa[best])


if __name__ == "__main__":
    sys.exit(main())
