"""What the measures of one cell share. Each function is asked for through ``Scored.once``."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pipeline.arrays import Floats
from pipeline.metrics.kws.counts import Counts, Decisions, decided, decision_range
from pipeline.metrics.kws.det import thinned
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.one_pass import LedgerScored, means_of, means_over_all, passed, sweeps_of, thin_of
from pipeline.metrics.kws.optimum import Optima, alarms_show, optima
from pipeline.metrics.kws.radix_sweep import sweep_over
from pipeline.metrics.kws.sweep import Curve, sweep

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
    return _sweep(scored, scored.once(means_of))


def curve_over_all(scored: LedgerScored) -> Curve:
    """The sweep whose false-alarm rate and thresholds cover queries without occurrences."""
    sweeps = scored.once(sweeps_of)
    return scored.once(curve_of) if len(sweeps) == 1 else _sweep(scored, sweeps[1], drawn=False)


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

    Of a cell whose trials are elsewhere, only the points that ``det.thinned`` keeps.
    """
    curve = scored.once(curve_of)
    named = {"threshold": curve.threshold, "p_miss": curve.p_miss, "p_fa": curve.p_fa, "twv": curve.twv}
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
    words = [words for swept, words in scored.once(passed).sweeps if swept is means]
    return sweep(scored.once(thin_of), means, beta, *words, reject_all_point=scored.rules.reject_all_point)
