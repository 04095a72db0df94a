"""The array types that every room speaks of, by what an element is; and a sum that has no largest value."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
"""Positions in a vocabulary."""
Bools = NDArray[np.bool_]


def summed(values: Iterable[float]) -> float:
    """The sum of values of 0 or more, correctly rounded; infinite where it lies beyond doubles.

    Declared durations and times may be as large as a double each.
    """
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf
