"""Cross-entropy of scores read as log-likelihood ratios, over the complete set of trials."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.metrics.entropy.trial_set import NO_SCORES, Submitted, TrialSet, trials_of
from pipeline.metrics.kws.means import NO_TARGETS
from pipeline.metrics.measure import Scored
from pipeline.partials.exact import FAR, ExactSum
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure

NO_TARGET_SUBMITTED, NO_NONTARGET_SUBMITTED = "no_target_submitted", "no_nontarget_submitted"
"""Reasons: the trials that were submitted are all of the other class."""
_SAFE = 2.0**1000
"""Sums up to here overflow nowhere on their way; larger ones are shifted before they are divided."""


@dataclass(frozen=True)
class CostSums:
    """Summed costs of the submitted trials of both classes, in nats; exact, so that parts add up in any order."""

    target: ExactSum
    nontarget: ExactSum

    def __add__(self, other: CostSums) -> CostSums:
        return CostSums(self.target + other.target, self.nontarget + other.nontarget)


def cost_sums(trials: TrialSet, logit_prior: float) -> CostSums:
    """The costs of the submitted trials of a set at a prior."""
    sums: CostSums = trials.over_submitted(_cost_sums, logit_prior)
    return sums


def _cost_sums(block: Submitted, logit_prior: float) -> CostSums:
    score, n_target, n_nontarget = block
    return CostSums(_costs(score, logit_prior, -1.0, n_target), _costs(score, logit_prior, 1.0, n_nontarget))


def _costs(score: Floats, logit_prior: float, sign: float, counts: Ints) -> ExactSum:
    """Counts times log(1 + exp(log odds)), log odds against the truth."""
    used = np.flatnonzero(counts > 0)
    if 2 * used.size < counts.size:  # most scores are of one class
        score, counts = score[used], counts[used]
    return ExactSum.of_products(np.logaddexp(0.0, sign * (score + logit_prior)), counts)


def cross_entropy(trials: TrialSet, prior: float, logit_prior: float, submitted: CostSums | None = None) -> float:
    """P_tar mean_T C_log + (1 - P_tar) mean_F C_log in nats (seed 000 eq 37 and 43, before the division by log 2).

    Infinite where a target scores -inf or a non-target +inf. The sums are exact: no order or partition shows.
    ``submitted`` are the costs of submitted trials, where they are known.
    """
    sums = submitted or cost_sums(trials, logit_prior)
    censored = trials.censored_score + logit_prior
    target = _mean_cost(sums.target, trials.n_target, -censored, trials.censored_target)
    nontarget = _mean_cost(sums.nontarget, trials.n_nontarget, censored, trials.censored_nontarget)
    return prior * target + (1.0 - prior) * nontarget


def _mean_cost(submitted: ExactSum, counts: NDArray[Any], censored_log_odds: Floats, weights: Floats | Ints) -> float:
    """Weighted mean of log(1 + exp(log odds)), log odds against the truth; weight 0 silences an infinite cost.

    Infinite only where a cost is, or where the mean itself leaves float64: the sum may be far beyond.
    """
    used = weights > 0
    costs, repeats = np.logaddexp(0.0, censored_log_odds[used]), weights[used]
    mass = float(counts.sum()) + math.fsum(weights.tolist())
    at_most = submitted.value() + float(costs.max(initial=0.0)) * math.fsum(repeats.tolist())
    exponent = 0 if at_most < _SAFE else -FAR
    total = math.fsum([submitted.value(exponent), *(np.ldexp(costs, exponent) * repeats).tolist()])
    return total / mass * 2.0**-exponent


def prior_entropy(prior: float) -> float:
    """Entropy of the target prior in nats (seed 000 eq 39, before the division by log 2)."""
    return -prior * math.log(prior) - (1.0 - prior) * math.log1p(-prior)


def nats_of(scored: Scored[Ledger]) -> float:
    """Cross-entropy in nats of a trial set that exists; of the non-informative system where there are no scores."""
    trials, point = scored.once(trials_of), scored.point
    if trials.status == NO_SCORES:
        return prior_entropy(point.effective_prior)
    return cross_entropy(trials, point.effective_prior, point.logit_prior, scored.once(submitted_costs))


def submitted_costs(scored: Scored[Ledger]) -> CostSums:
    """The costs of all submitted trials at the cell's prior."""
    return cost_sums(scored.once(trials_of), scored.point.logit_prior)


def cxe_submitted(scored: Scored[Ledger]) -> Figure:
    """Empirical cross-entropy over the submitted trials alone, in bits (seed 000 eq 38).

    A diagnosis: it does not compare systems, which submit different trials. ``detail`` states how many there are.
    Undefined where no target or no other trial was submitted.
    """
    trials, point = scored.once(trials_of), scored.point
    n_target, n_nontarget = int(trials.n_target.sum()), int(trials.n_nontarget.sum())
    reason = NO_TARGETS if trials.reason == NO_TARGETS else None if trials.score.size else NO_SCORES
    if reason is None and not (n_target and n_nontarget):
        reason = NO_NONTARGET_SUBMITTED if n_target else NO_TARGET_SUBMITTED
    detail = {"n_target_trials": float(n_target), "n_nontarget_trials": float(n_nontarget)}
    if reason is not None:
        return Figure(math.nan, reason, detail=detail)
    none = np.zeros(0)
    alone = replace(trials, censored_score=none, censored_target=none.astype(np.int64), censored_nontarget=none)
    nats = cross_entropy(alone, point.effective_prior, point.logit_prior, scored.once(submitted_costs))
    return Figure(nats / math.log(2.0), detail=detail)


def cxe(scored: Scored[Ledger]) -> Figure:
    """Empirical cross-entropy over the complete set of trials, in bits (seed 000 eq 43)."""
    trials = scored.once(trials_of)
    if trials.reason is not None:
        return Figure.undefined(trials.reason)
    return Figure(scored.once(nats_of) / math.log(2.0), status=trials.status, detail=trials.detail())


def cxe_prior(scored: Scored[Ledger]) -> Figure:
    """Prior entropy in bits: the cross-entropy of a system whose every score is 0 (seed 000 eq 39)."""
    prior = scored.point.effective_prior
    if not 0.0 < prior < 1.0:
        return Figure.undefined("no_operating_point")
    return Figure(prior_entropy(prior) / math.log(2.0))


def cnxe(scored: Scored[Ledger]) -> Figure:
    """Normalised cross-entropy, Cxe / Cxe_prior (seed 000 eq 40); 1 where nothing was submitted.

    Pooled over queries. At P_tar = 1/2 it is Cllr. ``detail`` states the sizes of the trial set and its censored part.
    """
    trials = scored.once(trials_of)
    if trials.reason is not None:
        return Figure.undefined(trials.reason)
    value = scored.once(nats_of) / prior_entropy(scored.point.effective_prior)
    return Figure(value, status=trials.status, detail=trials.detail())
