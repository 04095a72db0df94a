"""Figures of ledgers as functions of how often each query counts (see ``resampling``)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pipeline.metrics.entropy.crossentropy import MORE_DETECTIONS_THAN_TRIALS, NO_SCORES, prior_entropy, trials_of
from pipeline.metrics.kws.counts import Counts, accepted, by_query
from pipeline.metrics.kws.means import MORE_TARGETS_THAN_TRIALS, QueryMeans
from pipeline.metrics.kws.one_pass import thin_of
from pipeline.metrics.kws.shared import LedgerScored, counts_of, means_of, means_over_all, optima_of
from pipeline.metrics.statistics.resampling import Floats, Ints, Ratios, Sample, Swept, integers
from pipeline.partials.ledger import Ledger

NOT_RESAMPLED = "not_resampled"
"""Reason: the measure is not a function of how often units count that is known here."""
INFINITE = "infinite"
"""Reason: a unit costs infinitely much, or more than ``MOST``."""
MOST = 1e100
"""Costs up to which squares and cubes of sums stay far inside of float64, as statistics take them."""


def ledger_sample(scored: LedgerScored, measure: str) -> Sample | str:
    """A measure of a ledger over its scored queries, or the reason why there is none."""
    if measure not in _LEDGER:
        return NOT_RESAMPLED
    return _LEDGER[measure](scored)


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


def _atwv(scored: LedgerScored) -> Sample | str:
    means = scored.once(means_of)
    return value_rates(means, scored.once(counts_of), names_of(scored.total, means), scored.point.beta)


def _atwv_all(scored: LedgerScored) -> Sample | str:
    means = scored.once(means_over_all)
    return value_rates(means, scored.once(counts_of), names_of(scored.total, means), scored.point.beta)


def _twv_bayes(scored: LedgerScored) -> Sample | str:
    means = scored.once(means_of)
    if means.reason is not None:
        return means.reason
    counts = accepted(scored.once(thin_of), scored.point.threshold)
    return value_rates(means, counts, names_of(scored.total, means), scored.point.beta)


def _twv_optimum(scored: LedgerScored) -> Sample | str:
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


def _cross_entropy(scored: LedgerScored, unit: float) -> Sample | str:
    """Cxe over ``unit`` nats: targets and non-targets are pooled over queries, censored trials included.

    The score that censors is the one of the whole cell, also in a replicate without the query that it comes from.
    """
    trials, point, ledger = scored.once(trials_of), scored.point, scored.total
    if trials.reason is not None:
        return trials.reason
    if scored.rules.censor == "query" and trials.detail()["n_censored_nontarget"]:
        return NOT_RESAMPLED
    kept = ledger.n_true[0] > 0
    names = tuple(np.array(ledger.queries, object)[kept].tolist())
    n_target, n_nontarget = ledger.n_true[0].astype(np.float64), scored.facts.n_trials_exact - ledger.n_true[0]
    submitted = by_query(ledger, ledger.n_nontarget)
    if trials.status == MORE_DETECTIONS_THAN_TRIALS:
        return trials.status
    if np.any(n_nontarget[kept] < 0.0):  # whoever draws such a query often has too few trials
        return MORE_TARGETS_THAN_TRIALS
    bottom = np.stack([n_target, n_nontarget])[:, kept]
    coefficient = np.array([point.effective_prior, 1.0 - point.effective_prior]) / unit
    if trials.status == NO_SCORES:
        return Ratios(names, prior_entropy(point.effective_prior) / unit, np.zeros(2), np.zeros(bottom.shape), bottom)
    censored = float(trials.censored_score[0]) + point.logit_prior
    log_odds = ledger.score + point.logit_prior
    with np.errstate(over="ignore"):
        target = _costs(scored, -log_odds, ledger.n_target, -censored, ledger.omitted[0])
        nontarget = _costs(scored, log_odds, ledger.n_nontarget, censored, n_nontarget - submitted)
    top = np.stack([target, nontarget])[:, kept]
    if not (top <= MOST).all():
        return INFINITE
    return Ratios(names, 0.0, coefficient, top, bottom)


def _costs(scored: LedgerScored, odds: Floats, counts: Ints, censored: float, missing: Floats | Ints) -> Floats:
    """Summed log(1 + exp(odds)) of each query's trials; a weight of 0 silences an infinite cost."""
    used = counts > 0
    costs = np.zeros(odds.size)
    costs[used] = np.logaddexp(0.0, odds[used]) * counts[used]
    sums = np.bincount(scored.total.query, weights=costs, minlength=len(scored.total.queries))
    cost = float(np.logaddexp(0.0, censored))
    return np.asarray(sums + (cost * missing if math.isfinite(cost) else np.where(missing != 0, cost, 0.0)))


_LEDGER: dict[str, Callable[[LedgerScored], Sample | str]] = {
    "atwv": _atwv,
    "atwv_all": _atwv_all,
    "mtwv": lambda scored: swept(scored, scored.once(means_of)),
    "mtwv_all": lambda scored: swept(scored, scored.once(means_over_all)),
    "twv_bayes": _twv_bayes,
    "twv_optimum": _twv_optimum,
    "ub_twv": _twv_optimum,
    "stwv": _atwv,
    "stwv_all": _atwv_all,
    "max_stwv": lambda scored: swept(scored, scored.once(means_of)),
    "max_stwv_all": lambda scored: swept(scored, scored.once(means_over_all)),
    "stwv_optimum": _twv_optimum,
    "p_miss": _rate("p_miss"),
    "p_fa": _rate("p_fa"),
    "cxe": lambda scored: _cross_entropy(scored, math.log(2.0)),
    "cnxe": lambda scored: _cross_entropy(scored, prior_entropy(scored.point.effective_prior)),
}
