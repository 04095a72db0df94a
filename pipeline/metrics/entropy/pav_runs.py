"""PAV of trials that are elsewhere: neighbours of one class are pooled anyway, so counts between targets suffice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.metrics.entropy.crossentropy import TrialSet
from pipeline.metrics.entropy.isotonic import Pav, pav_of_runs
from pipeline.metrics.kws.by_score import Table
from pipeline.partials.ledger import Ledger


def separators(ledger: Ledger, trials: TrialSet) -> Floats:
    """The distinct scores of targets and of censored trials; ``ledger`` has the rows with targets, if no others."""
    return np.unique(np.append(ledger.score[ledger.n_target > 0], trials.censored_score))


@dataclass(frozen=True, eq=False)
class Runs:
    """Trials at separating scores, and non-targets between them."""

    score: Floats
    at: Floats
    """Weights of both classes at the scores, (2, n)."""
    between: Floats
    """Whole weights of the non-targets below the first score, between neighbours, and above the last one, (n + 1,)."""
    lowest: Floats
    highest: Floats
    """The scores that these reach over; inf and -inf where there are none."""

    def __add__(self, other: Runs) -> Runs:
        return Runs(
            self.score,
            self.at + other.at,
            self.between + other.between,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
        )

    def pooled(self, largest_tie: float) -> Pav:
        """The pooled trials, of which so many share one score."""
        size = self.score.size + self.between.size
        low, high, n_target, n_nontarget = np.zeros((4, size))
        low[::2], low[1::2] = self.lowest, self.score
        high[::2], high[1::2] = self.highest, self.score
        n_target[1::2], n_nontarget[1::2] = self.at
        n_nontarget[::2] = self.between
        used = (n_target > 0) | (n_nontarget > 0)
        return replace(pav_of_runs(low[used], high[used], n_target[used], n_nontarget[used]), largest_tie=largest_tie)


def runs(trials: TrialSet, scores: Floats) -> Runs:
    """Task: the runs of some trials, whose targets and broken weights are all at ``scores``."""
    score, *weights = trials.rows()
    begin, end = (np.searchsorted(score, scores, side=side) for side in ("left", "right"))
    at = np.zeros((2, scores.size))
    present = end > begin
    at[:, present] = np.stack(weights)[:, begin[present]]
    first, last = np.append(0, end), np.append(begin, score.size)
    below = np.append(0.0, np.cumsum(weights[1]))
    some = last > first
    lowest, highest = np.full(first.size, np.inf), np.full(first.size, -np.inf)
    lowest[some], highest[some] = score[first[some]], score[last[some] - 1]
    return Runs(scores, at, np.where(some, below[last] - below[first], 0.0), lowest, highest)


@dataclass(frozen=True, eq=False)
class InOrder(Table):
    """Trials of one class, sorted by score and then by their places in the output."""

    kind: ClassVar[str] = "in_order/1"

    place: Ints

    @classmethod
    def of(cls, score: Floats, place: Ints) -> InOrder:
        """Trials in any order."""
        order = np.lexsort((place, score))
        return cls(score[order], place[order])


LATE = 1 << 32
"""Added to the places of trials that come after all of the output."""


@dataclass(frozen=True, eq=False)
class Between:
    """How many trials come before the first of some others, between neighbours, and after the last one."""

    n: Ints

    def __add__(self, other: Between) -> Between:
        return Between(self.n + other.n)


def between(rows: InOrder, score: Floats, place: Ints) -> Between:
    """Task: where trials come among others, which are sorted by score and then by distinct places."""
    at = np.searchsorted(score, rows.score, side="left")
    tied: NDArray[np.intp] = np.flatnonzero(np.searchsorted(score, rows.score, side="right") > at)
    if tied.size:  # scores are as good as the number of lower ones, and fit into a word with a place
        others = np.searchsorted(score, score, side="left") * (2 * LATE) + place
        at[tied] = np.searchsorted(others, at[tied] * (2 * LATE) + rows.place[tied], side="left")
    return Between(np.bincount(at, minlength=score.size + 1).astype(np.int64))
