"""Detection Error Tradeoff: curves on normal-deviate axes, and curves thinned for drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pipeline.arrays import Floats, Ints
from pipeline.metrics.fixed_point import in_blocks

if TYPE_CHECKING:
    from pipeline.metrics.kws.sweep import Curve

LEVELS = (20, 32, 44, 56, 64)
"""Bits of a bucket of scores, coarse to fine: sign, exponent and 8 digits of the significand are 256 an octave."""
_SIGN = np.uint64(1 << 63)

P_CLIP = 2.220446049250313e-16
"""Rates are kept inside [P_CLIP, 1 - P_CLIP] on normal-deviate axes, as KWSEval does."""

EPS_PROBIT = 0.005
"""Below a pixel of a drawing."""


def probit(p: Floats) -> Floats:
    """Normal deviates of probabilities (ppndf), clipped so that 0, 1 and rates beyond them stay finite."""
    return np.asarray(ndtri(np.clip(p, P_CLIP, 1.0 - P_CLIP)), np.float64)


def visible(p_miss: Floats, p_fa: Floats, eps_probit: float = EPS_PROBIT) -> NDArray[np.bool_]:
    """Which points of a sweep a drawing needs: the ends, and as many corners as it can show.

    Points inside a horizontal or vertical stretch go without loss. Of what is left, the first and the last point of
    each run through one cell of ``eps_probit`` by ``eps_probit`` stay: every point left out lies within
    ``eps_probit`` of a kept one on both axes.
    """
    rows = np.flatnonzero(corners(p_miss, p_fa))
    cell_x, cell_y = (np.floor(probit(rate[rows]) / eps_probit) for rate in (p_fa, p_miss))
    new = (np.diff(cell_x) != 0) | (np.diff(cell_y) != 0)
    kept = np.zeros(p_miss.size, np.bool_)
    kept[rows[np.append(True, new)[: rows.size] | np.append(new, True)[: rows.size]]] = True
    return kept


def corners(p_miss: Floats, p_fa: Floats) -> NDArray[np.bool_]:
    """Points that do not lie strictly inside a horizontal or vertical stretch; the ends are corners."""
    x, y = probit(p_fa), probit(p_miss)
    corner = np.ones(x.size, np.bool_)
    flat_x, flat_y = np.diff(x) == 0, np.diff(y) == 0
    corner[1:-1] = ~((flat_x[:-1] & flat_x[1:]) | (flat_y[:-1] & flat_y[1:]))
    return corner


def thin(curve: Curve, eps_probit: float = EPS_PROBIT) -> Curve:
    """The curve at its ``visible`` points and at its best one."""
    kept = visible(curve.p_miss, curve.p_fa, eps_probit)
    if curve.best >= 0:
        kept[curve.best] = True
    best = int(np.count_nonzero(kept[: curve.best])) if curve.best >= 0 else -1
    columns = {name: getattr(curve, name)[kept] for name in ("threshold", "p_miss", "p_fa", "twv")}
    return replace(curve, **columns, best=best)


def representative(
    threshold: Floats, p_miss: Floats, p_fa: Floats, eps_probit: float = EPS_PROBIT
) -> NDArray[np.bool_]:
    """Points of a sweep that stand for all: ``threshold`` ascends, a NaN last accepts nothing.

    The lowest score of every coarse bucket (``LEVELS``), and the last point. Between two of them the curve, which is
    monotone, stays within the rectangle that they span; inside those that are wider and higher than ``eps_probit`` the
    buckets of the next level stand, and so on. So every point left out is within ``eps_probit``, on one axis, of the
    line through those kept.
    """
    kept = np.zeros(threshold.size, np.bool_)
    kept[-1:] = True
    kept[_starts(threshold, lambda rows: (p_miss[rows], p_fa[rows]), eps_probit, part=False)] = True
    return kept


def may_stand(threshold: Floats, rates: Callable[[Ints], tuple[Floats, Floats]]) -> Ints:
    """Rows of a part of a sweep with all that ``representative`` keeps of it, whatever comes before and after.

    ``rates`` gives P_miss and P_fa of rows. Points inside a bucket that is no rectangle to be seen are never kept.
    """
    return _starts(threshold, rates, EPS_PROBIT, part=True)


def _starts(
    threshold: Floats, rates: Callable[[Ints], tuple[Floats, Floats]], eps_probit: float, *, part: bool
) -> Ints:
    """First rows of buckets: of all coarse ones, and of finer ones inside those that are wide and high.

    In a part of a sweep what reaches to an end may go on beyond it, and counts as wide.
    """
    starts, last = _bucket_starts(threshold, LEVELS[0]), threshold.size - 1
    n_rows, found = np.diff(np.append(starts, threshold.size)), [starts]
    for bits in LEVELS[1:]:
        low, high = rates(starts), rates(np.minimum(starts + n_rows, last))
        wide = np.abs(probit(high[0]) - probit(low[0])) > eps_probit
        wide &= np.abs(probit(high[1]) - probit(low[1])) > eps_probit
        if part:
            wide |= (starts == 0) | (starts + n_rows > last)
        starts, n_rows = starts[wide], n_rows[wide]
        inside = np.repeat(starts - (np.cumsum(n_rows) - n_rows), n_rows) + np.arange(n_rows.sum())
        first = _bucket_starts(threshold[inside], bits)
        starts, n_rows = inside[first], np.diff(np.append(first, inside.size))
        found.append(starts)
    return np.concatenate(found)


def _bucket_starts(threshold: Floats, bits: int) -> Ints:
    """The first row of each bucket."""
    found = [np.zeros(min(threshold.size, 1), np.int64)]
    for rows in in_blocks(threshold.size):
        begin = max(rows.start - 1, 0)
        bucket = images(threshold[begin : rows.stop]) >> np.uint64(LEVELS[-1] - bits)
        found.append(begin + 1 + np.flatnonzero(bucket[1:] != bucket[:-1]))
    return np.concatenate(found)


def images(score: Floats) -> NDArray[np.uint64]:
    """Unsigned numbers in the order of the scores, -0.0 like 0.0; NaN beyond everything. High bits are a bucket."""
    bits = (np.asarray(score, np.float64) + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def thinned(curve: Mapping[str, Sequence[float] | Floats]) -> dict[str, list[float]]:
    """Columns of a TWV curve at the points that a drawing needs, and at the best one.

    Of its ``representative`` points the ``visible`` ones.
    """
    twv = np.asarray(curve.get("twv", ()), np.float64)
    if not twv.size:
        return {name: list(column) for name, column in curve.items()}
    columns = {name: np.asarray(column, np.float64) for name, column in curve.items()}
    threshold, p_miss, p_fa = (columns[name] for name in ("threshold", "p_miss", "p_fa"))
    kept = np.ones(twv.size, np.bool_)
    if not np.isnan(p_miss + p_fa).any():
        kept = representative(threshold, p_miss, p_fa)
        kept[kept] = visible(p_miss[kept], p_fa[kept])
    if not np.all(np.isnan(twv)):
        kept[int(np.nanargmax(twv))] = True
    return {name: column[kept].tolist() for name, column in columns.items()}
