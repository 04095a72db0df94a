"""Passes over a cell in parts: one answers most of what its measures ask, so that each trial is seen a few times only.

Sums are exact, so answers have the bits of a merged ledger. Trials whose scores are those of censored ones are taken
apart: their weights are broken and add up in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.metrics.entropy.affine_passes import look
from pipeline.metrics.entropy.ape import prior_grid, rejections
from pipeline.metrics.entropy.crossentropy import TrialSet, cost_sums, on_rows, trials_of
from pipeline.metrics.entropy.pav_runs import Runs, runs, separators
from pipeline.metrics.kws.by_score import At, ByScore, Pooled, counts_at
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.radix import FINEST, LEVELS, Divide, Divided, Images, divided, images, prefixes
from pipeline.metrics.kws.shared import sweeps_of
from pipeline.metrics.measure import Elsewhere, Over, Scored
from pipeline.partials.ledger import Ledger

Call = tuple[Any, ...]
"""A task and what it takes after the trials."""
Spans = tuple[Images, Images]
"""The lowest and the highest images (``radix.images``) of disjoint ascending ranges of scores."""


class Sorted(Interface):
    """The trials of a cell in parts, each in ascending order of score."""

    def sum(self, task: Callable[..., Any], *state: Any, spans: Spans | None = None) -> Any:
        """``task(rows, *state)`` of all rows, some at a time, added up; at least of those in ``spans``."""
        ...

    def begin(self, task: Callable[..., Any], *state: Any, spans: Spans | None = None) -> Callable[[], Any]:
        """``sum`` without waiting: what waits."""
        ...

    def ranges(self, spans: Spans, task: Callable[..., Any], *state: Any) -> Any:
        """``task(rows, *state)``, added up, of ranges of scores that cover the spans, with all rows of each."""
        ...


@dataclass(frozen=True)
class Sums:
    """Several sums of one pass."""

    of: tuple[Any, ...]

    def __add__(self, other: Sums) -> Sums:
        return Sums(tuple(one + more for one, more in zip(self.of, other.of, strict=True)))


def several(rows: ByScore | Pooled, calls: Sequence[Call]) -> Sums:
    """Task: several tasks on the same rows."""
    return Sums(tuple(task(rows, *state) for task, *state in calls))


def on_trials(rows: Pooled, apart: Floats, calls: Sequence[Call]) -> Sums:
    """Task: several tasks on trials, but for those whose scores are ``apart``."""
    trials = rows.trials(apart)
    return Sums(tuple(task(trials, *state) for task, *state in calls))


@dataclass(frozen=True, eq=False)
class Ties:
    """Weights by the coarsest buckets of scores, and the largest of one score as far as it was seen in one place."""

    key: Images
    weight: Ints
    largest: float

    def __add__(self, other: Ties) -> Ties:
        key = np.union1d(self.key, other.key)
        weight = np.zeros(key.size, np.int64)
        for side in (self, other):
            weight[np.searchsorted(key, side.key)] += side.weight
        return Ties(key, weight, max(self.largest, other.largest))


def ties(trials: TrialSet) -> Ties:
    """Task: how trials may be tied."""
    weight, keys = trials.n_target + trials.n_nontarget, prefixes(images(trials.score), LEVELS[0])
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: keys.size])
    added = np.add.reduceat(weight, starts) if starts.size else weight
    return Ties(keys[starts], added, float(weight.max(initial=0)))


@dataclass(frozen=True)
class Largest:
    """A largest weight of one score."""

    weight: float

    def __add__(self, other: Largest) -> Largest:
        return Largest(max(self.weight, other.weight))


def largest(rows: Pooled, apart: Floats) -> Largest:
    """Task: the largest weight of one score in a range of them."""
    trials = rows.trials(apart)
    return Largest(float((trials.n_target + trials.n_nontarget).max(initial=0)))


@dataclass(frozen=True, eq=False)
class Ahead:
    """A cell's trials, and what a first pass said of them."""

    rows: Sorted
    """All rows, as ``ByScore``."""
    pooled: Sorted
    """Those of queries with targets, as ``Pooled``."""
    apart: TrialSet
    """The censored trials, with those submitted that have the same scores."""
    answers: Sequence[tuple[Call, Any]]
    """Calls of tasks on trials with what they came to."""
    coarsest: Sequence[tuple[QueryMeans, Divided]]

    def trials(self, task: Callable[..., Any], *state: Any) -> Any:
        """A task on all trials, from the first pass if it knew of it."""
        call = (task, *state)
        for known, answer in self.answers:
            if _same(known, call):
                return answer
        found: Sums = self.pooled.sum(on_trials, np.unique(self.apart.censored_score), (call,))
        return found.of[0] + task(self.apart, *state)

    def buckets(self, task: Callable[..., Any], means: QueryMeans, asked: Sequence[Divide]) -> Divided:
        """``divided`` of all rows."""
        for known, answer in self.coarsest:
            if known is means and [each.key is None for each in asked] == [True]:
                return answer
        found: Divided = self.rows.sum(task, means, asked, spans=_spans_of(asked))
        return found

    def runs(self, scores: Floats) -> Runs:
        """The runs between scores."""
        found: Runs = self.trials(runs, scores)
        return found

    def largest_tie(self) -> float:
        """The largest weight of one score: other scores are only looked at where they may have a larger one."""
        [seen] = [answer for (task, *_), answer in self.answers if task is ties]
        _, n_target, n_nontarget = self.apart.rows()
        known: float = max(seen.largest, float((n_target + n_nontarget).max(initial=0.0)))
        more = seen.weight > known
        if not more.any():
            return known
        spans = _spans(seen.key[more], LEVELS[0])
        found: Largest = self.pooled.ranges(spans, largest, np.unique(self.apart.censored_score))
        return max(known, found.weight)


