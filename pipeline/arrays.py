"""The array types that every room speaks of, by what an element is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
"""Positions in a vocabulary."""
Bools = NDArray[np.bool_]
