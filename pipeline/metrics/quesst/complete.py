"""Trial sets in which every pair has a score: what nobody scored gets one, and the decision NO."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.errors import Finding, InputError
from pipeline.metrics.kws.counts import by_query
from pipeline.partials.ledger import Ledger


def unscored(ledger: Ledger, n_trials: int) -> tuple[Ints, Ints]:
    """Targets and non-targets without a score, for each query of a one-condition ledger; 0 for queries without targets.

    Every query has ``n_trials`` trials, of which none is scored twice.
    """
    in_set = ledger.n_true[0] > 0
    n_target = np.where(in_set, ledger.omitted[0], 0)
    n_nontarget = np.where(in_set, n_trials - ledger.n_true[0] - by_query(ledger, ledger.n_nontarget), 0)
    return n_target, n_nontarget


def default_scores(ledger: Ledger, censor: str | float) -> Floats | None:
    """The score of what was not scored, for each query: a number, or the lowest that was submitted.

    ``llr_min``: over all queries with targets (seed 000 eq 42); ``query``: of the query itself, over all where it has
    none. None where there is no score to take, and for ``error``.
    """
    n_queries = len(ledger.queries)
    if isinstance(censor, float | int):
        return np.full(n_queries, float(censor))
    scored = np.flatnonzero((ledger.n_true[0] > 0) & (np.diff(ledger.first) > 0))
    if censor == "error" or not scored.size:
        return None
    own = ledger.scores.at(ledger.first[scored])
    lowest = np.full(n_queries, own.min())
    if censor == "query":
        lowest[scored] = own
    return lowest


def complete(ledger: Ledger, n_trials: int, censor: str | float) -> Ledger:
    """The ledger with a row for what was not scored, at its default score and rejected.

    Raises ``InputError`` where ``censor`` is ``error`` and a trial of a query with targets has no score. Unchanged
    where there is no score to take.
    """
    n_target, n_nontarget = unscored(ledger, n_trials)
    query = np.flatnonzero(n_target + n_nontarget)
    if censor == "error":
        _refuse([ledger.queries[code] for code in query.tolist()], int((n_target + n_nontarget).sum()))
    score = default_scores(ledger, censor)
    if score is None or not query.size:
        return ledger
    omitted = np.where(ledger.n_true[0] > 0, 0, ledger.omitted[0]).reshape(1, -1)
    none = np.zeros(query.size, np.int64)
    counts = np.stack((n_target[query], n_nontarget[query], none, none))
    added = Ledger.of_rows(ledger.conditions, ledger.queries, omitted, query, score[query] + 0.0, counts)
    return replace(ledger, omitted=np.zeros_like(ledger.omitted)) + added


def _refuse(queries: list[str], n_missing: int) -> None:
    if queries:
        shown = ", ".join(map(repr, queries[:5])) + (", …" if len(queries) > 5 else "")
        what = f"{n_missing} pairs of {len(queries)} queries have no score ({shown}), and no default score is given."
        mend = "Submit a score for every document, or give the default score: censor=-10, say."
        raise InputError([Finding("missing_trials", f"{what} {mend}", "output")])
