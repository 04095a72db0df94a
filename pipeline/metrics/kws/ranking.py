"""Mean average precision of the ranked detections of each query."""

from __future__ import annotations

import math

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.bounds import SHARE
from pipeline.metrics.kws.means import NO_TARGETS
from pipeline.metrics.kws.one_pass import thin_of
from pipeline.metrics.kws.thin import thinned
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure, Scored
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure


def average_precision(ledger: Ledger) -> Floats:
    """Average precision per query of the ledger; NaN for queries without occurrences.

    Detections are ranked by descending score, decisions ignored. Inside one score non-targets come first, so that a
    tie never helps (as KWSEval's stable sort has it). Occurrences without a detection count in the denominator.
    """
    n_queries = len(ledger.queries)
    used, first = ledger.runs
    hits = np.flatnonzero(ledger.n_target)[::-1]  # rows descend by score inside a query when read backwards
    at = np.unique(np.append(first, hits))
    targets, others = (_sums_before(counts, at) for counts in (ledger.n_target, ledger.n_nontarget))
    query, here, n_here = ledger.query[hits], np.searchsorted(at, hits), ledger.n_target[hits]
    end = np.append(np.searchsorted(at, first[1:]), at.size)[np.searchsorted(used, query)]
    # One entry per detected occurrence: its rank among the occurrences and among all detections of its query.
    row = np.repeat(np.arange(hits.size), n_here)
    place = np.arange(row.size) - (np.cumsum(n_here) - n_here)[row]
    targets_before = (targets[end] - targets[here] - n_here)[row]
    trials_before = targets_before + (others[end] - others[here])[row]
    precision = (targets_before + place + 1) / (trials_before + place + 1)
    n_true = ledger.n_true[0]
    sums = np.bincount(query[row], weights=precision, minlength=n_queries)
    values: Floats = np.divide(sums, n_true, out=np.full(n_queries, np.nan), where=n_true > 0)
    return values


def _sums_before(counts: Ints, at: Ints) -> Ints:
    """Sums of the counts before each of the rows ``at``, the first of all among them, and of all."""
    return np.append(0, np.cumsum(np.add.reduceat(counts, at))) if at.size else np.zeros(1, np.int64)


def precision_of(scored: Scored[Ledger]) -> Floats:
    """Average precision per query of the cell's ledger.

    KWSEval ranks scores as strings ("9.5" before "10"): its order is ``scored.ranked`` where it is another than the
    numbers'.
    """
    return average_precision(scored.once(thin_of) if scored.ranked is None else thinned(scored.ranked))


def mean_average_precision(scored: Scored[Ledger]) -> Figure:
    """Mean over the queries with occurrences of sum(precision at each hit) / N_true (KWSEval -zG MAP)."""
    values = scored.once(precision_of)
    values = values[~np.isnan(values)]
    if not values.size:
        return Figure.undefined(NO_TARGETS)
    return Figure(math.fsum(values.tolist()) / values.size, detail={"n_queries": float(values.size)})


MEASURES: tuple[Measure[Ledger], ...] = (
    Measure(
        "map",
        "1",
        "higher",
        SHARE,
        "F4DE KWSEval, MAP: mean over queries of average precision",
        mean_average_precision,
        label=Label("MAP"),
        aggregation="mean over queries with occurrences",
        heads_board=True,
    ),
)
