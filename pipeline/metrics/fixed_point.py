"""Weighted sums of counts that do not depend on order: each weight is kept as two int64 words.

A mean error rate is a sum of counts times rational weights (1 / N_true, 1 / (N - N_true)), at one threshold or at
every threshold of a sweep. Words are integers, so partial and running sums are exact; only the weights are cut, after
about 80 bits, and the result is rounded to float64 once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pipeline.arrays import Floats, Ints

HALF = 31
_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class FixedPoint:
    """Weights w = (high + low / 2**low_bits) / 2**high_bits, low >= 0, cut below the last bit of ``low``.

    The scale is chosen so that no running sum of the counts it was made for leaves int64. The cut costs a sum less
    than ``2**-high_bits * 2**-16`` for up to 2**23 counts, and ``value`` errs by one rounding of the result.
    """

    high: Ints
    low: Ints
    high_bits: int
    low_bits: int

    @classmethod
    def of(cls, weights: Sequence[Fraction], totals: Sequence[int]) -> FixedPoint:
        """Weights of groups, of which at most ``totals`` are ever counted (non-negative, fewer than 2**60 in all)."""
        common = math.lcm(*(weight.denominator for weight in weights))
        whole = (abs(weight.numerator) * (common // weight.denominator) for weight in weights)
        bound = Fraction(sum(units * total for units, total in zip(whole, totals, strict=True)), common)
        high_bits = 61 - (bound.numerator.bit_length() - bound.denominator.bit_length() + 1) if bound else 0
        low_bits = 62 - sum(totals).bit_length()
        up, down = max(high_bits, 0), max(-high_bits, 0)
        parts = [divmod(weight.numerator << up, weight.denominator << down) for weight in weights]
        high = [word for word, _ in parts]
        low = [(rest << low_bits) // (w.denominator << down) for w, (_, rest) in zip(weights, parts, strict=True)]
        # A group that is never counted may have a weight beyond the scale: nothing will multiply it.
        counted = [total > 0 for total in totals]
        return cls(
            np.array([word if used else 0 for word, used in zip(high, counted, strict=True)], np.int64),
            np.array([word if used else 0 for word, used in zip(low, counted, strict=True)], np.int64),
            high_bits,
            low_bits,
        )

    def take(self, index: Ints) -> FixedPoint:
        """The weights of groups spread over their members."""
        return FixedPoint(self.high[index], self.low[index], self.high_bits, self.low_bits)

    def total(self, counts: Ints) -> float:
        """The sum of counts times weights, both over the same axis."""
        high, low = (counts * self.high).sum(), (counts * self.low).sum()
        return float(self.value(np.atleast_1d(high), np.atleast_1d(low))[0])

    def value(self, high: Ints, low: Ints) -> Floats:
        """Sums of words as float64."""
        # The upper half is exact in float64; the lower half and the second word stay far below its last bit.
        upper = np.ldexp((high >> HALF).astype(np.float64), HALF)
        lower = (high & ((1 << HALF) - 1)).astype(np.float64) + np.ldexp(low.astype(np.float64), -self.low_bits)
        return np.ldexp(upper + lower, -self.high_bits)


def in_blocks(n_rows: int) -> Iterator[slice]:
    """Rows, so many at a time that columns of them stay in a processor's caches: fresh memory costs more than sums."""
    return (slice(begin, begin + _AT_ONCE) for begin in range(0, n_rows, _AT_ONCE))
