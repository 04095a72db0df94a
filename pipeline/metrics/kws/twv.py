"""Term-Weighted Values: as decided, at the best threshold, at the Bayes threshold, and the bounds per query.

Also what a cell's document shows beside the figures: ``blocks``, ``curve_columns`` and ``decisions``.
"""

from __future__ import annotations

import math
from typing import Any

from pipeline.metrics.bounds import ANY, FROM_0, SHARE, UP_TO_1, Bounds
from pipeline.metrics.kws import costs, samples
from pipeline.metrics.kws.blocks import blocks
from pipeline.metrics.kws.counts import Counts, Decisions, accepted
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.one_pass import thin_of
from pipeline.metrics.kws.shared import (
    LedgerScored,
    counts_of,
    curve_columns,
    curve_of,
    curve_over_all,
    decisions,
    means_of,
    means_over_all,
    optima_of,
)
from pipeline.metrics.kws.sweep import Curve
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure

__all__ = ["MEASURES", "Decisions", "blocks", "curve_columns", "decisions"]


def _k(means: QueryMeans) -> dict[str, float]:
    return {"n_queries": float(means.n_queries), "n_queries_fa": float(means.n_queries_fa)}


def _value_at(scored: LedgerScored, counts: Counts, means: QueryMeans, extra: dict[str, float]) -> Figure:
    if means.reason is not None:
        return Figure.undefined(means.reason)
    rates = means.rates(counts, scored.point.beta)
    detail = {"p_miss": rates.p_miss, "p_fa": rates.p_fa, **_k(means), **extra}
    return Figure(rates.twv, status=means.status_of(counts.n_fa), detail=detail)


def atwv(scored: LedgerScored) -> Figure:
    """TWV of the submitted decisions, 1 - (P_miss + beta P_fa) (seed 000 eq 6, section 4.1).

    ``detail`` says whether one threshold explains the decisions: ``min_yes``, ``max_no``, ``consistent`` (1 or 0).
    """
    seen = scored.once(decisions)
    extra = {"min_yes": seen.min_yes, "max_no": seen.max_no, "consistent": float(seen.consistent)}
    return _value_at(scored, scored.once(counts_of), scored.once(means_of), extra)


def atwv_all(scored: LedgerScored) -> Figure:
    """ATWV with the false alarms of queries without occurrences: P_fa over all K' queries (plan 004 5.1.3.3)."""
    return _value_at(scored, scored.once(counts_of), scored.once(means_over_all), {})


def _maximum(curve: Curve, means: QueryMeans) -> Figure:
    if curve.reason is not None:
        return Figure.undefined(curve.reason)
    best = curve.best
    detail = {
        "threshold": float(curve.threshold[best]),
        "p_miss": float(curve.p_miss[best]),
        "p_fa": float(curve.p_fa[best]),
        **_k(means),
    }
    return Figure(float(curve.twv.max()), detail=detail)


def mtwv(scored: LedgerScored) -> Figure:
    """The maximum of TWV over all thresholds (seed 000 section 2.3); 0 where nothing was submitted."""
    return _maximum(scored.once(curve_of), scored.once(means_of))


def mtwv_all(scored: LedgerScored) -> Figure:
    """MTWV with the false alarms of queries without occurrences (plan 004 section 5.1.3.3)."""
    return _maximum(scored.once(curve_over_all), scored.once(means_over_all))


def mtwv_threshold(scored: LedgerScored) -> Figure:
    """The lowest threshold that attains MTWV; a detection is accepted where ``score >= threshold``.

    Undefined as ``reject_all`` where accepting nothing is best, and as ``no_scores`` where nothing was submitted.
    """
    curve = scored.once(curve_of)
    if curve.reason is not None:
        return Figure.undefined(curve.reason)
    threshold = float(curve.threshold[curve.best])
    if math.isnan(threshold):
        return Figure.undefined("reject_all" if curve.threshold.size > 1 else "no_scores")
    return Figure(threshold)


def p_miss(scored: LedgerScored) -> Figure:
    """Mean miss rate of the submitted decisions (seed 000 eq 4)."""
    means = scored.once(means_of)
    if not means.n_queries:
        return Figure.undefined(str(means.reason))
    return Figure(means.p_miss(scored.once(counts_of).n_miss), detail={"n_queries": float(means.n_queries)})


def p_fa(scored: LedgerScored) -> Figure:
    """Mean false-alarm rate of the submitted decisions (seed 000 eq 5). Not clipped."""
    means, counts = scored.once(means_of), scored.once(counts_of)
    if means.reason_p_fa is not None:
        return Figure.undefined(means.reason_p_fa)
    detail = {"n_queries_fa": float(means.n_queries_fa)}
    return Figure(means.p_fa(counts.n_fa), status=means.status_of(counts.n_fa), detail=detail)


