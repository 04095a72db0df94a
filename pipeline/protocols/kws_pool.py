"""Scoring all queries as one (KWSEval -P)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.metrics.fixed_point import Ints
from pipeline.partials.ledger import Ledger
from pipeline.terms import Facts

POOLED = "Pooled"


def pool(ledger: Ledger, facts: Facts) -> tuple[Ledger, Facts]:
    """A ledger of one condition with the trials of all queries under one name. Trials per query stay those of one."""
    score, row = np.unique(ledger.score, return_inverse=True)

    def added(column: Ints) -> Ints:
        sums = np.zeros(score.size, np.int64)
        np.add.at(sums, row, column)
        return sums

    pooled = Ledger(
        conditions=ledger.conditions,
        queries=(POOLED,),
        omitted=ledger.omitted.sum(axis=1, keepdims=True),
        condition=np.zeros(score.size, np.int32),
        query=np.zeros(score.size, np.int32),
        score=score,
        n_target=added(ledger.n_target),
        n_nontarget=added(ledger.n_nontarget),
        n_target_yes=added(ledger.n_target_yes),
        n_nontarget_yes=added(ledger.n_nontarget_yes),
    )
    return pooled, replace(facts, queries=(POOLED,), texts={POOLED: POOLED})
