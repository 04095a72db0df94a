"""The least cross-entropy over all non-decreasing maps of the scores, by pooling adjacent violators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.entropy.affine_passes import Rows, exact_mass
from pipeline.partials.exact import ExactSum

Number = int | Fraction
_FEW = 64
_SMALL = 1 << 26


class PooledBlock(NamedTuple):
    """Neighbouring rows with one common target fraction: exact class weights, and the scores they reach over."""

    target: Number
    nontarget: Number
    score_min: float
    score_max: float


@dataclass(frozen=True)
class Pav:
    """Pooled rows of trials by ascending score, whose target fractions strictly increase."""

    blocks: tuple[PooledBlock, ...]
    mass: tuple[ExactSum, ExactSum]
    """All weights of both classes."""
    largest_tie: float
    """The largest weight of one score."""

    @property
    def weights(self) -> tuple[Floats, Floats]:
        """Weights of both classes by block."""
        target, nontarget = ([float(block[side]) for block in self.blocks] for side in (0, 1))
        return np.array(target), np.array(nontarget)

    def minimum(self, prior: float) -> float:
        """Cross-entropy of optimally recalibrated scores in nats; optimal for every prior at once (min Cllr).

        Both classes need a positive total weight.
        """
        target, nontarget = (mass.value() for mass in self.mass)
        return math.fsum(losses(*self.weights, prior / target, (1.0 - prior) / nontarget))


class Runs(NamedTuple):
    """Rows in ascending order, of which neighbours of one class with whole weights may have become one."""

    low: Floats
    high: Floats
    n_target: Floats
    n_nontarget: Floats
    largest_tie: float
    """The largest weight of one score."""

    @classmethod
    def of(cls, rows: Rows) -> Runs:
        """Distinct ascending scores with their class weights. Neighbours of one class have equal fractions anyway."""
        score, n_target, n_nontarget = rows
        both = n_target + n_nontarget
        kind = (n_nontarget == 0).view(np.int8) - (n_target == 0)
        alone = (kind == 0) | (both != np.floor(both))
        starts = np.flatnonzero(np.append(True, (kind[1:] != kind[:-1]) | alone[1:] | alone[:-1])[: kind.size])
        ends = np.append(starts[1:], kind.size)
        if starts.size:
            n_target, n_nontarget = (np.add.reduceat(weights, starts) for weights in (n_target, n_nontarget))
        return cls(score[starts], score[ends[: starts.size] - 1], n_target, n_nontarget, float(both.max(initial=0.0)))

    @classmethod
    def joined(cls, parts: Sequence[Runs]) -> Runs:
        """All of ``parts`` (one at least), each above those before."""
        low, high, n_target, n_nontarget = (np.concatenate([part[at] for part in parts]) for at in range(4))
        return cls(low, high, n_target, n_nontarget, max(part.largest_tie for part in parts))


def pav(blocks: Iterable[Rows]) -> Pav:
    """Blocks of scores in ascending order with their class weights, pooled; one block at least.

    Rows are distinct scores, so tied scores share a block. Weights are compared and added exactly. Infinite scores are
    the extreme ranks like any others.
    """
    low, high, n_target, n_nontarget, tied = Runs.joined([Runs.of(rows) for rows in blocks])
    # Neighbours of one class only have equal fractions: pooling them first leaves few rows for the loop.
    targets, nontargets = n_nontarget == 0, (n_target == 0) & (n_nontarget != 0)
    changes = (targets[1:] != targets[:-1]) | (nontargets[1:] != nontargets[:-1]) | ~(targets | nontargets)[1:]
    starts = np.flatnonzero(np.append(True, changes)[: low.size])
    whole = [np.floor(weights) for weights in (n_target, n_nontarget)]
    broken = [np.flatnonzero(weights != floor) for weights, floor in zip((n_target, n_nontarget), whole, strict=True)]
    sums = np.zeros((2, starts.size), np.int64)
    if starts.size:
        sums = np.stack([np.add.reduceat(floor.astype(np.int64), starts) for floor in whole])
    starts, sums = _without_violators(starts, sums, np.concatenate(broken))
    scores = low[starts].tolist(), high[np.append(starts, low.size)[1:] - 1].tolist()
    exact = (
        _numbers(found, starts, rows, weights)
        for found, rows, weights in zip(sums, broken, (n_target, n_nontarget), strict=True)
    )
    return Pav(_pooled(map(PooledBlock, *exact, *scores)), (exact_mass(n_target), exact_mass(n_nontarget)), tied)


def _without_violators(starts: Ints, sums: Ints, broken: Ints) -> tuple[Ints, Ints]:
    """Where runs begin, with their weights, after violating neighbours were pooled, again and again while that halves
    their number.

    Only whole weights whose products float64 holds are compared here, and no runs with ``broken`` rows; ``_pooled``
    does the rest.
    """
    while starts.size > _FEW:
        target, nontarget = sums
        small = np.maximum(target, nontarget) < _SMALL
        small[np.searchsorted(starts, broken, side="right") - 1] = False
        violates = target[:-1] * nontarget[1:] >= target[1:] * nontarget[:-1]
        kept = np.flatnonzero(np.append(True, ~(violates & small[:-1] & small[1:])))
        before = starts.size
        starts, sums = starts[kept], np.add.reduceat(sums, kept, axis=1)
        if 2 * starts.size > before:
            break
    return starts, sums


def _pooled(rows: Iterable[PooledBlock]) -> tuple[PooledBlock, ...]:
    blocks: list[PooledBlock] = []
    for row in rows:
        target, nontarget, score_min, score_max = row
        while blocks and blocks[-1].target * nontarget >= target * blocks[-1].nontarget:
            before = blocks.pop()
            target, nontarget, score_min = target + before.target, nontarget + before.nontarget, before.score_min
        blocks.append(PooledBlock(target, nontarget, score_min, score_max))
    return tuple(blocks)


def _numbers(sums: Ints, starts: Ints, broken: Ints, weights: Floats) -> list[Number]:
    """Exact sums of runs that begin at ``starts``, from those of whole parts; few weights are ``broken``."""
    found: list[Number] = list(sums.tolist())
    for row in broken.tolist():
        found[int(np.searchsorted(starts, row, side="right")) - 1] += Fraction(float(weights[row])) % 1
    return found


def blocks(n_target: Floats, n_nontarget: Floats) -> tuple[Floats, Floats]:
    """Pooled class weights, with strictly increasing target fractions, of rows in ascending order of score."""
    return _ranked(n_target, n_nontarget).weights


def minimum(n_target: Floats, n_nontarget: Floats, prior: float) -> float:
    """``Pav.minimum`` of rows in ascending order of score."""
    return _ranked(n_target, n_nontarget).minimum(prior)


def _ranked(n_target: Floats, n_nontarget: Floats) -> Pav:
    return pav([(np.arange(n_target.size, dtype=np.float64), n_target, n_nontarget)])


def losses(target: Floats, nontarget: Floats, target_weight: float, nontarget_weight: float) -> list[float]:
    """The least cost of each block with one common score, in nats, when trials weigh that much; pure blocks cost 0.

    In Python's floats: numpy's ``log1p`` differs between processors in the last place.
    """
    both = (target > 0) & (nontarget > 0)
    pairs = zip((target[both] * target_weight).tolist(), (nontarget[both] * nontarget_weight).tolist(), strict=True)
    return [a * math.log1p(b / a) + b * math.log1p(a / b) for a, b in pairs]
