"""Occurrence alignment against one dense scipy assignment per query and file: ``python -m bench.align``.

Both align the same made-up tile, each in a process of its own, and must map equally many pairs of equal total weight.
``--crowd 10000 10000`` instead maps so many detections and references that are all in reach of one another, once, and
prints CPU seconds and peak memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from bench.inside import Made, Run, Ways
from bench.measured import inside
from bench.running import TIMES, show
from bench.table import Comparison, Group
from pipeline.align.aligned import Aligned
from pipeline.align.occurrences import align_occurrences
from pipeline.arrays import Bools, Floats, Ints
from pipeline.trials.schema import Occurrences, Trials

OURS, PEER = "align detections", "scipy per keyword and file"
FILE_S = 300.0
TOLERANCE_S = 0.5
HEADER = (0.0, 1.0)
WARM = 1000, 100, 10, 10


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.align", description=__doc__)
    parser.add_argument("--detections", type=int, default=1_000_000)
    parser.add_argument("--references", type=int, default=30_000)
    parser.add_argument("--queries", type=int, default=4000)
    parser.add_argument("--hours", type=float, default=20.0, help="audio, in files of 5 minutes (default: 20)")
    parser.add_argument("--times", type=int, default=TIMES, help=f"runs of each (default: {TIMES})")
    parser.add_argument("--crowd", type=int, nargs=2, metavar=("DETECTIONS", "REFERENCES"))
    args = parser.parse_args(argv)
    if args.crowd:
        return map_crowd(*args.crowd)
    make = partial(group, rows=args.detections, n_true=args.references, n_queries=args.queries, hours=args.hours)
    return int(any(line.wrong for line in show({"align": make}, args.times)))


def group(_place: Path, rows: int, n_true: int = 30_000, n_queries: int = 4000, hours: float = 20.0) -> Group:
    """Both on one tile."""
    size = rows, n_true, n_queries, max(1, round(hours * 3600 / FILE_S))
    ways = [inside(name, "bench.align", name, *size) for name in WAYS]
    return Group(rows, "det", ways, [Comparison(OURS, PEER, alike=same)])


def same(ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
    """As many pairs, of the same weight to the rounding of its sum."""
    return bool(ours[0] == theirs[0] and abs(ours[1] - theirs[1]) <= 1e-12 * max(ours[0], 1))


def _ours(*size: str) -> Run:
    align_occurrences(*tile(*WARM), tolerance_s=TOLERANCE_S, score_range=HEADER)
    trials, key = tile(*map(int, size))

    def run() -> Callable[[], Made]:
        aligned = align_occurrences(trials, key, tolerance_s=TOLERANCE_S, score_range=HEADER)
        return lambda: Made(pairs_and_weight(trials, key, aligned))

    return run


def _peer(*size: str) -> Run:
    one_matrix_per_group(*tile(*WARM))
    trials, key = tile(*map(int, size))
    return lambda: Made(one_matrix_per_group(trials, key))


WAYS: Ways = {OURS: _ours, PEER: _peer}


def map_crowd(n_detections: int, n_references: int) -> int:
    trials, key = tile(n_detections, n_references, 1, 1)
    random = np.random.default_rng(1)
    begin, ref_begin = (random.uniform(0, 0.4, size).round(3) for size in (n_detections, n_references))
    duration = random.uniform(0.1, 0.6, n_references).round(3)
    trials = replace(trials, begin_s=begin, dur_s=random.uniform(0.1, 0.6, n_detections).round(3), time_s=begin)
    key = replace(key, begin_s=ref_begin, end_s=ref_begin + duration)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    aligned = align_occurrences(trials, key, tolerance_s=2 * TOLERANCE_S, score_range="group")
    cpu_s = time.process_time() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    mapped = np.count_nonzero(aligned.target)
    print(f"{n_detections} x {n_references}: {mapped} mapped, {cpu_s:.1f} s of CPU, {peak:.0f} MiB more than before")
    return 0


def tile(n_detections: int, n_references: int, n_queries: int, n_files: int) -> tuple[Trials, Occurrences]:
    """Detections near 1.2 references each, the rest anywhere, sorted as trials are."""
    random = np.random.default_rng(0)
    query, file = random.integers(0, n_queries, n_references), random.integers(0, n_files, n_references)
    begin = random.uniform(0, FILE_S - 1, n_references).round(2)
    end = (begin + random.uniform(0.2, 0.8, n_references)).round(2)
    near = random.integers(0, n_references, min(n_references * 6 // 5, n_detections // 2))
    rest = n_detections - near.size
    det_query = np.concatenate((query[near], random.integers(0, n_queries, rest)))
    det_file = np.concatenate((file[near], random.integers(0, n_files, rest)))
    det_begin = np.concatenate((begin[near] + random.normal(0, 0.1, near.size), random.uniform(0, FILE_S - 1, rest)))
    score = np.concatenate((random.beta(4, 2, near.size), random.beta(1, 6, rest))).round(6)
    dur = random.uniform(0.2, 0.8, n_detections).round(2)
    order, key_order = np.lexsort((det_begin, det_file, det_query)), np.lexsort((begin, file, query))
    names = (tuple(f"q{n:05}" for n in range(n_queries)), tuple(f"f{n:05}" for n in range(n_files)), ("1",))
    trials = Trials(
        *names,
        query=det_query[order].astype(np.int32),
        file=det_file[order].astype(np.int32),
        channel=np.zeros(n_detections, np.int32),
        begin_s=det_begin[order].round(3),
        dur_s=dur[order],
        time_s=det_begin[order],
        score=score[order],
        decision=score[order] > 0.5,
        row=order,
        offsets=np.array([0, n_detections]),
        score_range=HEADER,
    )
    key = Occurrences(
        *names,
        query=query[key_order].astype(np.int32),
        file=file[key_order].astype(np.int32),
        channel=np.zeros(n_references, np.int32),
        begin_s=begin[key_order],
        end_s=end[key_order],
        last_begin_s=begin[key_order],
        first_end_s=end[key_order],
        row=key_order,
        offsets=np.array([0, n_references]),
    )
    return trials, key


def one_matrix_per_group(trials: Trials, key: Occurrences) -> tuple[int, float]:
    """Pairs and total weight the straightforward way: a matrix for every query and file with references."""
    n_files = len(trials.files)
    group = trials.query.astype(np.int64) * n_files + trials.file
    key_group = key.query.astype(np.int64) * n_files + key.file
    wanted, first_reference = np.unique(key_group, return_index=True)
    ends = np.append(first_reference[1:], len(key))
    first, last = np.searchsorted(group, wanted, "left"), np.searchsorted(group, wanted, "right")
    n_pairs, total = 0, 0.0
    for begin, end, low, high in zip(first_reference, ends, first, last, strict=True):
        if low < high:
            value, allowed = worth(trials, key, np.arange(low, high)[:, None], np.arange(begin, end))
            rows, columns = linear_sum_assignment(np.where(allowed, value + 2.0, 0.0), maximize=True)
            used = allowed[rows, columns]
            n_pairs += int(used.sum())
            total += float(value[rows, columns][used].sum())
    return n_pairs, total


def pairs_and_weight(trials: Trials, key: Occurrences, aligned: Aligned) -> tuple[int, float]:
    value, allowed = worth(trials, key, aligned.kept[aligned.target], aligned.reference[aligned.target])
    if not allowed.all():
        raise SystemExit("a pair out of reach was mapped")
    return value.size, float(value.sum())


def worth(trials: Trials, key: Occurrences, rows: Ints, references: Ints) -> tuple[Floats, Bools]:
    """What pairs are worth, and whether they are allowed; the two indices broadcast."""
    begin, dur, score = trials.begin_s[rows], trials.dur_s[rows], trials.score[rows]
    ref_begin, ref_end = key.begin_s[references], key.end_s[references]
    middle = begin + dur / 2.0
    allowed = (middle >= ref_begin - TOLERANCE_S) & (middle <= ref_end + TOLERANCE_S)
    overlap = np.minimum(begin + dur, ref_end) - np.maximum(begin, ref_begin)
    return 1e-8 * overlap / np.maximum(ref_end - ref_begin, 1e-5) + 1e-6 * score, allowed


if __name__ == "__main__":
    sys.exit(main())
