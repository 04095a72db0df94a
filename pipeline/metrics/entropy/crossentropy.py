"""Cross-entropy of scores read as log-likelihood ratios, over the complete set of trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.errors import Finding, InputError, UsageError
from pipeline.metrics.fixed_point import in_blocks
from pipeline.metrics.kws.at_scores import Asked, AtScores, at_scores, target_rows
from pipeline.metrics.kws.counts import by_query
from pipeline.metrics.kws.means import MORE_TARGETS_THAN_TRIALS, NO_NONTARGET_TRIALS, NO_TARGETS
from pipeline.metrics.kws.one_pass import passed, thin_of
from pipeline.metrics.measure import Over, Scored
from pipeline.partials.exact import FAR, ExactSum
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure

NO_SCORES = "no_scores"
"""Status: nothing was submitted and nothing censors; the figures are those of the non-informative system."""
NO_TARGET_SUBMITTED, NO_NONTARGET_SUBMITTED = "no_target_submitted", "no_nontarget_submitted"
"""Reasons: the trials that were submitted are all of the other class."""
MORE_DETECTIONS_THAN_TRIALS = "more_detections_than_trials"
"""Status: more non-target detections than non-target trials; the censored ones weigh 0, never less."""
_SAFE = 2.0**1000
"""Sums up to here overflow nowhere on their way; larger ones are shifted before they are divided."""


@dataclass(frozen=True)
class TrialSet:
    """Every trial of the queries with occurrences (seed 000 eq 41-43): submitted ones by score, and censored ones.

    ``score`` is strictly ascending, with counts beside it. Censored rows hold the trials nobody submitted; their
    non-target weights are not integers where N is not.
    """

    score: Floats
    n_target: Ints
    n_nontarget: Ints
    censored_score: Floats
    censored_target: Ints
    censored_nontarget: Floats
    n_nontarget_trials: float = 0.0
    """|Q'| N - |T_true| as the definition counts; smaller than what was submitted in a degenerate case."""
    llr_min: float = math.nan
    """Lowest submitted score over all scored queries (seed 000 eq 42); NaN without scores."""
    reason: str | None = None
    status: str | None = None

    @property
    def target_mass(self) -> int:
        """|T_true|."""
        return int(self.n_target.sum() + self.censored_target.sum())

    @property
    def nontarget_mass(self) -> float:
        """Summed weight of non-target trials: |T_false|, or what was submitted where that is more."""
        return float(self.n_nontarget.sum()) + math.fsum(self.censored_nontarget.tolist())

    def rows(self) -> tuple[Floats, Floats, Floats]:
        """Strictly ascending scores with the weights of target and non-target trials, censored ones included."""
        return self._rows

    @cached_property
    def _rows(self) -> tuple[Floats, Floats, Floats]:
        if not self.censored_score.size and bool(((self.n_target > 0) | (self.n_nontarget > 0)).all()):
            return self.score, self.n_target.astype(np.float64), self.n_nontarget.astype(np.float64)
        censored = np.unique(self.censored_score)
        place = np.searchsorted(self.score, censored)
        new = np.append(self.score, np.nan)[place] != censored
        score, n_target, n_nontarget = self.score, self.n_target.astype(np.float64), self.n_nontarget.astype(np.float64)
        if new.any():
            score = np.insert(score, place[new], censored[new])
            n_target, n_nontarget = (np.insert(counts, place[new], 0.0) for counts in (n_target, n_nontarget))
        row = np.searchsorted(score, self.censored_score)
        np.add.at(n_target, row, self.censored_target)
        np.add.at(n_nontarget, row, self.censored_nontarget)
        used = (n_target > 0) | (n_nontarget > 0)
        return (score, n_target, n_nontarget) if used.all() else (score[used], n_target[used], n_nontarget[used])

    def detail(self) -> dict[str, float]:
        """What to state beside a figure: sizes of the trial set and its censored part, and the censoring score."""
        return {
            "n_target_trials": float(self.target_mass),
            "n_nontarget_trials": self.n_nontarget_trials,
            "n_censored_target": float(self.censored_target.sum()),
            "n_censored_nontarget": self.n_nontarget_trials - float(self.n_nontarget.sum()),
            "llr_min": self.llr_min,
        }


