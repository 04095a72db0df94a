"""The least cross-entropy over all non-decreasing maps of the scores, by pooling adjacent violators."""

from __future__ import annotations

import math

import numpy as np

from pipeline.metrics.fixed_point import Floats, Ints


def blocks(n_target: Floats, n_nontarget: Floats) -> tuple[Floats, Floats]:
    """Pooled class weights, with strictly increasing target fractions, of rows in ascending order of score.

    Rows are distinct scores, so tied scores share a block. Integer weights are compared and added exactly. Infinite
    scores are the extreme ranks like any others. PAV of contiguous ranges followed by PAV of their blocks is the same.
    """
    return pooled(n_target, n_nontarget)[:2]


def pooled(n_target: Floats, n_nontarget: Floats) -> tuple[Floats, Floats, Ints]:
    """The blocks of ``blocks`` with the row where each begins."""
    # Neighbours of one class only have equal fractions: pooling them first leaves few rows for the loop.
    kind = np.where(n_nontarget == 0, 1, np.where(n_target == 0, 0, 2))
    first = np.append(True, (kind[1:] != kind[:-1]) | (kind[1:] == 2))[: kind.size]
    starts = np.flatnonzero(first)
    targets: list[float] = []
    nontargets: list[float] = []
    begins: list[int] = []
    rows = zip(_pool(n_target, starts), _pool(n_nontarget, starts), starts.tolist(), strict=True)
    for next_target, next_nontarget, next_begin in rows:
        target, nontarget, begin = next_target, next_nontarget, next_begin
        while targets and targets[-1] * nontarget >= target * nontargets[-1]:
            target += targets.pop()
            nontarget += nontargets.pop()
            begin = begins.pop()
        targets.append(target)
        nontargets.append(nontarget)
        begins.append(begin)
    return np.array(targets), np.array(nontargets), np.array(begins, np.int64)


def _pool(weights: Floats, starts: np.ndarray) -> list[float]:
    return list(np.add.reduceat(weights, starts).tolist()) if starts.size else []


def minimum(n_target: Floats, n_nontarget: Floats, prior: float) -> float:
    """Cross-entropy of optimally recalibrated scores in nats; optimal for every prior at once (spec of min Cllr).

    Rows as for ``blocks``. Both classes need a positive total weight.
    """
    target_weight = prior / math.fsum(n_target.tolist())
    nontarget_weight = (1.0 - prior) / math.fsum(n_nontarget.tolist())
    return math.fsum(losses(*blocks(n_target, n_nontarget), target_weight, nontarget_weight))


def losses(target: Floats, nontarget: Floats, target_weight: float, nontarget_weight: float) -> list[float]:
    """The least cost of each block with one common score, in nats, when trials weigh that much; pure blocks cost 0.

    In Python's floats: numpy's ``log1p`` differs between processors in the last place.
    """
    both = (target > 0) & (nontarget > 0)
    pairs = zip((target[both] * target_weight).tolist(), (nontarget[both] * nontarget_weight).tolist(), strict=True)
    return [a * math.log1p(b / a) + b * math.log1p(a / b) for a, b in pairs]
