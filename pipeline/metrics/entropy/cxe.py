"""Cross-entropy of detections as measures, and as a function of how often each query counts."""

from __future__ import annotations

import math

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.bounds import COST, SHARE
from pipeline.metrics.entropy.crossentropy import cnxe, cxe, cxe_prior, cxe_submitted, prior_entropy
from pipeline.metrics.entropy.trial_set import MORE_DETECTIONS_THAN_TRIALS, NO_SCORES, trials_of
from pipeline.metrics.kws.counts import by_query as sums_by_query
from pipeline.metrics.kws.means import MORE_TARGETS_THAN_TRIALS
from pipeline.metrics.kws.samples import by_query
from pipeline.metrics.kws.shared import LedgerScored
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.metrics.statistics.resampling import INFINITE, MOST, NOT_RESAMPLED, Ratios, Sample
from pipeline.partials.ledger import Ledger


def cross_entropy_over_queries(scored: LedgerScored, unit: float) -> Sample | str:
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
    submitted = sums_by_query(ledger, ledger.n_nontarget)
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


def _in_bits(scored: LedgerScored) -> Sample | str:
    return cross_entropy_over_queries(scored, math.log(2.0))


def _normalised(scored: LedgerScored) -> Sample | str:
    return cross_entropy_over_queries(scored, prior_entropy(scored.point.effective_prior))


_S000 = "MediaEval SWS 2013 performance measures"
POOLED = "pooled over trials"

MEASURES: tuple[Measure[Ledger], ...] = (
    Measure(
        "cxe",
        "bit",
        "lower",
        COST,
        f"{_S000}, section 4.2.4, eq 43",
        cxe,
        label=Label("C", "xe"),
        aggregation=POOLED,
        resample=by_query(_in_bits),
    ),
    Measure(
        "cxe_prior",
        "bit",
        "none",
        SHARE,
        f"{_S000}, section 4.2.3, eq 39",
        cxe_prior,
        label=Label("C", "xe", "prior"),
        aggregation="of the operating point",
    ),
    Measure(
        "cnxe",
        "1",
        "lower",
        COST,
        f"{_S000}, sections 4.2.3-4.2.4, eq 40 with eq 43",
        cnxe,
        label=Label("C", "nxe"),
        aggregation=POOLED,
        resample=by_query(_normalised),
        heads_board=True,
        best="min_cnxe_pav",
    ),
)

CXE_SUBMITTED: Measure[Ledger] = Measure(
    "cxe_submitted",
    "bit",
    "lower",
    COST,
    f"{_S000}, section 4.2.3, eq 38, submitted trials alone",
    cxe_submitted,
    label=Label("C", "xe", "submitted trials"),
    aggregation="pooled over submitted trials",
)
