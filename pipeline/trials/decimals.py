"""Rounding to decimals as C's ``%.4f`` does it, which the organisers' tools print their times with."""

from __future__ import annotations

import numpy as np

from pipeline.arrays import Floats

_SAFE = 2.0**50
"""Below this the scaled value still resolves halves, so a tie can be told from its neighbours."""


def to_decimals(values: Floats, places: int) -> Floats:
    """Each value as the double nearest to its correctly rounded decimal form, ``float(f"{x:.{places}f}")``.

    Scaling rounds too, but never across a tie, since ties are doubles themselves: what scales onto a tie is decided by
    its exact decimal expansion (half to even), everything else by its scaled value. ``numpy.round`` is off at ties.
    """
    scale = 10.0**places
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = values * scale
        tie = np.abs(scaled - np.trunc(scaled)) == 0.5
        clear = (np.abs(scaled) < _SAFE) & ~tie
        rounded: Floats = np.rint(scaled) / scale
    for row in np.flatnonzero(~clear).tolist():
        rounded[row] = round(float(values[row]), places)
    return rounded
