"""The sweep of a cell whose trials are elsewhere: exact extremes by branch and bound over buckets of scores.

The rates at the lowest score of every bucket follow from the sums of buckets. No threshold inside one misses fewer
targets than that, or accepts fewer false alarms than the next: only buckets that may hold the maximum by that bound,
or that a drawing cannot do without, are divided, and of a cell of any size some thousand trials are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pipeline.arrays import Bools, Floats, Ints
from pipeline.metrics.kws.det import EPS_PROBIT, probit
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.radix import FINEST, LEVELS, WORDS, Buckets, Divide, Divided, Images, divided
from pipeline.metrics.kws.sweep import ROUNDING, Curve
from pipeline.metrics.measure import Over

ROWS_AT_ONCE = 4096
"""Rows of all parts up to which a bucket is divided into single scores at once."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Buckets of several levels that hold every score once, in ascending order."""

    bits: Ints
    low: Images
    """The lowest image that each may hold."""
    first: Floats
    n_rows: Ints
    words: Ints
    """(4, n)."""

    @classmethod
    def of(cls, found: Buckets) -> Nodes:
        """Nodes of one level."""
        low = found.key.astype(np.uint64) << np.uint64(FINEST - found.bits)
        bits = np.full(low.size, found.bits, np.int64)
        return cls(bits, low, found.first, found.n_rows.astype(np.int64), found.words)

    def divided(self, chosen: Bools, children: Divided) -> Nodes:
        """The nodes with ``children`` in the places of the chosen ones."""
        parts = [self.take(~chosen), *map(Nodes.of, children.levels)]
        low = np.concatenate([part.low for part in parts])
        columns = [np.concatenate([getattr(part, name) for part in parts]) for name in ("bits", "first", "n_rows")]
        words, order = np.concatenate([part.words for part in parts], axis=1), np.argsort(low)
        bits, first, n_rows = (column[order] for column in columns)
        return Nodes(bits, low[order], first, n_rows, words[:, order])

    def take(self, rows: Bools) -> Nodes:
        """Some of the nodes."""
        return Nodes(self.bits[rows], self.low[rows], self.first[rows], self.n_rows[rows], self.words[:, rows])

    def asked(self, chosen: Bools) -> tuple[Divide, ...]:
        """What divides the chosen nodes: small ones into single scores, others into buckets of the next level."""
        asked = []
        for bits, after in pairwise(LEVELS):
            here = chosen & (self.bits == bits)
            few = self.n_rows <= ROWS_AT_ONCE
            for to, which in ((FINEST, here & few), (after, here & ~few)):
                if which.any():
                    asked.append(Divide(to, bits, self.low[which] >> np.uint64(FINEST - bits)))
        return tuple(asked)


@dataclass(frozen=True, eq=False)
class Points:
    """The points at the lowest score of every node and, where there is one, that which accepts nothing.

    One more place than nodes: the last bounds the last node from above.
    """

    p_miss: Floats
    p_fa: Floats
    twv: Floats
    n: int
    """Points that the sweep has."""


@dataclass(frozen=True)
class Sweeping:
    """What makes words into rates and rates into TWV."""

    means: QueryMeans
    always: tuple[int, int]
    """Words of the targets that every threshold misses."""
    beta: float
    reject_all_point: bool

    def points(self, nodes: Nodes) -> Points:
        """The points of nodes, from the same whole numbers as ``sweep.sweep`` has them."""
        below = np.zeros((WORDS, nodes.low.size + 1), np.int64)
        np.cumsum(nodes.words, axis=1, out=below[:, 1:])
        means, every = self.means, below[:, -1:]
        p_miss = means.miss.value(below[0] + self.always[0], below[1] + self.always[1]) / means.n_queries
        p_fa = means.fa.value(every[2] - below[2], every[3] - below[3]) / means.n_queries_fa
        return Points(p_miss, p_fa, 1.0 - (p_miss + self.beta * p_fa), nodes.low.size + self.reject_all_point)

    def may_hold_maximum(self, points: Points) -> Bools:
        """Nodes inside which TWV may be as high as the highest known, or higher; rounding is allowed for twice."""
        at_most = 1.0 - (points.p_miss[:-1] + self.beta * points.p_fa[1:])
        return np.asarray(at_most >= _limit(float(points.twv[: points.n].max()), 2.0))

    def may_show(self, nodes: Nodes, points: Points) -> Bools:
        """Nodes inside which the curve leaves both rates by more than a drawing shows (``det.representative``)."""
        x, y = probit(points.p_fa), probit(points.p_miss)
        wide = (np.abs(np.diff(x)) > EPS_PROBIT) & (np.abs(np.diff(y)) > EPS_PROBIT)
        if not self.reject_all_point and nodes.low.size:
            wide[-1] = True  # the curve ends at its last score, wherever that is
        return np.asarray(wide)


def sweepable(means: QueryMeans, beta: float) -> bool:
    """Whether rates and TWV are bounded by those at the ends of a bucket: no false-alarm rate may fall with it."""
    return means.reason is not None or 0.0 <= beta < np.inf


def sweep_over(
    over: Over, means: QueryMeans, omitted: Ints, beta: float, *, reject_all_point: bool, drawn: bool = True
) -> Curve | None:
    """The curve of ``sweep`` at its maximum, its best point and, if ``drawn``, at what ``det.representative`` keeps.

    ``over`` maps over ledgers that have all trials of some queries each. None where there is no score.
    """
    always = int((omitted * means.miss.high).sum()), int((omitted * means.miss.low).sum())
    sweeping = Sweeping(means, always, beta, reject_all_point)
    first: Divided = over(divided, means, (Divide(LEVELS[0]),))
    nodes = Nodes.of(first.levels[0])
    if not nodes.low.size:
        return None
    while True:
        points = sweeping.points(nodes)
        chosen = sweeping.may_hold_maximum(points)
        if drawn:
            chosen |= sweeping.may_show(nodes, points)
        chosen &= nodes.bits < FINEST
        if not chosen.any():
            break
        nodes = nodes.divided(chosen, over(divided, means, nodes.asked(chosen)))
    threshold = np.append(nodes.first, np.nan)[: points.n]
    p_miss, p_fa, twv = (column[: points.n] for column in (points.p_miss, points.p_fa, points.twv))
    return Curve(threshold, p_miss, p_fa, twv, int(np.argmax(twv >= _limit(float(twv.max())))))


def _limit(top: float, allowance: float = 1.0) -> float:
    return top - allowance * ROUNDING * max(1.0, abs(1.0 - top))
