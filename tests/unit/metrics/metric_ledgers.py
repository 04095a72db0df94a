"""Small ledgers and cells written row by row, for tests."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pipeline.metrics.measure import Rules, Scored
from pipeline.partials.ledger import Ledger
from pipeline.terms import Facts, OperatingPoint

TARGET, FALSE = True, False
YES, NO = True, False

Row = tuple[str, float, bool, bool]
"""Query, score, target, YES."""


def ledger(queries: Iterable[str], rows: Iterable[Row], omitted: Iterable[str] = ()) -> Ledger:
    names = tuple(queries)
    rows = list(rows)
    return Ledger.of(
        names,
        np.array([names.index(row[0]) for row in rows], np.int64),
        np.array([row[1] for row in rows], np.float64),
        np.array([row[3] for row in rows], np.bool_),
        np.array([row[2] for row in rows], np.bool_),
        np.array([names.index(name) for name in omitted], np.int64),
    )


def cell(total: Ledger, n_trials: float, point: OperatingPoint | None = None, **rules: object) -> Scored[Ledger]:
    facts = Facts(t_audio_s=n_trials, n_trials=float(n_trials), n_trials_exact=float(n_trials), queries=total.queries)
    return Scored(total, facts, point or OperatingPoint(p_target=0.1), Rules(**rules))


WORKED_ROWS = (
    ("a", 3.0, TARGET, YES),
    ("a", 1.0, FALSE, YES),
    ("a", 0.5, TARGET, NO),
    ("b", 2.0, TARGET, YES),
    ("b", 0.6, FALSE, NO),
    ("c", 4.0, FALSE, YES),
)
"""Worked by hand with N = 52 and beta = 9: a and b have 2 occurrences and so 50 non-target trials, c has none."""


def worked(**rules: object) -> Scored[Ledger]:
    return cell(ledger(("a", "b", "c"), WORKED_ROWS, omitted=("b",)), 52.0, **rules)
