"""Mean error rates over queries: who takes part, with which weight, and whether the means exist."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.metrics.fixed_point import FixedPoint
from pipeline.metrics.kws.counts import Counts, by_query
from pipeline.partials.ledger import Ledger

NO_TARGETS = "no_targets"
"""Reason: no query has an occurrence."""
NO_NONTARGET_TRIALS = "no_nontarget_trials"
"""Reason: a query whose false-alarm rate is averaged has no trial that could be a false alarm."""
MORE_TARGETS_THAN_TRIALS = "more_targets_than_trials"
"""Reason: a query whose false-alarm rate is averaged has more occurrences than trials."""
P_FA_ABOVE_ONE = "p_fa_above_one"
"""Status: a query has more false alarms than non-target trials. Trials per second are only a convention."""


@dataclass(frozen=True)
class Rates:
    """One point of operation: mean miss and false-alarm rates, and the Term-Weighted Value they give."""

    p_miss: float
    p_fa: float
    twv: float


@dataclass(frozen=True)
class QueryMeans:
    """How counts of queries become mean error rates (seed 000 eq 1-5). Arrays lie over the ledger's queries."""

    n_true: Ints
    n_nontarget: Floats
    """N - N_true per query (seed 000 eq 2), not an integer where N is not."""
    in_p_miss: NDArray[np.bool_]
    in_p_fa: NDArray[np.bool_]
    miss: FixedPoint
    fa: FixedPoint
    reason: str | None
    """Why TWV does not exist."""
    reason_p_fa: str | None
    """Why the mean false-alarm rate does not exist."""

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Queries whose scores are thresholds of a sweep."""
        return self.in_p_miss | self.in_p_fa

    @property
    def n_queries(self) -> int:
        """K, the queries whose miss rate is averaged."""
        return int(self.in_p_miss.sum())

    @property
    def n_queries_fa(self) -> int:
        """K', the queries whose false-alarm rate is averaged."""
        return int(self.in_p_fa.sum())

    def p_miss(self, n_miss: Ints) -> float:
        """Mean of N_miss / N_true (seed 000 eq 4); NaN without queries."""
        return self.miss.total(n_miss) / self.n_queries if self.n_queries else math.nan

    def p_fa(self, n_fa: Ints) -> float:
        """Mean of N_fa / (N - N_true) (seed 000 eq 5); NaN where ``reason_p_fa`` says why."""
        return self.fa.total(n_fa) / self.n_queries_fa if self.reason_p_fa is None else math.nan

    def rates(self, counts: Counts, beta: float) -> Rates:
        """Both means and TWV = 1 - (P_miss + beta P_fa) (seed 000 eq 6)."""
        p_miss, p_fa = self.p_miss(counts.n_miss), self.p_fa(counts.n_fa)
        return Rates(p_miss, p_fa, 1.0 - (p_miss + beta * p_fa))

    def status_of(self, n_fa: Ints) -> str | None:
        """The status of a false-alarm rate that exists."""
        return P_FA_ABOVE_ONE if bool(np.any(n_fa[self.in_p_fa] > self.n_nontarget[self.in_p_fa])) else None


def query_means(
    ledger: Ledger,
    n_trials: float | Floats,
    *,
    include_no_targets: bool = False,
    skip_undefined_p_fa: bool = False,
    subtracted: int = 1,
) -> QueryMeans:
    """The means over the queries with occurrences. ``n_trials`` is N, one for all queries or one for each.

    ``include_no_targets`` averages the false-alarm rate over all queries (KWSEval -inc). ``subtracted`` says how often
    N_true is taken off the trials: once, or twice as plan 004 section 5.1.3.3 has it for such means.
    ``skip_undefined_p_fa`` leaves queries without non-target trials out of the mean false-alarm rate
    (KWSEval -g); by default one of them makes that mean undefined (KWSEval dies there). So does a query with more
    occurrences than trials in any case: its rate would be negative (KWSEval prints it).
    """
    n_true = ledger.n_true[0]
    trials = np.broadcast_to(np.asarray(n_trials, np.float64), n_true.shape)
    n_nontarget = trials - subtracted * n_true
    in_p_miss = n_true > 0
    in_p_fa = np.ones_like(in_p_miss) if include_no_targets else in_p_miss
    if skip_undefined_p_fa:
        in_p_fa = in_p_fa & (n_nontarget != 0)
    reason_p_fa = None
    if not in_p_fa.any():
        reason_p_fa = NO_NONTARGET_TRIALS if in_p_miss.any() else NO_TARGETS
    elif np.any(trials[in_p_fa] < n_true[in_p_fa]):
        reason_p_fa = MORE_TARGETS_THAN_TRIALS
    elif np.any(n_nontarget[in_p_fa] <= 0):
        reason_p_fa = NO_NONTARGET_TRIALS
    pairs, pair = np.unique(np.stack([trials, n_true.astype(np.float64)]), axis=1, return_inverse=True)
    pair = pair.reshape(-1)  # NumPy 2.0 gives it another shape
    targets, nontarget = [Fraction(n) for n in pairs[1].tolist()], [Fraction(n) for n in pairs[0].tolist()]
    nontarget = [n_all - subtracted * n for n_all, n in zip(nontarget, targets, strict=True)]
    return QueryMeans(
        n_true=n_true,
        n_nontarget=n_nontarget,
        in_p_miss=in_p_miss,
        in_p_fa=in_p_fa,
        miss=_reciprocals(targets, pair, in_p_miss, n_true),
        fa=_reciprocals(nontarget, pair, in_p_fa, by_query(ledger, ledger.n_nontarget)),
        reason=reason_p_fa if in_p_miss.any() else NO_TARGETS,
        reason_p_fa=reason_p_fa,
    )


def _reciprocals(distinct: Sequence[Fraction], which: Ints, used: NDArray[np.bool_], totals: Ints) -> FixedPoint:
    """Weights 1 / denominator of the queries in use, 0 elsewhere, for counts of at most ``totals`` a query, whose
    denominators are ``distinct[which]``."""
    weights = [Fraction(0), *(1 / denominator if denominator else Fraction(0) for denominator in distinct)]
    counted = used & (np.array([denominator != 0 for denominator in distinct], np.bool_)[which])
    index = np.where(counted, which + 1, 0)
    sums = np.zeros(len(weights), np.int64)
    np.add.at(sums, index[counted], totals[counted])
    return FixedPoint.of(weights, sums.tolist()).take(index)
