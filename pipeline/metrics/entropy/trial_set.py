"""Every trial of the queries with occurrences, submitted or not, seen a block of scores at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.errors import Finding, InputError, UsageError
from pipeline.metrics.fixed_point import in_blocks
from pipeline.metrics.kws.at_scores import target_rows
from pipeline.metrics.kws.counts import by_query
from pipeline.metrics.kws.means import MORE_TARGETS_THAN_TRIALS, NO_NONTARGET_TRIALS, NO_TARGETS
from pipeline.metrics.kws.one_pass import ScoreCounts, counted_of, passed, thin_of
from pipeline.metrics.measure import Scored
from pipeline.partials.ledger import Ledger
from pipeline.partials.rows import narrowed

NO_SCORES = "no_scores"
"""Status: nothing was submitted and nothing censors; the figures are those of the non-informative system."""
MORE_DETECTIONS_THAN_TRIALS = "more_detections_than_trials"
"""Status: more non-target detections than non-target trials; the censored ones weigh 0, never less."""
Rows = tuple[Floats, Floats, Floats]
"""Strictly ascending scores with the weights of target and of non-target trials."""
Submitted = tuple[Floats, Ints, Ints]
"""Strictly ascending scores with counts of target and of non-target trials."""


@dataclass(frozen=True)
class TrialSet:
    """Every trial of the queries with occurrences (seed 000 eq 41-43): submitted ones by score, and censored ones.

    ``score`` is strictly ascending, with counts beside it, of types as narrow as they are. Censored rows hold the
    trials nobody submitted; their non-target weights are not integers where N is not.
    """

    score: Floats
    n_target: NDArray[Any]
    n_nontarget: NDArray[Any]
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
        return int(self.n_target.sum()) + int(self.censored_target.sum())

    @property
    def nontarget_mass(self) -> float:
        """Summed weight of non-target trials: |T_false|, or what was submitted where that is more."""
        return float(self.n_nontarget.sum()) + math.fsum(self.censored_nontarget.tolist())

    def submitted(self) -> Iterator[Submitted]:
        """The submitted trials, some scores at a time; one block at least."""
        for rows in in_blocks(max(self.score.size, 1)):
            yield self.score[rows], self.n_target[rows].astype(np.int64), self.n_nontarget[rows].astype(np.int64)

    def rows(self) -> Iterator[Rows]:
        """All trials, censored ones included, some scores at a time; one block at least. Every score has trials."""
        order = np.argsort(self.censored_score, kind="stable")
        censored, begin = self.censored_score[order], 0
        for rows in in_blocks(max(self.score.size, 1)):
            is_last = rows.stop >= self.score.size
            end = censored.size if is_last else int(np.searchsorted(censored, self.score[rows.stop]))
            yield self._with_censored(rows, order[begin:end])
            begin = end

    def _with_censored(self, rows: slice, which: NDArray[np.intp]) -> Rows:
        score = self.score[rows]
        n_target, n_nontarget = (column[rows].astype(np.float64) for column in (self.n_target, self.n_nontarget))
        if which.size:
            given = self.censored_score[which]
            new = np.setdiff1d(given, score)
            place = np.searchsorted(score, new)
            score = np.insert(score, place, new)
            n_target, n_nontarget = (np.insert(weights, place, 0.0) for weights in (n_target, n_nontarget))
            row = np.searchsorted(score, given)
            np.add.at(n_target, row, self.censored_target[which])
            np.add.at(n_nontarget, row, self.censored_nontarget[which])
        used = (n_target > 0) | (n_nontarget > 0)
        return (score, n_target, n_nontarget) if used.all() else (score[used], n_target[used], n_nontarget[used])

    def over_submitted(self, task: Callable[..., Any], *state: Any) -> Any:
        """``task(block, *state)`` of every block of ``submitted``, added up."""
        return reduce(add, (task(block, *state) for block in self.submitted()))

    def over_rows(self, task: Callable[..., Any], *state: Any) -> Any:
        """``task(block, *state)`` of every block of ``rows``, added up."""
        return reduce(add, (task(block, *state) for block in self.rows()))

    def detail(self) -> dict[str, float]:
        """Companions of a figure: sizes of the trial set and its censored part, and the censoring score."""
        return {
            "n_target_trials": float(self.target_mass),
            "n_nontarget_trials": self.n_nontarget_trials,
            "n_censored_target": float(self.censored_target.sum()),
            "n_censored_nontarget": self.n_nontarget_trials - float(self.n_nontarget.sum()),
            "llr_min": self.llr_min,
        }


def trial_set(
    ledger: Ledger, n_trials_exact: float, censor: str | float = "llr_min", counted: ScoreCounts | None = None
) -> TrialSet:
    """All trials of the queries with occurrences, each of which has ``n_trials_exact`` of them (not rounded).

    Trials without a score get: ``llr_min`` the lowest submitted score over all these queries (seed 000 eq 42);
    ``query`` the lowest of their own query (over all, where it has none); a number, that number (QUESST's default
    score). ``error`` refuses them with ``InputError``. ``UsageError`` for any other policy. Without any score to
    censor with they get 0, the non-informative score, and the status is ``no_scores``. ``counted`` are non-targets at
    the scores of these queries, where they are known: then the ledger need not have more than ``thin.thinned`` keeps.
    """
    in_set = ledger.n_true[0] > 0
    score, n_nontarget = counted_of(ledger, in_set) if counted is None else counted
    rows, _ = target_rows(ledger, in_set)
    n_target = _at(score, ledger.scores.at(rows), ledger.counts[0, rows])
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


def _at(score: Floats, some: Floats, counts: NDArray[Any]) -> NDArray[Any]:
    """Counts at each of ``score``, among which ``some`` are, in a narrow type."""
    place, of_place = np.unique(np.searchsorted(score, some), return_inverse=True)
    sums = np.zeros(place.size, np.int64)
    np.add.at(sums, of_place, counts.astype(np.int64))
    few = narrowed(sums)
    found = np.zeros(score.size, few.dtype)
    found[place] = few
    return found


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


def trials_of(scored: Scored[Ledger]) -> TrialSet:
    """The trial set by the protocol's censoring rule."""
    thin, facts = scored.once(thin_of), scored.facts
    return trial_set(thin, facts.n_trials_exact, scored.rules.censor, scored.once(passed).trials)
