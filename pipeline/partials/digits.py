"""Floats as whole-number digits on a fixed grid: the error-free extraction behind every exact sum.

A *limb* counts units of 2**(LIMB_BITS * (limb - ORIGIN)). The grid is fixed, so that the limbs of two sums add
column by column. Subtracting what was rounded to the grid is exact in float64 (extraction with M = 1.5 * 2**(k + 52)),
and so is a float sum of one limb's digits over a block: no digit exceeds 2**31 units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats

LIMB_BITS = 32
ORIGIN = 34
"""Limb of the unit 1; limb 0 counts units of 2**-1088, below the smallest subnormal 2**-1074."""
N_LIMBS = 68
"""Limbs 0 … 67 reach 2**1088: every finite float64, 2**31 times over."""
BLOCK = 1 << 14
"""Values extracted together: small enough for the cache, and 2**14 digits of 2**31 units stay below 2**53."""
LARGEST_BLOCK = 1 << 20

_SHIFT = 17
_FAR = 2.0 ** (LIMB_BITS * _SHIFT)
_HUGE = 2.0**500


def digits(block: Floats) -> Iterator[tuple[int, Floats]]:
    """Pairs (limb, whole numbers, at most 2**31 in magnitude, one per value); over all pairs they add up to ``block``.

    ``block``: finite values, at most ``LARGEST_BLOCK`` of them. Each value has at most one digit in a limb. Huge
    and tiny ones are moved by whole limbs to the middle of the exponent range, where nothing over- or underflows.
    """
    if _largest(block) < _HUGE:
        yield from _levels(block.copy(), ORIGIN)
        return
    huge = np.abs(block) >= _HUGE
    for members, scale, origin in ((huge, 1.0 / _FAR, ORIGIN + _SHIFT), (~huge, 1.0, ORIGIN)):
        yield from _levels(np.where(members, block, 0.0) * scale, origin)


def _levels(rest: Floats, origin: int) -> Iterator[tuple[int, Floats]]:
    """Digits from the highest occupied limb down, until nothing is left of ``rest``, which is used up."""
    level = _limb_of(rest)
    while level is not None:
        if level < -_SHIFT:
            rest *= _FAR
            level, origin = level + _SHIFT, origin - _SHIFT
        grid = math.ldexp(1.5, LIMB_BITS * level + 52)
        digit = rest + grid
        digit -= grid
        rest -= digit
        digit *= math.ldexp(1.0, -LIMB_BITS * level)
        yield origin + level, digit
        # At most half a unit is left of each: mostly there is something in the next limb, else it is looked for.
        # A remainder of exactly half a unit would round to nothing again: always go down.
        if not rest.any():
            return
        below = _limb_of(rest) if not digit.any() else level - 1
        level = None if below is None else min(level - 1, below)


def _largest(values: Floats) -> float:
    return max(float(values.max()), -float(values.min())) if values.size else 0.0


def _limb_of(values: Floats) -> int | None:
    """The lowest limb, relative to the unit 1, in which every value is below 2**31 units; None if all are zero."""
    largest = _largest(values)
    return math.frexp(largest)[1] // LIMB_BITS if largest > 0.0 else None


def carried(limbs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Canonical limbs of the same sums, shape (..., N_LIMBS): all but the last, signed one in [0, 2**32).

    Canonical limbs of 2**31 sums may be added column by column before they must be carried again.
    """
    result = limbs.copy()
    occupied = np.flatnonzero(result.reshape(-1, result.shape[-1]).any(axis=0))
    for limb in range(int(occupied[0]) if occupied.size else N_LIMBS, N_LIMBS - 1):
        carry = result[..., limb] >> LIMB_BITS
        result[..., limb] -= carry << LIMB_BITS
        result[..., limb + 1] += carry
    return result


def whole(limbs: NDArray[np.int64]) -> int:
    """One row of canonical limbs as a whole number of units of 2**(-LIMB_BITS * ORIGIN)."""
    low = int.from_bytes(limbs[: N_LIMBS - 1].astype("<u4").tobytes(), "little")
    return low + (int(limbs[N_LIMBS - 1]) << (LIMB_BITS * (N_LIMBS - 1)))
