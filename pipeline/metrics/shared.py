"""What the measures of one cell share. Each function is asked for through ``Scored.once``."""

from __future__ import annotations

import math

import numpy as np

from pipeline.metrics.counts import Counts, Decisions, decided, decision_range
from pipeline.metrics.det import thinned
from pipeline.metrics.means import QueryMeans, query_means
from pipeline.metrics.measure import Scored
from pipeline.metrics.optimum import Optima, optima
from pipeline.metrics.radix_sweep import sweep_over
from pipeline.metrics.sweep import Curve, sweep
from pipeline.partials.ledger import Ledger

LedgerScored = Scored[Ledger]


def means_of(scored: LedgerScored) -> QueryMeans:
    """The means over queries by the protocol's rules."""
    if scored.rules.include_no_targets:
        return scored.once(means_over_all)
    return query_means(scored.total, scored.facts.n_trials, skip_undefined_p_fa=scored.rules.skip_undefined_p_fa)


def means_over_all(scored: LedgerScored) -> QueryMeans:
    """The means whose false-alarm rate covers queries without occurrences (plan 004 section 5.1.3.3)."""
    subtracted = 2 if scored.rules.no_targets_trials == "twice" else 1
    return query_means(
        scored.total,
        scored.facts.n_trials,
        include_no_targets=True,
        skip_undefined_p_fa=scored.rules.skip_undefined_p_fa,
        subtracted=subtracted,
    )


def counts_of(scored: LedgerScored) -> Counts:
    """Counts per query at the submitted decisions."""
    return decided(scored.total)


def curve_of(scored: LedgerScored) -> Curve:
    """The sweep by the protocol's rules."""
    return _sweep(scored, scored.once(means_of))


def curve_over_all(scored: LedgerScored) -> Curve:
    """The sweep whose false-alarm rate and thresholds cover queries without occurrences."""
    sweeps = scored.once(sweeps_of)
    return scored.once(curve_of) if len(sweeps) == 1 else _sweep(scored, sweeps[1], drawn=False)


def sweeps_of(scored: LedgerScored) -> tuple[QueryMeans, ...]:
    """The means of the cell's sweeps: by the protocol's rules and, where that is another sweep, over all queries."""
    own, means = scored.once(means_of), scored.once(means_over_all)
    if np.array_equal(means.in_p_fa, own.in_p_fa) and np.array_equal(means.n_nontarget, own.n_nontarget):
        return (own,)
    return (own, means)


def decisions(scored: LedgerScored) -> Decisions:
    """The range of accepted and of rejected scores, over all queries of the ledger."""
    return decision_range(scored.total)


def optima_of(scored: LedgerScored) -> Optima:
    """The best threshold of each query; only where the means exist."""
    means = scored.once(means_of)
    return optima(scored.total, means, scored.point.beta, reject_all_point=scored.rules.reject_all_point)


def curve_columns(scored: LedgerScored) -> dict[str, list[float]]:
    """The sweep as columns of equal length: threshold (NaN accepts nothing), p_miss, p_fa, twv; empty if undefined.

    Of a cell whose trials are elsewhere, only the points that ``det.thinned`` keeps.
    """
    curve = scored.once(curve_of)
    columns = (curve.threshold, curve.p_miss, curve.p_fa, curve.twv)
    named = {
        name: column.tolist() for name, column in zip(("threshold", "p_miss", "p_fa", "twv"), columns, strict=True)
    }
    return named if scored.elsewhere is None else thinned(named)


def _sweep(scored: LedgerScored, means: QueryMeans, *, drawn: bool = True) -> Curve:
    # A point that depends on the key may not exist where nothing is scored.
    beta = math.nan if means.reason else scored.point.beta
    if scored.elsewhere is not None and means.reason is None:
        omitted, reject_all_point = scored.total.omitted[0], scored.rules.reject_all_point
        over = scored.elsewhere.buckets
        found = sweep_over(over, means, omitted, beta, reject_all_point=reject_all_point, drawn=drawn)
        if found is not None:
            return found
    return sweep(scored.total, means, beta, reject_all_point=scored.rules.reject_all_point)
