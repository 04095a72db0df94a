"""Fewer points of a curve than an eye could miss; exact curves stay with the results."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.kws.det import visible


def thin(curve: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """The curve without points that move neither axis of a DET plot by a pixel; its best point is kept."""
    if not curve["twv"].size:
        return dict(curve)
    keep = visible(curve["p_miss"], curve["p_fa"])
    if not np.all(np.isnan(curve["twv"])):
        keep[int(np.nanargmax(curve["twv"]))] = True
    return {name: column[keep] for name, column in curve.items()}