def trial_set(
    ledger: Ledger, n_trials_exact: float, censor: str | float = "llr_min", counted: AtScores | None = None
) -> TrialSet:
    """All trials of the queries with occurrences, each of which has ``n_trials_exact`` of them (not rounded).

    Trials without a score get: ``llr_min`` the lowest submitted score over all these queries (seed 000 eq 42);
    ``query`` the lowest of their own query (over all, where it has none); a number, that number (QUESST's default
    score). ``error`` refuses them with ``InputError``. ``UsageError`` for any other policy. Without any score to
    censor with they get 0, the non-informative score, and the status is ``no_scores``. ``counted`` are non-targets at
    the scores of these queries, where they are known: then the ledger need not have more than ``thin.thinned`` keeps.
    """
    in_set = ledger.n_true[0] > 0
    if counted is None:
        [counted] = at_scores(ledger, (Asked(in_set, (np.ones(in_set.size, np.int64),)),))
    score, (n_nontarget,) = counted
    rows, _ = target_rows(ledger, in_set)
    n_target = np.zeros(score.size, np.int64)
    np.add.at(n_target, np.searchsorted(score, ledger.score[rows]), ledger.counts[0, rows].astype(np.int64))
    n_true, omitted = ledger.n_true[0][in_set], ledger.omitted[0][in_set]
    missing = (n_trials_exact - n_true) - by_query(ledger, ledger.n_nontarget)[in_set]
    n_nontarget_trials = float(n_true.size * n_trials_exact - n_true.sum())
    if censor == "query":
        censored_score = _lowest_by_query(ledger, score)[in_set]
    else:
        omitted = omitted.sum(keepdims=True)
        missing = np.array([n_nontarget_trials - float(n_nontarget.sum())])
        censored_score = np.array([_common_score(censor, score)])
    reason = None if n_true.size else NO_TARGETS
    if censor == "error" and reason is None:
        _refuse_missing(int(omitted[0]), float(missing[0]))
    if reason is None and n_nontarget_trials <= 0.0:
        reason = MORE_TARGETS_THAN_TRIALS if n_nontarget_trials < 0.0 else NO_NONTARGET_TRIALS
    status = MORE_DETECTIONS_THAN_TRIALS if np.any(missing < 0.0) else None
    if not score.size and not isinstance(censor, float | int):
        status = NO_SCORES
    weights = (score, n_target, n_nontarget, censored_score, omitted, np.maximum(missing, 0.0))
    return TrialSet(*weights, n_nontarget_trials, float(score[0]) if score.size else math.nan, reason, status)


def _common_score(censor: str | float, score: Floats) -> float:
    """The one score of all trials that were not submitted."""
    if isinstance(censor, float | int):
        if math.isnan(censor):
            raise UsageError("censor: NaN is no score. Give a number, llr_min, query or error.")
        return float(censor) + 0.0  # -0.0 becomes 0.0, as submitted scores do
    if censor not in {"llr_min", "error"}:
        raise UsageError(f"censor: unknown policy ({censor!r}). Give llr_min, query, error or a number.")
    return float(score[0]) if score.size else 0.0


def _lowest_by_query(ledger: Ledger, score: Floats) -> Floats:
    """Lowest score of each query of the ledger; of all ``score``, or 0, where a query has none."""
    lowest = np.full(len(ledger.queries), score[0] if score.size else 0.0)
    query, first = np.unique(ledger.query, return_index=True)
    lowest[query] = ledger.score[first]
    return lowest


