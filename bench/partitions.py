"""Exact MTWV over partitions against gathering and sorting all trials: ``python -m bench.partitions``.

Trials lie in 50 partitions of some queries each, in no order of scores. ``gather and sort`` concatenates scores,
queries and labels (13 bytes a trial), sorts them stably and sums weights up to every threshold: the least that finding
the maximum takes that way. ``MTWV over partitions`` is what a cell above the bound of one worker gets: sums by buckets
of scores, then the few buckets that may hold the maximum. The bits must be those of ``the sweep in memory``, whose
sums are not rounded as those of the peer are and whose rows come sorted by query and score, or the bench fails. Bytes
are the pickled answers of all partitions in all passes; no time is taken for pickling, on either side.
"""

from __future__ import annotations

import argparse
import importlib
import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from bench.inside import Made, Run, Ways
from bench.measured import BYTES, CPU, WALL, inside
from bench.running import TIMES, show
from bench.table import Comparison, Group
from pipeline.arrays import Ints
from pipeline.metrics.kws import radix
from pipeline.metrics.kws.means import QueryMeans, query_means
from pipeline.metrics.kws.radix_sweep import sweep_over
from pipeline.metrics.kws.sweep import Curve, sweep
from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree

COMPILED, NUMPY = "MTWV over partitions, compiled", "MTWV over partitions, NumPy"
DRAWN, PEER, IN_MEMORY = "MTWV and DET over partitions", "gather and sort", "the sweep in memory"
N_PARTITIONS, N_QUERIES, N_REFERENCES = 50, 4000, 30_000
HIT_SHARE = 0.75
BETA = 999.9
SCALE = 2.0**46
N_WARM = 50_000


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.partitions", description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[5_000_000], help="detections in all partitions")
    parser.add_argument("--hours", type=float, default=250.0, help="audio; one trial a second (default: 250)")
    parser.add_argument("--times", type=int, default=TIMES, help=f"runs of each (default: {TIMES})")
    options = parser.parse_args(argv)
    makes = {f"{n}": partial(group, rows=n, hours=options.hours) for n in options.trials}
    return int(any(line.wrong for line in show(makes, options.times)))


def group(_place: Path, rows: int, hours: float = 250.0) -> Group:
    """All ways to the maximum, of one size."""
    shown = CPU, WALL, BYTES
    return Group(
        rows,
        "det",
        [inside(name, "bench.partitions", name, rows, hours, times=1 if name == IN_MEMORY else None) for name in WAYS],
        [
            Comparison(COMPILED, PEER, shown, {CPU: 15, BYTES: 10}, alike=_same_bits, truth=IN_MEMORY),
            Comparison(NUMPY, PEER, shown, alike=_same_bits, truth=IN_MEMORY),
            Comparison(DRAWN, PEER, shown, alike=_same_bits, truth=IN_MEMORY),
            Comparison(IN_MEMORY, PEER, (CPU, WALL), alike=_as_near),
        ],
    )


def _same_bits(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """MTWV, threshold and both rates."""
    return list(ours) == list(theirs)


def _as_near(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    """MTWV, to the rounding of the peer's weights."""
    return abs(ours[0] - theirs[0]) < 1e-9


def _over(*, compiled: bool, drawn: bool) -> Callable[..., Run]:
    def prepared(rows: str, hours: str) -> Run:
        if compiled:
            importlib.import_module("numba")
        partitions, means = made(int(rows), float(hours) * 3600)
        small = [shuffled(partition) for partition in partitions_of(N_WARM)]

        def run(parts: Sequence[Trials]) -> Callable[[], Made]:
            with patch.object(radix, "COMPILED_FROM", 0 if compiled else sys.maxsize):
                curve, answers = over_partitions(parts, means, drawn=drawn)
            return lambda: Made(extremes(curve), {BYTES: sum(map(_pickled, answers))})

        run(small)
        return lambda: run(partitions)

    return prepared


def _gathered(rows: str, hours: str) -> Run:
    partitions, means = made(int(rows), float(hours) * 3600)
    trials = [trials_of(partition) for partition in partitions]
    n_bytes = sum(column.nbytes for part in trials for column in part)
    return lambda: Made([gather_and_sort(trials, means)], {BYTES: n_bytes})


def _in_memory(rows: str, hours: str) -> Run:
    whole = merge_tree(partitions_of(int(rows)), Ledger.zero())
    means = query_means(whole, float(hours) * 3600)
    return lambda: Made(extremes(sweep(whole, means, BETA)))


WAYS: Ways = {
    COMPILED: _over(compiled=True, drawn=False),
    PEER: _gathered,
    NUMPY: _over(compiled=False, drawn=False),
    DRAWN: _over(compiled=True, drawn=True),
    IN_MEMORY: _in_memory,
}


def made(n_trials: int, audio_s: float) -> tuple[list[Trials], QueryMeans]:
    """Partitions with their rows in no order, and what all of them say about queries."""
    partitions = partitions_of(n_trials)
    means = query_means(merge_tree(partitions, Ledger.zero()), audio_s)
    return [shuffled(partition) for partition in partitions], means


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


@dataclass(frozen=True)
class Trials:
    """Rows of a ledger in no order, as trials come; no pass asks for one."""

    score: Any
    query: Any
    n_target: Any
    n_nontarget: Any
    omitted: Any

    def __len__(self) -> int:
        return len(self.score)


def shuffled(ledger: Ledger) -> Trials:
    """The rows in no order."""
    order = np.random.default_rng(len(ledger)).permutation(len(ledger))
    columns = ledger.score, ledger.query, ledger.n_target, ledger.n_nontarget
    return Trials(*(column[order] for column in columns), omitted=ledger.omitted)


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


def trials_of(ledger: Trials) -> tuple[Any, Any, Any]:
    """Score, query and label of every trial, in the order of the ledger's rows."""
    counts = np.stack([ledger.n_target, ledger.n_nontarget], axis=1).ravel()
    rows = np.repeat(np.arange(counts.size), counts)
    return ledger.score[rows // 2], ledger.query[rows // 2], rows % 2 == 0


def over_partitions(partitions: Sequence[Trials], means: QueryMeans, *, drawn: bool) -> tuple[Curve, list[Any]]:
    """The sweep over partitions, and all that left them."""
    sent: list[Any] = []

    def over(task: Callable[..., Any], *state: Any) -> Any:
        answers = [task(partition, *state) for partition in partitions]
        sent.extend(answers)
        return merge_tree(answers, answers[0])

    omitted = sum(partition.omitted[0] for partition in partitions)
    found = sweep_over(over, means, omitted, BETA, reject_all_point=True, drawn=drawn)
    if found is None:
        raise SystemExit("there is no score")
    return found, sent


def _pickled(answer: Any) -> int:
    return len(pickle.dumps(answer, protocol=5))


def extremes(curve: Curve) -> tuple[float, float, float, float]:
    """MTWV and its point."""
    best = curve.best
    return float(curve.twv.max()), float(curve.threshold[best]), float(curve.p_miss[best]), float(curve.p_fa[best])


if __name__ == "__main__":
    sys.exit(main())
