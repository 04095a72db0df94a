"""Figures of ledgers as functions of how often each query counts (see ``resampling``)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pipeline.arrays import Floats
from pipeline.metrics.kws.counts import Counts, accepted
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.one_pass import thin_of
from pipeline.metrics.kws.shared import LedgerScored, counts_of, means_of, means_over_all, optima_of
from pipeline.metrics.measure import Resample, Rows
from pipeline.metrics.statistics.resampling import NOT_RESAMPLED, Ratios, Sample, Swept, integers
from pipeline.partials.ledger import Ledger


def by_query(sample: Callable[[LedgerScored], Sample | str]) -> Resample[Ledger]:
    """A figure over queries; pooled trials have none to draw."""

    def of(scored: LedgerScored, _rows: Rows) -> Sample | str:
        return NOT_RESAMPLED if scored.rules.pooled else sample(scored)

    return Resample("query", of)


def value_rates(means: QueryMeans, counts: Counts, names: tuple[str, ...], beta: float) -> Sample | str:
    """1 - (P_miss + beta P_fa), or P_miss, or P_fa, of given counts."""
    if means.reason is not None:
        return means.reason
    kept = means.scored
    miss = np.divide(counts.n_miss, means.n_true, out=np.zeros(kept.size), where=means.in_p_miss)
    false = np.divide(counts.n_fa, means.n_nontarget, out=np.zeros(kept.size), where=means.in_p_fa)
    return Ratios(names, 1.0, np.array([-1.0, -beta]), *_both(means, miss, false))


def _both(means: QueryMeans, miss: Floats, false: Floats) -> tuple[Floats, Floats]:
    kept = means.scored
    counted = np.stack([means.in_p_miss[kept], means.in_p_fa[kept]]).astype(np.float64)
    return np.stack([miss[kept], false[kept]]), counted


def names_of(ledger: Ledger, means: QueryMeans) -> tuple[str, ...]:
    """The queries that take part in some means."""
    return tuple(np.array(ledger.queries, object)[means.scored].tolist())


def _value(scored: LedgerScored) -> Sample | str:
    means = scored.once(means_of)
    return value_rates(means, scored.once(counts_of), names_of(scored.total, means), scored.point.beta)


def _value_over_all(scored: LedgerScored) -> Sample | str:
    means = scored.once(means_over_all)
    return value_rates(means, scored.once(counts_of), names_of(scored.total, means), scored.point.beta)


def _value_at_bayes(scored: LedgerScored) -> Sample | str:
    means = scored.once(means_of)
    if means.reason is not None:
        return means.reason
    counts = accepted(scored.once(thin_of), scored.point.threshold)
    return value_rates(means, counts, names_of(scored.total, means), scored.point.beta)


def _value_at_optima(scored: LedgerScored) -> Sample | str:
    means = scored.once(means_of)
    if means.reason is not None:
        return means.reason
    return value_rates(means, scored.once(optima_of).counts, names_of(scored.total, means), scored.point.beta)


def _rate(kind: str) -> Callable[[LedgerScored], Sample | str]:
    def of(scored: LedgerScored) -> Sample | str:
        means, counts = scored.once(means_of), scored.once(counts_of)
        reason = means.reason if kind == "p_miss" else means.reason_p_fa
        if reason is not None:
            return reason
        kept = means.scored
        used = means.in_p_miss if kind == "p_miss" else means.in_p_fa
        part, whole = (counts.n_miss, means.n_true) if kind == "p_miss" else (counts.n_fa, means.n_nontarget)
        rate = np.divide(part, whole, out=np.zeros(kept.size), where=used)
        columns = rate[kept][None, :], used[kept][None, :].astype(np.float64)
        return Ratios(names_of(scored.total, means), 0.0, np.ones(1), *columns)

    return of


def swept(scored: LedgerScored, means: QueryMeans) -> Sample | str:
    """The largest value over thresholds of some means."""
    if means.reason is not None:
        return means.reason
    ledger, kept = scored.total, means.scored
    rows = np.flatnonzero(kept[ledger.query])
    rows = rows[np.argsort(-ledger.score[rows], kind="stable")]
    query = ledger.query[rows].astype(np.int64)
    score = ledger.score[rows]
    last = np.append(score[1:] != score[:-1], True)[: score.size]
    hit = np.divide(ledger.n_target[rows], means.n_true[query], out=np.zeros(rows.size), where=means.in_p_miss[query])
    false = np.divide(
        ledger.n_nontarget[rows], means.n_nontarget[query], out=np.zeros(rows.size), where=means.in_p_fa[query]
    )
    n_units = int(kept.sum())
    most = np.bincount(query, weights=np.abs(false), minlength=kept.size).max(initial=0.0)
    hits, hit_bits = integers(hit, 2.0 * n_units)
    alarms, false_bits = integers(false, 2.0 * n_units * max(float(most), 2.0**-200))
    place = np.cumsum(kept) - 1
    return Swept(
        units=names_of(scored.total, means),
        query=place[query].astype(np.int32),
        ends=np.flatnonzero(last) + 1,
        hit=hits,
        hit_bits=hit_bits,
        false=alarms,
        false_bits=false_bits,
        in_p_miss=means.in_p_miss[kept],
        in_p_fa=means.in_p_fa[kept],
        beta=scored.point.beta,
        reject_all_point=scored.rules.reject_all_point,
    )


def _best(scored: LedgerScored) -> Sample | str:
    return swept(scored, scored.once(means_of))


def _best_over_all(scored: LedgerScored) -> Sample | str:
    return swept(scored, scored.once(means_over_all))


VALUE = by_query(_value)
"""1 - (P_miss + beta P_fa) of the submitted decisions."""
VALUE_OVER_ALL = by_query(_value_over_all)
"""Its P_fa being over all queries."""
VALUE_AT_BAYES = by_query(_value_at_bayes)
VALUE_AT_OPTIMA = by_query(_value_at_optima)
BEST = by_query(_best)
"""The largest value over thresholds."""
BEST_OVER_ALL = by_query(_best_over_all)
P_MISS, P_FA = by_query(_rate("p_miss")), by_query(_rate("p_fa"))
