"""Detection Error Tradeoff: curves on normal-deviate axes, and curves thinned for drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pipeline.metrics.fixed_point import Floats
from pipeline.metrics.sweep import Curve

P_CLIP = 2.220446049250313e-16
"""Rates are kept inside [P_CLIP, 1 - P_CLIP] on normal-deviate axes, as KWSEval does."""

EPS_PROBIT = 0.005
"""Below a pixel of a drawing."""


def probit(p: Floats) -> Floats:
    """Normal deviates of probabilities (ppndf), clipped so that 0, 1 and rates beyond them stay finite."""
    return np.asarray(ndtri(np.clip(p, P_CLIP, 1.0 - P_CLIP)), np.float64)


def det_points(curve: Curve) -> tuple[Floats, Floats]:
    """Abscissa and ordinate of a DET plot: probit(P_fa) and probit(P_miss) of every point of the curve."""
    return probit(curve.p_fa), probit(curve.p_miss)


def visible(p_miss: Floats, p_fa: Floats, eps_probit: float = EPS_PROBIT) -> NDArray[np.bool_]:
    """Which points of a sweep a drawing needs: the ends, and as many corners as it can show.

    Points inside a horizontal or vertical stretch go without loss. Of what is left, the first and the last point of
    each run through one cell of ``eps_probit`` by ``eps_probit`` stay: every point left out lies within
    ``eps_probit`` of a kept one on both axes.
    """
    return _shown(p_miss, p_fa, corners(p_miss, p_fa), eps_probit)


def _shown(p_miss: Floats, p_fa: Floats, corner: NDArray[np.bool_], eps_probit: float) -> NDArray[np.bool_]:
    """Of the corners, the ends of each run through one cell."""
    rows = np.flatnonzero(corner)
    cell_x, cell_y = (np.floor(probit(rate[rows]) / eps_probit) for rate in (p_fa, p_miss))
    new = (np.diff(cell_x) != 0) | (np.diff(cell_y) != 0)
    kept = np.zeros(corner.size, np.bool_)
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
    columns = (curve.threshold[kept], curve.p_miss[kept], curve.p_fa[kept], curve.twv[kept])
    return Curve(*columns, best=best, reason=curve.reason)


def thinned(curve: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Columns of a TWV curve at the points that a drawing needs, and at the best one."""
    twv = np.asarray(curve.get("twv", ()), np.float64)
    if not twv.size:
        return {name: list(column) for name, column in curve.items()}
    p_miss, p_fa = (np.asarray(curve[name], np.float64) for name in ("p_miss", "p_fa"))
    kept = np.ones(twv.size, np.bool_) if np.isnan(p_miss + p_fa).any() else visible(p_miss, p_fa)
    if not np.all(np.isnan(twv)):
        kept[int(np.nanargmax(twv))] = True
    return {name: np.asarray(column)[kept].tolist() for name, column in curve.items()}


def thinned_corners(curve: Curve) -> Curve:
    """What ``thinned`` leaves of the whole curve, from one that is here at its corners and its maximum."""
    if curve.corner is None or not curve.twv.size:
        return curve
    kept = _shown(curve.p_miss, curve.p_fa, curve.corner, EPS_PROBIT)
    kept[int(np.argmax(curve.twv))] = True
    return Curve(curve.threshold[kept], curve.p_miss[kept], curve.p_fa[kept], curve.twv[kept])
