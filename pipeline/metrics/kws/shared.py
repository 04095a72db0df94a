"""Values that the measures of one cell share. Each function is asked for through ``Scored.once``."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.arrays import Floats
from pipeline.metrics.kws.counts import Counts, Decisions, decided, decision_range
from pipeline.metrics.kws.det import thinned
from pipeline.metrics.kws.one_pass import LedgerScored, means_of, means_over_all, passed, sweeps_of, thin_of
from pipeline.metrics.kws.optimum import Optima, alarms_show, optima
from pipeline.metrics.kws.sweep import Curve

__all__ = [
    "LedgerScored",
    "counts_of",
    "curve_columns",
    "curve_of",
    "curve_over_all",
    "decisions",
    "means_of",
    "means_over_all",
    "optima_of",
    "sweeps_of",
]


def counts_of(scored: LedgerScored) -> Counts:
    """Counts per query at the submitted decisions."""
    return decided(scored.once(thin_of))


def curve_of(scored: LedgerScored) -> Curve:
    """The sweep by the protocol's rules."""
    return scored.once(passed).curves[0]


def curve_over_all(scored: LedgerScored) -> Curve:
    """The sweep whose false-alarm rate and thresholds cover queries without occurrences."""
    return scored.once(passed).curves[-1]


def decisions(scored: LedgerScored) -> Decisions:
    """The range of accepted and of rejected scores, over all queries of the ledger."""
    return decision_range(scored.once(thin_of))


def optima_of(scored: LedgerScored) -> Optima:
    """The best threshold of each query; only where the means exist."""
    means = scored.once(means_of)
    beta, thin = scored.point.beta, scored.once(thin_of)
    ledger = thin if alarms_show(thin, means, beta) else scored.total
    return optima(ledger, means, beta, reject_all_point=scored.rules.reject_all_point)


def curve_columns(scored: LedgerScored) -> Mapping[str, Floats | list[float]]:
    """The sweep as columns of equal length: threshold (NaN accepts nothing), p_miss, p_fa, twv; empty if undefined.

    Where not every point is asked for, those that ``det.thinned`` keeps.
    """
    curve = scored.once(curve_of)
    named = {"threshold": curve.threshold, "p_miss": curve.p_miss, "p_fa": curve.p_fa, "twv": curve.twv}
    return named if scored.every_point else thinned(named)
