"""Scoring all queries as one (KWSEval -P)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.partials.ledger import Ledger
from pipeline.terms import Facts

POOLED = "Pooled"


def pool(ledger: Ledger, facts: Facts) -> tuple[Ledger, Facts]:
    """A ledger of one condition with the trials of all queries under one name. Trials per query stay those of one."""
    group = np.zeros(len(ledger), np.int64)
    omitted = ledger.omitted.sum(axis=1, keepdims=True)
    pooled = Ledger.of_rows(ledger.conditions, (POOLED,), omitted, group, ledger.score, ledger.counts)
    return pooled, replace(facts, queries=(POOLED,), texts={POOLED: POOLED})
