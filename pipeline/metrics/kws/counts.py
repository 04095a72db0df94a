"""Hits, misses and false alarms of each query, at the submitted decisions or at a threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.arrays import Bools, Ints
from pipeline.partials.ledger import Ledger

_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Counts:
    """Error counts per query, int64 over the ledger's queries (seed 000 section 2.1, NIST 2006 STD plan)."""

    n_true: Ints
    n_hit: Ints
    n_fa: Ints

    @property
    def n_miss(self) -> Ints:
        """Occurrences not accepted: rejected detections of them, and those nobody detected."""
        return self.n_true - self.n_hit


def by_query(ledger: Ledger, column: Ints) -> Ints:
    """Sums of a row column for each query of a ledger of one condition."""
    sums = np.zeros(len(ledger.queries), np.int64)
    used, first = ledger.runs
    if used.size:
        sums[used] = np.add.reduceat(column, first)
    return sums


def decided(ledger: Ledger) -> Counts:
    """Counts at the decisions as submitted."""
    return Counts(ledger.n_true[0], by_query(ledger, ledger.n_target_yes), by_query(ledger, ledger.n_nontarget_yes))


def accepted(ledger: Ledger, threshold: float) -> Counts:
    """Counts when exactly the detections with ``score >= threshold`` are accepted (seed 000 section 2.1)."""
    yes = ledger.score >= threshold
    return Counts(ledger.n_true[0], by_query(ledger, ledger.n_target * yes), by_query(ledger, ledger.n_nontarget * yes))


@dataclass(frozen=True)
class Decisions:
    """Whether one threshold over all queries explains the submitted decisions."""

    min_yes: float
    """Lowest accepted score; NaN where nothing was accepted."""
    max_no: float
    """Highest rejected score; NaN where nothing was rejected."""

    @property
    def consistent(self) -> bool:
        """True unless a rejected score is higher than an accepted one; equal scores pass (KWSEval)."""
        return not self.max_no > self.min_yes


def decision_range(ledger: Ledger) -> Decisions:
    """The range of accepted and rejected scores over all queries, with occurrences or not."""
    min_yes, max_no = math.inf, -math.inf
    some_yes = some_no = False
    for rows, yes, no in decided_rows(ledger):
        score = ledger.scores.at(rows)
        min_yes = min(min_yes, float(np.min(score, where=yes, initial=math.inf)))
        max_no = max(max_no, float(np.max(score, where=no, initial=-math.inf)))
        some_yes, some_no = some_yes or bool(yes.any()), some_no or bool(no.any())
    return Decisions(min_yes if some_yes else math.nan, max_no if some_no else math.nan)


def decided_rows(ledger: Ledger) -> Iterator[tuple[slice, Bools, Bools]]:
    """Rows, a few at a time, with whether YES and whether NO was said of some trial of each."""
    for begin in range(0, len(ledger), _AT_ONCE):
        rows = slice(begin, begin + _AT_ONCE)
        n_target, n_nontarget, n_target_yes, n_nontarget_yes = ledger.counts[:, rows]
        yield rows, (n_target_yes | n_nontarget_yes) != 0, (n_target != n_target_yes) | (n_nontarget != n_nontarget_yes)
