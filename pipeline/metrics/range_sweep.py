"""The sweep of a cell whose trials lie in ranges of scores: the same points, of which the corners and the best stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.det import corners
from pipeline.metrics.fixed_point import Floats, Ints
from pipeline.metrics.means import QueryMeans
from pipeline.metrics.measure import Over
from pipeline.metrics.ranges import Range
from pipeline.metrics.sweep import ROUNDING, Curve

Words = tuple[int, int, int, int]
"""Sums of the words of miss weights (high, low) and of false-alarm weights (high, low)."""


@dataclass(frozen=True)
class Extent:
    """One range with scores: the first of them, and sums of words over all rows and over the last one."""

    index: int
    first: float
    last: float
    total: Words
    tail: Words


@dataclass(frozen=True)
class Extents:
    """Extents by range; they add up in any order."""

    found: tuple[Extent, ...]

    def __add__(self, other: Extents) -> Extents:
        return Extents(tuple(sorted((*self.found, *other.found), key=lambda extent: extent.index)))


@dataclass(frozen=True)
class Sweeping:
    """What a range must know of the others to place its points: ``before`` are the words of all lower scores."""

    which: int
    means: QueryMeans
    always: tuple[int, int]
    """Words of the targets that every threshold misses."""
    beta: float
    reject_all_point: bool
    extents: tuple[Extent, ...]
    before: tuple[Words, ...]
    every: Words

    @classmethod
    def of(
        cls, which: int, means: QueryMeans, omitted: Ints, beta: float, extents: Extents, *, reject_all_point: bool
    ) -> Sweeping:
        """The sums before each extent."""
        sums = list(accumulate((extent.total for extent in extents.found), _added, initial=(0, 0, 0, 0)))
        always = int((omitted * means.miss.high).sum()), int((omitted * means.miss.low).sum())
        return cls(which, means, always, beta, reject_all_point, extents.found, tuple(sums[:-1]), sums[-1])


@dataclass(frozen=True)
class Top:
    """The largest TWV of some ranges; -inf of none."""

    twv: float = -np.inf

    def __add__(self, other: Top) -> Top:
        return Top(max(self.twv, other.twv))


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a sweep in ascending order of threshold; ``corner`` says which a drawing may need."""

    index: int
    threshold: Floats
    p_miss: Floats
    p_fa: Floats
    twv: Floats
    corner: NDArray[np.bool_]

    def __add__(self, other: Points) -> Points:
        low, high = sorted((self, other), key=lambda points: points.index)
        names = ("threshold", "p_miss", "p_fa", "twv", "corner")
        columns = {name: np.concatenate([getattr(low, name), getattr(high, name)]) for name in names}
        return Points(low.index, **columns)

    def take(self, rows: Ints | NDArray[np.bool_]) -> Points:
        """Some of the points."""
        rates = (self.threshold[rows], self.p_miss[rows], self.p_fa[rows], self.twv[rows])
        return Points(self.index, *rates, self.corner[rows])


def sweep_over(
    over: Over, which: int, means: QueryMeans, omitted: Ints, beta: float, *, reject_all_point: bool
) -> Curve | None:
    """The curve of sweep ``which`` at its corners, its maximum and its best point; None where there is no score."""
    extents: Extents = over(extents_of, which)
    if not extents.found:
        return None
    sweeping = Sweeping.of(which, means, omitted, beta, extents, reject_all_point=reject_all_point)
    top: float = over(top_of, sweeping).twv
    points: Points = over(points_of, sweeping, top)
    best = int(np.argmax(points.twv >= _limit(top)))
    return Curve(points.threshold, points.p_miss, points.p_fa, points.twv, best, corner=points.corner)


def extents_of(part: Range, which: int) -> Extents:
    """Task: the extent of one range."""
    table = part.sweeps[which]
    if not table.score.size:
        return Extents(())
    ends = float(table.score[0]), float(table.score[-1])
    return Extents((Extent(part.index, *ends, _words(table.counts.sum(axis=1)), _words(table.counts[:, -1])),))


def top_of(part: Range, sweeping: Sweeping) -> Top:
    """Task: the largest TWV of one range."""
    points, own = _placed(part, sweeping)
    return Top(float(points.twv[own].max())) if own.any() else Top()


def points_of(part: Range, sweeping: Sweeping, top: float) -> Points:
    """Task: the points of one range that must be kept: corners, its last one, the maximum, and the first near it."""
    points, own = _placed(part, sweeping)
    if not own.any():
        return points
    corner = corners(points.p_miss, points.p_fa)
    kept = corner.copy()
    for wanted in (points.twv >= _limit(top), points.twv == top):
        at = np.flatnonzero(wanted & own)[:1]
        kept[at] = kept[np.maximum(at - 1, 0)] = True
    kept[np.flatnonzero(own)[-1]] = True
    return replace(points, corner=corner).take(kept & own)


def _limit(top: float) -> float:
    return top - ROUNDING * max(1.0, abs(1.0 - top))


def _placed(part: Range, sweeping: Sweeping) -> tuple[Points, NDArray[np.bool_]]:
    """The points of one range with the nearest of both neighbours, and which are its own."""
    table, extents, means = part.sweeps[sweeping.which], sweeping.extents, sweeping.means
    at = next((at for at, extent in enumerate(extents) if extent.index == part.index), None)
    if at is None:
        none = np.zeros(0)
        return Points(part.index, none, none, none, none, none.astype(bool)), none.astype(bool)
    last = at == len(extents) - 1
    threshold, counts, start = table.score, table.counts, sweeping.before[at]
    own = np.ones(threshold.size, np.bool_)
    if at:
        before = extents[at - 1]
        threshold, own = np.append(before.last, threshold), np.append(False, own)
        counts = np.concatenate([np.array(before.tail, np.int64)[:, None], counts], axis=1)
        start = _added(start, _negative(before.tail))
    below = np.zeros((4, counts.shape[1] + 1), np.int64)
    np.cumsum(counts, axis=1, out=below[:, 1:])
    below += np.array(start, np.int64)[:, None]
    if last and not sweeping.reject_all_point:
        below = below[:, :-1]
    else:
        threshold = np.append(threshold, np.nan if last else extents[at + 1].first)
        own = np.append(own, last)
    miss_high, miss_low = below[0] + sweeping.always[0], below[1] + sweeping.always[1]
    p_miss = means.miss.value(miss_high, miss_low) / means.n_queries
    p_fa = means.fa.value(sweeping.every[2] - below[2], sweeping.every[3] - below[3]) / means.n_queries_fa
    twv = 1.0 - (p_miss + sweeping.beta * p_fa)
    return Points(part.index, threshold, p_miss, p_fa, twv, np.zeros(own.size, np.bool_)), own


def _words(sums: Ints) -> Words:
    high, low, fa_high, fa_low = sums.tolist()
    return high, low, fa_high, fa_low


def _added(left: Words, right: Words) -> Words:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2], left[3] + right[3]


def _negative(words: Words) -> Words:
    return -words[0], -words[1], -words[2], -words[3]
