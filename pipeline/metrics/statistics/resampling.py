"""A figure as a function of how often each of its units counts: what bootstrap, jackknife and paired tests work on.

Units are queries, events, speakers or segments. Sums run over integers that float64 holds exactly, so they depend
neither on the order of units nor on how replicates are divided among tasks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.metrics.statistics.draws import codes

_EXACT_BITS = 52
"""Integers below 2**52 and their sums below 2**53 are exact in float64, in whatever order a library adds them."""
NOT_RESAMPLED = "not_resampled"
"""Reason: the measure is not a function of how often units count that is known here."""
INFINITE = "infinite"
"""Reason: a unit costs infinitely much, or more than ``MOST``."""
MOST = 1e100
"""Costs up to which squares and cubes of sums stay far inside of float64, as statistics take them."""


class Sample(Protocol):
    """The units of one cell's figure. Immutable and cheap to send."""

    @property
    def units(self) -> tuple[str, ...]:
        """Names of the units, sorted."""
        ...

    @property
    def strata(self) -> Ints:
        """The stratum of each unit, as a code."""
        ...

    @property
    def denominator(self) -> Floats:
        """Denominators of each unit's outcomes, shape (terms, units): equal ones make two samples comparable."""
        ...

    @property
    def contributions(self) -> Floats:
        """Each unit's contribution to the figure, up to a constant and a monotone function."""
        ...

    def values(self, weights: Ints) -> Floats:
        """The figure for each row of ``weights`` (replicates, units); NaN where it does not exist."""
        ...


def paired(first: Sample, second: Sample) -> bool:
    """Whether exchanging a unit's outcomes between two systems leaves the size of every mean as it is."""
    return first.units == second.units and np.array_equal(first.denominator, second.denominator)


def identity(values: Floats) -> Floats:
    """``values``."""
    return values


@dataclass(frozen=True, eq=False)
class Ratios:
    """``after(constant + sum_j coefficient_j * sum(numerator_j) / sum(denominator_j))``, sums over units.

    ATWV (means over queries), Cnxe and its kin (means over trials), error rates (errors over words) and multiclass
    costs (means over the segments of each class) all have this form.
    """

    units: tuple[str, ...]
    constant: float
    coefficient: Floats
    numerator: Floats
    """Shape (terms, units), finite."""
    denominator: Floats
    """Shape (terms, units), finite, not negative."""
    stratum: tuple[str, ...] = ()
    """The stratum of each unit where the figure has strata by its nature; otherwise empty."""
    after: Callable[[Floats], Floats] = identity
    """A monotone function of the sum; one that can be pickled."""

    @property
    def strata(self) -> Ints:
        """The stratum of each unit, as a code."""
        return codes(self.stratum) if self.stratum else np.zeros(len(self.units), np.int64)

    def values(self, weights: Ints) -> Floats:
        """The figure for each row of ``weights``; NaN where a denominator is 0."""
        total = np.full(weights.shape[0], self.constant)
        sums = _sums(weights.astype(np.float64), [*self.numerator, *self.denominator])
        for weight, above, below in zip(self.coefficient, sums, sums[len(self.coefficient) :], strict=False):
            ratio = np.full(total.shape, np.nan)
            np.divide(above, below, out=ratio, where=below > 0)
            total = total + weight * ratio
        return self.after(total)

    @property
    def contributions(self) -> Floats:
        """Each unit's contribution to the figure before ``after``, denominators as they are, without the constant."""
        totals = self.denominator.sum(axis=1)
        shares = np.divide(self.coefficient, totals, out=np.full(totals.shape, np.nan), where=totals > 0)
        return np.asarray((shares[:, None] * self.numerator).sum(axis=0))


def _sums(weights: Floats, columns: Sequence[Floats]) -> list[Floats]:
    """Weighted sums over units of each column, exactly those of its values rounded to a grid of some 2**-40 of its
    largest one."""
    scaled, bits = to_grid(np.stack(columns), weights.shape[1], 1)
    return list(np.ldexp((weights @ scaled.T).T, -bits))


def to_grid(values: Floats, n: int, axis: int | None = None) -> tuple[Floats, NDArray[np.int32]]:
    """Integers ``round(values * 2**bits)``, of which up to ``n`` add up without rounding, and ``bits``.

    All have the same ``bits``, or those along an axis.
    """
    largest = np.abs(values).max(axis, initial=0.0, keepdims=True)
    bits = _EXACT_BITS - max(n, 1).bit_length() - np.frexp(largest)[1]
    return np.rint(np.ldexp(values, bits)) + 0.0, bits


