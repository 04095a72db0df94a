"""What a cell's measures ask of all rows of its ledger: each thing is looked for once, whoever wants it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.metrics.kws.at_scores import Asked, AtScores, at_scores
from pipeline.metrics.kws.means import QueryMeans, query_means
from pipeline.metrics.kws.thin import thinned
from pipeline.metrics.measure import Scored
from pipeline.partials.ledger import Ledger

LedgerScored = Scored[Ledger]


def thin_of(scored: LedgerScored) -> Ledger:
    """The rows that figures of single queries need, at the Bayes threshold among others."""
    if scored.elsewhere is not None:
        return scored.total
    # A point that depends on the key may not exist where nothing is scored.
    return thinned(scored.total, (scored.point.threshold,) if scored.total.n_true.any() else ())


def means_of(scored: LedgerScored) -> QueryMeans:
    """The means over queries by the protocol's rules."""
    if scored.rules.include_no_targets:
        return scored.once(means_over_all)
    skipped = scored.rules.skip_undefined_p_fa
    return query_means(scored.once(thin_of), scored.facts.n_trials, skip_undefined_p_fa=skipped)


def means_over_all(scored: LedgerScored) -> QueryMeans:
    """The means whose false-alarm rate covers queries without occurrences (plan 004 section 5.1.3.3)."""
    subtracted = 2 if scored.rules.no_targets_trials == "twice" else 1
    return query_means(
        scored.once(thin_of),
        scored.facts.n_trials,
        include_no_targets=True,
        skip_undefined_p_fa=scored.rules.skip_undefined_p_fa,
        subtracted=subtracted,
    )


def sweeps_of(scored: LedgerScored) -> tuple[QueryMeans, ...]:
    """The means of the cell's sweeps: by the protocol's rules and, where that is another sweep, over all queries."""
    own, means = scored.once(means_of), scored.once(means_over_all)
    if np.array_equal(means.in_p_fa, own.in_p_fa) and np.array_equal(means.n_nontarget, own.n_nontarget):
        return (own,)
    return (own, means)


class Passed(NamedTuple):
    """Sums at the distinct scores of a cell."""

    trials: AtScores
    """How many non-targets there are, of queries with targets."""
    sweeps: tuple[tuple[QueryMeans, AtScores], ...]
    """Their weights in the false-alarm rate of each sweep that exists."""


def passed(scored: LedgerScored) -> Passed:
    """All that is summed by score, in one pass."""
    sweeps = [means for means in scored.once(sweeps_of) if means.reason is None]
    counted = Asked(scored.once(thin_of).n_true[0] > 0, (np.ones(len(scored.total.queries), np.int64),))
    trials, *words = at_scores(scored.total, (counted, *map(false_alarms, sweeps)))
    return Passed(trials, tuple(zip(sweeps, words, strict=True)))


def false_alarms(means: QueryMeans) -> Asked:
    """High and low words of the false-alarm rate of some means."""
    return Asked(means.scored, (means.fa.high, means.fa.low))