def _refuse_missing(n_target: int, nontarget: float) -> None:
    if n_target > 0 or nontarget > 0.0:
        seen = f"{n_target} target and {nontarget:.17g} non-target trials have no score"
        mend = "Submit a score for every trial, or set censor to llr_min, query or a default score."
        message = f'trials are missing ({seen}, censor "error" allows none). {mend}'
        raise InputError([Finding("missing_trials", message, "")])


@dataclass(frozen=True)
class CostSums:
    """Summed costs of the submitted trials of both classes, in nats; exact, so that parts add up in any order."""

    target: ExactSum
    nontarget: ExactSum

    def __add__(self, other: CostSums) -> CostSums:
        return CostSums(self.target + other.target, self.nontarget + other.nontarget)


def cost_sums(trials: TrialSet, logit_prior: float) -> CostSums:
    """The costs of a trial set, or of a part of one, at a prior."""
    score = trials.score
    return CostSums(
        _costs(score, logit_prior, -1.0, trials.n_target), _costs(score, logit_prior, 1.0, trials.n_nontarget)
    )


def _costs(score: Floats, logit_prior: float, sign: float, counts: Ints) -> ExactSum:
    """Counts times log(1 + exp(log odds)), log odds against the truth."""
    used = np.flatnonzero(counts > 0)
    if 2 * used.size < counts.size:  # most scores are of one class
        score, counts = score[used], counts[used]
    total = ExactSum.zero()
    for rows in in_blocks(score.size):
        costs = np.logaddexp(0.0, sign * (score[rows] + logit_prior))
        total += ExactSum.of_products(costs, counts[rows])
    return total


def cross_entropy(trials: TrialSet, prior: float, logit_prior: float, submitted: CostSums | None = None) -> float:
    """P_tar mean_T C_log + (1 - P_tar) mean_F C_log in nats (seed 000 eq 37 and 43, before the division by log 2).

    Infinite where a target scores -inf or a non-target +inf. The sums are exact: no order or partition shows.
    ``submitted`` are the costs of trials that are not all here.
    """
    sums = submitted or cost_sums(trials, logit_prior)
    censored = trials.censored_score + logit_prior
    target = _mean_cost(sums.target, trials.n_target, -censored, trials.censored_target)
    nontarget = _mean_cost(sums.nontarget, trials.n_nontarget, censored, trials.censored_nontarget)
    return prior * target + (1.0 - prior) * nontarget


def _mean_cost(submitted: ExactSum, counts: Ints, censored_log_odds: Floats, weights: Floats | Ints) -> float:
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


def trials_of(scored: Scored[Ledger]) -> TrialSet:
    """The trial set by the protocol's censoring rule."""
    thin, facts = scored.once(thin_of), scored.facts
    return trial_set(thin, facts.n_trials_exact, scored.rules.censor, scored.once(passed).trials)


def over_trials(scored: Scored[Ledger]) -> Over:
    """A way to see all trials again: tasks take a ``TrialSet``, of parts of them that add up."""
    if scored.elsewhere is None:
        return lambda task, *state: task(scored.once(trials_of), *state)
    return scored.elsewhere.trials


def over_rows(scored: Scored[Ledger]) -> Over:
    """The same for tasks that take strictly ascending scores with the weights of both classes."""
    over = over_trials(scored)
    return lambda task, *state: over(on_rows, task, *state)


def on_rows(trials: TrialSet, task: Callable[..., Any], *state: Any) -> Any:
    """Task: a task that takes rows."""
    return task(trials.rows(), *state)


def nats_of(scored: Scored[Ledger]) -> float:
    """Cross-entropy in nats of a trial set that exists; of the non-informative system where there are no scores."""
    trials, point = scored.once(trials_of), scored.point
    if trials.status == NO_SCORES:
        return prior_entropy(point.effective_prior)
    return cross_entropy(trials, point.effective_prior, point.logit_prior, scored.once(submitted_costs))


def submitted_costs(scored: Scored[Ledger]) -> CostSums:
    """The costs of all submitted trials at the cell's prior."""
    sums: CostSums = over_trials(scored)(cost_sums, scored.point.logit_prior)
    return sums


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
