"""The least cross-entropy over all non-decreasing maps of the scores, by pooling adjacent violators."""

from __future__ import annotations

import math

import numpy as np

from pipeline.metrics.fixed_point import Floats


def blocks(n_target: Floats, n_nontarget: Floats) -> tuple[Floats, Floats]:
    """Pooled class weights, with strictly increasing target fractions, of rows in ascending order of score.

    Rows are distinct scores, so tied scores share a block. Integer weights are compared and added exactly. Infinite
    scores are the extreme ranks like any others. PAV of contiguous ranges followed by PAV of their blocks is the same.
    """
    # Neighbours of one class only have equal fractions: pooling them first leaves few rows for the loop.
    kind = np.where(n_nontarget == 0, 1, np.where(n_target == 0, 0, 2))
    first = np.append(True, (kind[1:] != kind[:-1]) | (kind[1:] == 2))[: kind.size]
    starts = np.flatnonzero(first)
    targets: list[float] = []
    nontargets: list[float] = []
    for next_target, next_nontarget in zip(_pool(n_target, starts), _pool(n_nontarget, starts), strict=True):
        target, nontarget = next_target, next_nontarget
        while targets and targets[-1] * nontarget >= target * nontargets[-1]:
            target += targets.pop()
            nontarget += nontargets.pop()
        targets.append(target)
        nontargets.append(nontarget)
    return np.array(targets), np.array(nontargets)


def _pool(weights: Floats, starts: np.ndarray) -> list[float]:
    return list(np.add.reduceat(weights, starts).tolist()) if starts.size else []


def minimum(n_target: Floats, n_nontarget: Floats, prior: float) -> float:
    """Cross-entropy of optimally recalibrated scores in nats; optimal for every prior at once (spec of min Cllr).

    Rows as for ``blocks``. Both classes need a positive total weight.
    """
    target, nontarget = blocks(n_target, n_nontarget)
    a = prior * (target / math.fsum(n_target.tolist()))
    b = (1.0 - prior) * (nontarget / math.fsum(n_nontarget.tolist()))
    both = (a > 0) & (b > 0)
    a, b = a[both], b[both]
    return math.fsum((a * np.log1p(b / a)).tolist()) + math.fsum((b * np.log1p(a / b)).tolist())
