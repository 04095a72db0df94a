"""Exact sums of floats: the same bits for any order, partition, worker or retry.

A sum is kept exactly and rounded once, when it is read, so it equals ``math.fsum`` of all addends at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.partials.digits import BLOCK, LARGEST_BLOCK, LIMB_BITS, N_LIMBS, ORIGIN, carried, digits, whole

ROW = N_LIMBS + 2
"""Columns of a grouped sum: the limbs, then how often +inf and -inf were added."""

FAR = 1000
"""Binary digits by which sums beyond float64 are shifted before they are divided."""

_UNIT_BITS = LIMB_BITS * ORIGIN
_COUNT_BITS = 16


@dataclass(frozen=True)
class ExactSum:
    """A sum of floats without any rounding: ``units`` of 2**-1088, and how often +inf and -inf were added."""

    units: int = 0
    n_positive_infinite: int = 0
    n_negative_infinite: int = 0

    @classmethod
    def zero(cls) -> ExactSum:
        """The sum of nothing."""
        return cls()

    @classmethod
    def of(cls, values: Floats) -> ExactSum:
        """The exact sum of a 1-D array. Raises ``ValueError`` on NaN."""
        positive, negative, finite = _without_infinities(_checked(values))
        units = 0
        for block in _blocks(finite, BLOCK):
            for limb, digit in digits(finite[block]):
                units += int(digit.sum()) << (LIMB_BITS * limb)
        return cls(units, int(np.count_nonzero(positive)), int(np.count_nonzero(negative)))

    @classmethod
    def of_products(cls, values: Floats, counts: Ints) -> ExactSum:
        """The exact sum of ``counts * values``, elementwise over two 1-D arrays; zero times infinity is zero.

        Raises ``ValueError`` on NaN, on negative counts and on arrays of different lengths.
        """
        values, counts = _checked(values), np.asarray(counts, np.int64)
        if counts.shape != values.shape or (counts.size and int(counts.min()) < 0):
            raise ValueError(f"counts must be as many as the values and not negative (shape {counts.shape})")
        if counts.size and int(counts.min()) == int(counts.max()) == 1:
            return cls.of(values)
        positive, negative, finite = _without_infinities(values)
        units = 0
        for block in _blocks(finite, BLOCK):
            parts = list(_count_parts(counts[block]))
            for limb, digit in digits(finite[block]):
                units += sum(int(digit.astype(np.int64) @ part) << shift for shift, part in parts) << LIMB_BITS * limb
        return cls(units, sum(counts[positive].tolist()), sum(counts[negative].tolist()))

    @classmethod
    def of_limbs(cls, row: Ints) -> ExactSum:
        """One row of ``exact_sums_by_group``, or of a plain integer sum of such rows (at most 2**31 of them)."""
        return cls(whole(carried(row[:N_LIMBS])), int(row[N_LIMBS]), int(row[N_LIMBS + 1]))

    def to_limbs(self) -> Ints:
        """The inverse of ``of_limbs``: a canonical row."""
        row, bits = np.zeros(ROW, np.int64), LIMB_BITS * (N_LIMBS - 1)
        row[: N_LIMBS - 1] = np.frombuffer((self.units & ((1 << bits) - 1)).to_bytes(bits // 8, "little"), "<u4")
        row[N_LIMBS - 1 :] = self.units >> bits, self.n_positive_infinite, self.n_negative_infinite
        return row

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(
            self.units + other.units,
            self.n_positive_infinite + other.n_positive_infinite,
            self.n_negative_infinite + other.n_negative_infinite,
        )

    def value(self, exponent: int = 0) -> float:
        """The sum times 2**exponent, rounded once to the nearest float64 (ties to even); NaN where both infinities were
        added.

        Finite beyond the range of float64 it is an infinity.
        """
        if self.n_positive_infinite or self.n_negative_infinite:
            both = self.n_positive_infinite and self.n_negative_infinite
            return math.nan if both else math.inf if self.n_positive_infinite else -math.inf
        try:
            return (self.units << max(exponent, 0)) / (1 << (_UNIT_BITS + max(-exponent, 0)))
        except OverflowError:
            return math.inf if self.units > 0 else -math.inf

    def mean(self, mass: float) -> float:
        """The sum over a positive mass; infinite only where an addend is, or where the mean itself leaves float64."""
        total = self.value()
        if math.isfinite(total) or self.n_positive_infinite or self.n_negative_infinite:
            return total / mass
        return self.value(-FAR) / mass * 2.0**FAR


def exact_sums_by_group(values: Floats, groups: NDArray[np.integer[Any]], n_groups: int) -> Ints:
    """Exact sums of 1-D ``values`` by group code: int64 of shape (n_groups, ROW), canonical, to be added as integers.

    Read a row by ``ExactSum.of_limbs``, all rows by ``values_of_limbs``. Raises ``ValueError`` on NaN and on codes
    outside [0, n_groups).
    """
    values, groups = _checked(values), np.asarray(groups)
    outside = groups.size and not 0 <= int(groups.min()) <= int(groups.max()) < n_groups
    if groups.shape != values.shape or outside:
        raise ValueError(f"one group code in [0, {n_groups}) per value is needed")
    positive, negative, finite = _without_infinities(values)
    result = np.zeros((n_groups, ROW), np.int64)
    # One bincount costs n_groups whatever the block holds: blocks grow with the number of groups.
    for block in _blocks(finite, min(max(BLOCK, n_groups), LARGEST_BLOCK)):
        for limb, digit in digits(finite[block]):
            result[:, limb] += np.bincount(groups[block], weights=digit, minlength=n_groups).astype(np.int64)
    result[:, :N_LIMBS] = carried(result[:, :N_LIMBS])
    result[:, N_LIMBS] = np.bincount(groups[positive], minlength=n_groups)
    result[:, N_LIMBS + 1] = np.bincount(groups[negative], minlength=n_groups)
    return result


def values_of_limbs(limbs: Ints) -> Floats:
    """Each row of shape (n, ROW) rounded once to float64: shape (n,)."""
    canonical = carried(limbs[:, :N_LIMBS])
    infinite = limbs[:, N_LIMBS:].tolist()
    sums = (ExactSum(whole(row), *counts) for row, counts in zip(canonical, infinite, strict=True))
    return np.array([exact.value() for exact in sums], np.float64)


def means_of_limbs(limbs: Ints, mass: Floats) -> Floats:
    """``ExactSum.mean`` of each row of shape (n, ROW) over its mass: shape (n,), NaN where that is 0."""
    pairs = zip(limbs, mass.tolist(), strict=True)
    return np.array([ExactSum.of_limbs(row).mean(over) if over > 0.0 else math.nan for row, over in pairs], np.float64)


def _checked(values: Floats) -> Floats:
    values = np.ascontiguousarray(values, np.float64)
    if values.ndim != 1:
        raise ValueError(f"an exact sum takes a 1-D array (shape {values.shape})")
    if np.isnan(values).any():
        raise ValueError("an exact sum takes no NaN")
    return values


def _without_infinities(values: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats]:
    """Masks of +inf and -inf, and the values with zeros in their places."""
    positive, negative = np.isposinf(values), np.isneginf(values)
    infinite = positive | negative
    return positive, negative, np.where(infinite, 0.0, values) if infinite.any() else values


def _blocks(values: Floats, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, values.size, size))


def _count_parts(counts: Ints) -> Iterator[tuple[int, Ints]]:
    """Counts cut into 16-bit parts: a part times a digit summed over a block stays below 2**61."""
    for shift in range(0, 64, _COUNT_BITS):
        part = (counts >> shift) & ((1 << _COUNT_BITS) - 1)
        if part.any():
            yield shift, part
