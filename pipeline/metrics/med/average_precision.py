"""Average precision of ranked clips, with ties broken by an order key or against the system (TRECVID MED)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.bounds import PERCENT
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure
from pipeline.metrics.med.event_samples import event_mean
from pipeline.metrics.med.events import EventScored, EventTotals, macro, n_scored_nontarget, without_targets
from pipeline.partials.ledger import Ledger
from pipeline.partials.tie_order import TieOrder
from pipeline.terms import Figure

PRIOR = 999
"""Non-targets per target that AP' assumes."""


@dataclass(frozen=True)
class Hits:
    """One row a scored target, sorted by query and rank: targets and other trials ranked up to it, itself included."""

    query: Ints
    n_target: Ints
    n_nontarget: Ints


def hits_in_order(order: TieOrder, queries: tuple[str, ...]) -> Hits:
    """The hits of trials ranked by score and key; ``query`` refers to ``queries``."""
    order, position = order.ranked, {name: index for index, name in enumerate(queries)}
    codes = np.array([position.get(name, -1) for name in order.queries], np.int64)
    query = codes[order.query] if len(order) else np.zeros(0, np.int64)
    start = np.searchsorted(order.query, order.query)
    found = np.cumsum(order.target)
    targets = found - np.append(0, found)[start]
    place = np.arange(query.size) - start + 1
    rows = np.flatnonzero(order.target & (query >= 0))
    return Hits(query[rows], targets[rows], (place - targets)[rows])


def hits_against(ledger: Ledger) -> Hits:
    """The hits of trials ranked by score, non-targets first inside one score: a tie never helps."""
    query = ledger.query[::-1].astype(np.int64)  # backwards rows descend by score inside a query
    n_target, n_nontarget = ledger.n_target[::-1], ledger.n_nontarget[::-1]
    ends = np.searchsorted(ledger.query, np.arange(len(ledger.queries)), side="right")
    start = (query.size - ends)[query]
    targets, others = np.append(0, np.cumsum(n_target)), np.append(0, np.cumsum(n_nontarget))
    row = np.repeat(np.arange(query.size), n_target)
    place = np.arange(row.size) - targets[row] + 1
    before = targets[row] - targets[start[row]]
    hits = Hits(query[row], before + place, others[row + 1] - others[start[row]])
    order = np.argsort(hits.query, kind="stable")
    return Hits(hits.query[order], hits.n_target[order], hits.n_nontarget[order])


def hits_of(scored: EventScored) -> Hits:
    """The hits of a cell by its rule for ties."""
    total = scored.total
    return hits_against(total.ledger) if total.ties is None else hits_in_order(total.ties, total.ledger.queries)


def average_precision_percent(scored: EventScored) -> Floats:
    """AP of each event: 100 / n_target times the sum of precision at every hit (F4DE DETCurve); NaN without targets.

    Targets that were not scored count in n_target only.
    """
    hits = scored.once(hits_of)
    return _mean_over_targets(hits, hits.n_target / (hits.n_target + hits.n_nontarget), scored.total.ledger)


def average_precision_prime_percent(scored: EventScored) -> Floats:
    """AP' of each event: precision as it would be with 999 other trials to a target (F4DE DETCurve, APPpct)."""
    hits, ledger = scored.once(hits_of), scored.total.ledger
    n_true, n_other = ledger.n_true[0], n_scored_nontarget(ledger)
    defined = (n_true > 0) & (n_other > 0)
    per_target = np.divide(100, n_true, out=np.full(n_true.size, np.nan), where=defined)
    per_other = np.divide(100 * PRIOR, n_other, out=np.full(n_true.size, np.nan), where=defined)
    good = per_target[hits.query] * hits.n_target
    values = _mean_over_targets(hits, good / (per_other[hits.query] * hits.n_nontarget + good), ledger)
    return np.where(defined, values, np.nan)


def _mean_over_targets(hits: Hits, precision: Floats, ledger: Ledger) -> Floats:
    n_true = ledger.n_true[0]
    bounds = np.searchsorted(hits.query, np.arange(n_true.size + 1))
    sums = [math.fsum(precision[begin:end].tolist()) for begin, end in pairwise(bounds.tolist())]
    return np.array([100 / n * total if n else math.nan for n, total in zip(n_true.tolist(), sums, strict=True)])


def ap(scored: EventScored) -> Figure:
    """Mean average precision in percent, over events with targets."""
    return macro(scored.once(average_precision_percent), without_targets(scored))


def ap_prime(scored: EventScored) -> Figure:
    """Mean of AP' in percent, over events with targets and other trials."""
    evaluated = (scored.total.ledger.n_true[0] > 0).any()
    reason = "no_nontarget_trials" if evaluated else without_targets(scored)
    return macro(scored.once(average_precision_prime_percent), reason)


MEASURES: tuple[Measure[EventTotals], ...] = (
    Measure(
        "ap",
        "%",
        "higher",
        PERCENT,
        "F4DE DETCurve, AP; mean over events",
        ap,
        label=Label("MAP"),
        aggregation="mean over events with targets",
        resample=event_mean(average_precision_percent),
        heads_board=True,
    ),
    Measure(
        "ap_prime",
        "%",
        "higher",
        PERCENT,
        "F4DE DETCurve, AP' (prior 1:999); mean over events",
        ap_prime,
        label=Label("MAP′"),
        aggregation="mean over events with targets",
        resample=event_mean(average_precision_prime_percent),
    ),
)
