"""The array types that every room speaks of, by what an element is, and the sum of numbers that files say."""

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

_FAR = 2.0**64


def summed(values: Iterable[float]) -> float:
    """The sum, rounded once to the nearest double; infinite where it is beyond all of them."""
    known = [float(value) for value in values]
    try:
        return math.fsum(known)
    except OverflowError:  # on the way
        return math.fsum(value / _FAR for value in known) * _FAR