def ahead(scored: Scored[Ledger], rows: Sorted, pooled: Sorted, in_order: Over | None = None) -> Elsewhere:
    """A pass over all trials of a cell whose total is thin, and ways to see them again for what it does not answer.

    ``rows`` are ``ByScore``, ``pooled`` are ``Pooled`` of queries with targets.
    """
    trials = scored.once(trials_of)
    censored = np.unique(trials.censored_score)
    of_trials = [] if trials.reason is not None else _foreseen(scored)
    begun = pooled.begin(several, ((counts_at, censored), (on_trials, censored, of_trials)))
    sweeps = [means for means in scored.once(sweeps_of) if means.reason is None]
    calls = [(divided, means, (Divide(LEVELS[0]),)) for means in sweeps]
    coarsest = rows.sum(several, calls).of if calls else ()
    at, sums = begun().of
    apart = _apart(trials, censored, at)
    answers = [
        (call, found if call[0] is ties else found + call[0](apart, *call[1:]))
        for call, found in zip(of_trials, sums.of, strict=True)
    ]
    made = Ahead(rows, pooled, apart, answers, list(zip(sweeps, coarsest, strict=True)))
    return Elsewhere(made.trials, made.buckets, made.runs, made.largest_tie, in_order)


def _foreseen(scored: Scored[Ledger]) -> list[Call]:
    """What measures ask of all trials and is known before any was seen."""
    return [
        (cost_sums, scored.point.logit_prior),
        (cost_sums, 0.0),
        (on_rows, look),
        (runs, separators(scored.total, scored.once(trials_of))),
        (rejections, -prior_grid(scored.point)),
        (ties,),
    ]


def _apart(trials: TrialSet, censored: Floats, at: At) -> TrialSet:
    here = at.counts.any(axis=0)
    return replace(trials, score=censored[here], n_target=at.counts[0, here], n_nontarget=at.counts[1, here])


def _same(one: Call, other: Call) -> bool:
    return len(one) == len(other) and all(
        a is b or (isinstance(a, float | np.ndarray) and np.array_equal(a, b)) for a, b in zip(one, other, strict=True)
    )


def _spans_of(asked: Sequence[Divide]) -> Spans | None:
    if any(each.key is None for each in asked):
        return None
    parts = [_spans(each.key, each.bits) for each in asked if each.key is not None]
    low, high = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(low)
    return low[order], high[order]


def _spans(key: NDArray[Any], bits: int) -> Spans:
    shift = np.uint64(FINEST - bits)
    low = key.astype(np.uint64) << shift
    return low, low + ((np.uint64(1) << shift) - np.uint64(1))