@dataclass(frozen=True, eq=False)
class Swept:
    """The maximum of a Term-Weighted Value over thresholds, found anew in every replicate.

    Rows stand by descending score; ``hit`` and ``false`` are what each adds to its query's 1 - P_miss and P_fa, as
    integers over 2**bits.
    """

    units: tuple[str, ...]
    query: NDArray[np.int32]
    ends: Ints
    """Rows of each distinct score end before these."""
    hit: Ints
    hit_bits: int
    false: Ints
    false_bits: int
    in_p_miss: NDArray[np.bool_]
    in_p_fa: NDArray[np.bool_]
    beta: float
    reject_all_point: bool

    @property
    def strata(self) -> Ints:
        """One stratum."""
        return np.zeros(len(self.units), np.int64)

    @property
    def denominator(self) -> Floats:
        """Which means each query is in."""
        return np.stack([self.in_p_miss, self.in_p_fa]).astype(np.float64)

    @property
    def contributions(self) -> Floats:
        """Each query's contribution at the one threshold that is best for all of them."""
        n = len(self.units)
        hit, false = (np.zeros(n, np.int64) for _ in range(2))
        end = self._best_end()
        np.add.at(hit, self.query[:end], self.hit[:end])
        np.add.at(false, self.query[:end], self.false[:end])
        gain = np.ldexp(hit.astype(np.float64), -self.hit_bits) / max(int(self.in_p_miss.sum()), 1)
        loss = np.ldexp(false.astype(np.float64), -self.false_bits) / max(int(self.in_p_fa.sum()), 1)
        return np.asarray(gain - self.beta * loss)

    def _best_end(self) -> int:
        """Rows accepted at the best threshold of all queries, 0 where accepting nothing is best."""
        twv = self._curve(np.ones(len(self.units), np.int64), self.ends)
        best = int(np.argmax(twv)) if twv.size else 0
        return 0 if not twv.size or (self.reject_all_point and twv[best] < 0) else int(self.ends[best])

    def values(self, weights: Ints) -> Floats:
        """MTWV for each row of ``weights``; NaN where no query with occurrences was drawn."""
        return np.array([self._value(row) for row in weights], np.float64)

    def _value(self, weight: Ints) -> float:
        if not weight[self.in_p_miss].any() or not weight[self.in_p_fa].any():
            return math.nan
        drawn = np.flatnonzero(weight[self.query])
        if not drawn.size:
            return 0.0
        # Thresholds are the scores of queries that were drawn.
        best = float(self._curve(weight, self.ends[np.searchsorted(self.ends, drawn[0], side="right") :]).max())
        return max(best, 0.0) if self.reject_all_point else best

    def _curve(self, weight: Ints, ends: Ints) -> Floats:
        """TWV where the rows before each of ``ends`` are accepted."""
        own = weight[self.query]
        hit, false = np.cumsum(own * self.hit)[ends - 1], np.cumsum(own * self.false)[ends - 1]
        twv = np.ldexp(hit.astype(np.float64), -self.hit_bits) / int(weight[self.in_p_miss].sum())
        twv -= self.beta * (np.ldexp(false.astype(np.float64), -self.false_bits) / int(weight[self.in_p_fa].sum()))
        return np.asarray(twv)


@dataclass(frozen=True, eq=False)
class Lost:
    """``worth`` times what a value lacks of 1: the least cost of means, where ``of`` is their largest value."""

    of: Sample
    worth: float

    @property
    def units(self) -> tuple[str, ...]:
        """Names of the units, sorted."""
        return self.of.units

    @property
    def strata(self) -> Ints:
        """The stratum of each unit, as a code."""
        return self.of.strata

    @property
    def denominator(self) -> Floats:
        """Denominators of each unit's outcomes."""
        return self.of.denominator

    @property
    def contributions(self) -> Floats:
        """Each unit's contribution to the cost, up to a constant."""
        return -self.worth * self.of.contributions

    def values(self, weights: Ints) -> Floats:
        """The cost for each row of ``weights``; NaN where it does not exist."""
        return self.worth * (1.0 - self.of.values(weights))


def integers(values: Floats, bound: float) -> tuple[Ints, int]:
    """``round(values * 2**bits)`` and ``bits``, where sums of absolute values stay below ``bound`` and below 2**61."""
    bits = 61 - math.frexp(max(bound, 1e-300))[1]
    return np.rint(np.ldexp(values, bits)).astype(np.int64), bits
