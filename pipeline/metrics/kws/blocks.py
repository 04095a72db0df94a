"""Figures of each query, scored or not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.kws.counts import Counts, by_query
from pipeline.metrics.kws.means import QueryMeans
from pipeline.metrics.kws.one_pass import thin_of
from pipeline.metrics.kws.ranking import precision_of
from pipeline.metrics.kws.shared import LedgerScored, counts_of, means_of, optima_of

Column = list[Any]


def rates_by_query(means: QueryMeans, counts: Counts, beta: float) -> tuple[Floats, Floats, Floats]:
    """Miss rate, false-alarm rate and TWV of each query of the ledger (seed 000 eq 1, 3, 6); NaN without any trial."""
    p_miss = _ratio(counts.n_miss, means.n_true.astype(np.float64))
    p_fa = _ratio(counts.n_fa, means.n_nontarget)
    return p_miss, p_fa, 1.0 - (p_miss + beta * p_fa)


def blocks(scored: LedgerScored) -> tuple[dict[str, Any], ...]:
    """One entry per query, in the order of the query list, at the submitted decisions.

    ``id``, ``text``, the counts ``n_target``, ``n_hit``, ``n_miss``, ``n_fa``, ``n_correct_rejection`` (rejected
    non-targets) and ``n_omitted`` (occurrences nobody detected); ``p_miss``, ``p_fa``, ``twv``; ``twv_optimum`` with
    its ``twv_optimum_threshold``, ``p_miss_optimum`` and ``p_fa_optimum``; ``twv_supremum`` and
    ``average_precision``. What is undefined is NaN: a query without occurrences has false alarms but no TWV.
    """
    columns = _columns(scored)
    rows = dict(zip(scored.total.queries, zip(*columns.values(), strict=True), strict=True))
    names, texts = ("id", "text", *columns), scored.facts.texts
    return tuple(
        dict(zip(names, (query, texts.get(query, ""), *rows[query]), strict=True))
        for query in scored.facts.queries or scored.total.queries
    )


def _columns(scored: LedgerScored) -> dict[str, Column]:
    """Columns over the ledger's queries."""
    ledger, means, counts = scored.total, scored.once(means_of), scored.once(counts_of)
    thin, n_omitted = scored.once(thin_of), ledger.omitted[0]
    undefined = np.full(len(ledger.queries), np.nan)
    # A point that depends on the key may not exist where nothing is scored.
    beta = scored.point.beta if means.n_queries else math.nan
    p_miss, p_fa, twv = rates_by_query(means, counts, beta)
    optima = None if means.reason else scored.once(optima_of)
    best_p_miss, best_p_fa, _ = rates_by_query(means, counts if optima is None else optima.counts, beta)
    columns: dict[str, Floats | Ints] = {
        "n_target": counts.n_true,
        "n_hit": counts.n_hit,
        "n_miss": counts.n_miss,
        "n_fa": counts.n_fa,
        "n_correct_rejection": by_query(thin, thin.n_nontarget) - counts.n_fa,
        "n_omitted": n_omitted,
        "p_miss": p_miss,
        "p_fa": p_fa,
        "twv": twv,
        "twv_optimum": undefined if optima is None else optima.twv,
        "twv_optimum_threshold": undefined if optima is None else optima.threshold,
        "p_miss_optimum": undefined if optima is None else best_p_miss,
        "p_fa_optimum": undefined if optima is None else best_p_fa,
        "twv_supremum": 1.0 - _ratio(n_omitted, means.n_true.astype(np.float64)),
        "average_precision": scored.once(precision_of),
    }
    return {name: column.tolist() for name, column in columns.items()}


def _ratio(counts: Ints, denominators: Floats) -> Floats:
    ratio: Floats = np.divide(counts, denominators, out=np.full(counts.size, np.nan), where=denominators > 0)
    return ratio
