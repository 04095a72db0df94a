"""Hits, misses and false alarms of each query, at the submitted decisions or at a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.fixed_point import Ints
from pipeline.partials.ledger import Ledger


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
    """Sums of a row column for each query of the ledger."""
    sums = np.zeros(len(ledger.queries), np.int64)
    np.add.at(sums, ledger.query, column)
    return sums


def decided(ledger: Ledger) -> Counts:
    """Counts at the decisions as submitted."""
    return Counts(ledger.n_true[0], by_query(ledger, ledger.n_target_yes), by_query(ledger, ledger.n_nontarget_yes))


def accepted(ledger: Ledger, threshold: float) -> Counts:
    """Counts when exactly the detections with ``score >= threshold`` are accepted (seed 000 section 2.1)."""
    yes = ledger.score >= threshold
    n_hit, n_fa = np.where(yes, ledger.n_target, 0), np.where(yes, ledger.n_nontarget, 0)
    return Counts(ledger.n_true[0], by_query(ledger, n_hit), by_query(ledger, n_fa))


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
    n_yes = ledger.n_target_yes + ledger.n_nontarget_yes
    yes, no = n_yes > 0, ledger.n_target + ledger.n_nontarget > n_yes
    return Decisions(_extreme(ledger.score, yes, np.minimum), _extreme(ledger.score, no, np.maximum))


def _extreme(score: NDArray[np.float64], rows: NDArray[np.bool_], choose: np.ufunc) -> float:
    return float(choose.reduce(score[rows])) if rows.any() else math.nan