def twv_bayes(scored: LedgerScored) -> Figure:
    """TWV at the minimum-expected-cost threshold -logit(P_tar), scores read as log-likelihood ratios (000 eq 29-31)."""
    means = scored.once(means_of)
    if means.reason is not None:
        return Figure.undefined(means.reason)
    threshold = scored.point.threshold
    return _value_at(scored, accepted(scored.once(thin_of), threshold), means, {"threshold": threshold})


def twv_optimum(scored: LedgerScored) -> Figure:
    """TWV with the best threshold for each query, "upper-bound TWV" (KWSEval's Optimum, UB-TWV of QUESST).

    A query may accept nothing where the sweep has such a point, or where another scored query has a higher score
    than all of its own (KWSEval: thresholds are those of the common sweep).
    """
    means = scored.once(means_of)
    if means.reason is not None:
        return Figure.undefined(means.reason)
    return _value_at(scored, scored.once(optima_of).counts, means, {})


def twv_supremum(scored: LedgerScored) -> Figure:
    """TWV of a system that keeps its hits and has no false alarm: 1 - mean(N_omitted / N_true) (KWSEval's Supremum)."""
    means = scored.once(means_of)
    if not means.n_queries:
        return Figure.undefined(str(means.reason))
    missed = means.p_miss(scored.total.omitted[0])
    return Figure(1.0 - missed, detail={"p_miss": missed, "p_fa": 0.0, "n_queries": float(means.n_queries)})


def best_twv(settings: Any) -> Bounds:
    """The range of TWV at its best: never below 0 where a system may accept nothing."""
    return SHARE if getattr(settings, "reject_all_point", True) else UP_TO_1


QUERIES = "mean over queries with occurrences"
ALL_QUERIES = "P_miss: mean over queries with occurrences, P_fa: over all"
MAXIMUM = "maximum over thresholds of means over queries"
_S000, _P004 = "MediaEval SWS 2013 performance measures", "OpenKWS13 evaluation plan"

MEASURES: tuple[Measure[Ledger], ...] = (
    Measure(
        "atwv",
        "1",
        "higher",
        UP_TO_1,
        f"{_S000}, section 4.1, eq 6 at the submitted decisions",
        atwv,
        label=Label("ATWV"),
        aggregation=QUERIES,
        resample=samples.VALUE,
        heads_board=True,
        best="mtwv",
    ),
    Measure(
        "mtwv",
        "1",
        "higher",
        best_twv,
        f"{_S000}, section 2.3, maximum of eq 6",
        mtwv,
        label=Label("MTWV"),
        aggregation=MAXIMUM,
        resample=samples.BEST,
        heads_board=True,
        threshold="mtwv_threshold",
    ),
    Measure(
        "mtwv_threshold",
        "score",
        "none",
        ANY,
        f"{_S000}, section 2.3, theta_opt",
        mtwv_threshold,
        label=Label("θ", "MTWV"),
        aggregation=MAXIMUM,
    ),
    Measure(
        "atwv_all",
        "1",
        "higher",
        UP_TO_1,
        f"{_P004}, section 5.1.3.3",
        atwv_all,
        label=Label("ATWV", note="all queries"),
        aggregation=ALL_QUERIES,
        resample=samples.VALUE_OVER_ALL,
    ),
    Measure(
        "mtwv_all",
        "1",
        "higher",
        best_twv,
        f"{_P004}, section 5.1.3.3, maximum over thresholds",
        mtwv_all,
        label=Label("MTWV", note="all queries"),
        aggregation=MAXIMUM,
        resample=samples.BEST_OVER_ALL,
    ),
    Measure(
        "p_miss",
        "1",
        "lower",
        SHARE,
        f"{_S000}, section 2.2, eq 4",
        p_miss,
        label=Label("P", "miss"),
        aggregation=QUERIES,
        resample=samples.P_MISS,
    ),
    Measure(
        "p_fa",
        "1",
        "lower",
        FROM_0,
        f"{_S000}, section 2.2, eq 5",
        p_fa,
        label=Label("P", "fa"),
        aggregation=QUERIES,
        resample=samples.P_FA,
    ),
    Measure(
        "twv_bayes",
        "1",
        "higher",
        UP_TO_1,
        f"{_S000}, section 4.2.2, eq 31 in eq 6",
        twv_bayes,
        label=Label("TWV", "Bayes"),
        aggregation=QUERIES,
        resample=samples.VALUE_AT_BAYES,
    ),
    Measure(
        "twv_optimum",
        "1",
        "higher",
        best_twv,
        "F4DE KWSEval, Optimum TWV",
        twv_optimum,
        label=Label("TWV", "optimum"),
        aggregation=QUERIES,
        resample=samples.VALUE_AT_OPTIMA,
    ),
    Measure(
        "twv_supremum",
        "1",
        "higher",
        SHARE,
        "F4DE KWSEval, Supremum TWV",
        twv_supremum,
        label=Label("TWV", "supremum"),
        aggregation=QUERIES,
    ),
    *costs.MEASURES,
)
