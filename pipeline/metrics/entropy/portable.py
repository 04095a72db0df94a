"""Exponentials with the same bits on every processor.

numpy chooses its kernels for ``exp`` and ``log1p`` by the processor, and they differ in the last place; ``logaddexp``,
``ldexp`` and ``rint`` do not. What follows needs only those and the four operations.
"""

from __future__ import annotations

import math

import numpy as np

from pipeline.arrays import Floats

_LOG2_E = 1.0 / math.log(2.0)
_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_TERMS = tuple(1.0 / math.factorial(n) for n in range(13, -1, -1))
_LOWEST, _HIGHEST = -746.0, 710.0


def exp(x: Floats) -> Floats:
    """e**x elementwise, within a few units in the last place; 0 far below and inf far above, without warnings.

    Meant for the derivatives of an objective; reported costs go through ``numpy.logaddexp``.
    """
    bounded = np.clip(x, _LOWEST, _HIGHEST)
    power = np.rint(bounded * _LOG2_E)
    rest = (bounded - power * _LN2_HIGH) - power * _LN2_LOW
    series = np.full(rest.shape, _TERMS[0])
    for term in _TERMS[1:]:
        series *= rest
        series += term
    with np.errstate(over="ignore", under="ignore"):
        result: Floats = np.ldexp(series, power.astype(np.int32))
    return result
