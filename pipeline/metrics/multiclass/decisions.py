"""Decisions by log-likelihoods: confusion of languages, costs by language, weighted misclassification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.entropy.class_costs import BLOCK, class_sums, costs_apart, log_posterior
from pipeline.metrics.entropy.portable import exp
from pipeline.metrics.multiclass.totals import LreScored, LreTotals, over_segments
from pipeline.partials.exact import ROW, means_of_limbs
from pipeline.terms import Figure

OTHER_WEIGHTS = "weights_of_other_classes"
"""Reason: the weights are given for other classes than those that take part."""


@dataclass(frozen=True)
class Confusion:
    """How the segments of each class (rows) fare; NaN where a class has none.

    ``decided`` (K, K) counts Bayes decisions at the flat prior, ties going to the first class. ``posterior`` (K, K) is
    the mean posterior of every class, ``cost`` (K,) the mean logarithmic cost in nats.
    """

    decided: Ints
    posterior: Floats
    cost: Floats


def confusion(scored: LreScored) -> Confusion:
    """Hard and soft confusion of a cell's classes, and their costs."""
    k, over = len(scored.total.classes), over_segments(scored)
    n = np.repeat(scored.total.n_segments, k + 1).astype(np.float64)
    means = means_of_limbs(over(_confusion_sums).reshape(n.size, ROW), n).reshape(k, k + 1)
    return Confusion(over(decisions, np.zeros(k)), means[:, 1:], means[:, 0])


def _confusion_sums(total: LreTotals) -> Ints:
    """Exact sums of the costs and posteriors of each class, (K, 1 + K, ROW)."""
    k = len(total.classes)
    limbs = np.zeros((k, k + 1, ROW), np.int64)
    for start in range(0, total.truth.size, BLOCK):
        rows = slice(start, start + BLOCK)
        llh, truth = total.llh[rows], total.truth[rows]
        multiplicity = None if total.multiplicity is None else total.multiplicity[rows]
        posterior = exp(np.ascontiguousarray(log_posterior(llh, total.prior)))
        cost, huge = costs_apart(llh, truth, total.prior, multiplicity)
        limbs += class_sums(np.column_stack([cost, posterior]), truth, k, multiplicity)
        limbs[:, 0] += huge
    return limbs


def decisions(total: LreTotals, shift: Floats) -> Ints:
    """Counts (K, K) of segments of each class by the class with the largest log-likelihood plus ``shift``."""
    k = len(total.classes)
    counts = np.zeros((k, k), np.int64)
    if total.truth.size:
        chosen = (total.llh + shift).argmax(axis=1)
        number = np.ones(chosen.size, np.int64) if total.multiplicity is None else total.multiplicity.astype(np.int64)
        np.add.at(counts, (total.truth, chosen), number)
    return counts


def c_eta(scored: LreScored) -> Figure:
    """The proper scoring rule that a weighted misclassification cost induces, averaged over classes at the flat prior.

    A wrong decision about a segment of class i costs 1 / ((K - 1) eta_i) (plan eq 17), decisions being those of least
    expected cost (eq 19). With equal weights it is K / (K - 1) times the mean error rate of the classes.
    """
    total = scored.total
    if total.reason:
        return Figure.undefined(total.reason)
    k = len(total.classes)
    if total.eta and set(total.eta) != set(total.classes):
        return Figure.undefined(OTHER_WEIGHTS)
    eta = [total.eta.get(name, 1.0 / k) for name in total.classes]
    counts = over_segments(scored)(decisions, np.array([math.log(max(eta) / weight) for weight in eta]))
    wrong = (total.n_segments - counts.diagonal()).tolist()
    shares = [missed / n / weight for missed, n, weight in zip(wrong, total.n_segments.tolist(), eta, strict=True)]
    return Figure(math.fsum(p * share for p, share in zip(total.prior, shares, strict=True)) / (k - 1))


def blocks(scored: LreScored, offsets: Floats) -> tuple[dict[str, Any], ...]:
    """One row a class: its segments, mean cost, decisions and error rates, and its offset in the recalibration.

    ``p_miss`` is the share of its segments that are decided as another class; ``p_fa`` the share of other classes'
    segments that are decided as this one, averaged over those classes.
    """
    found = scored.once(confusion)
    n, decided = scored.total.n_segments, found.decided
    share = np.divide(decided, n[:, None], out=np.full(decided.shape, np.nan), where=n[:, None] > 0)
    rows = []
    for at, name in enumerate(scored.total.classes):
        others = np.delete(share[:, at], at)
        known = others[~np.isnan(others)]
        rows.append(
            {
                "id": name,
                "n_segments": int(n[at]),
                "c_log": float(found.cost[at]),
                "n_correct": int(decided[at, at]),
                "n_decided": int(decided[:, at].sum()),
                "p_miss": 1.0 - float(share[at, at]),
                "p_fa": math.fsum(known.tolist()) / known.size if known.size else math.nan,
                "offset": float(offsets[at]),
            }
        )
    return tuple(rows)


def tables(scored: LreScored) -> dict[str, tuple[dict[str, Any], ...]]:
    """``confusion`` (segments of each class by decision) and ``soft_confusion`` (its mean posterior), rows by class."""
    found, classes = scored.once(confusion), scored.total.classes
    named = (("confusion", found.decided.tolist()), ("soft_confusion", found.posterior.tolist()))
    return {
        table: tuple(
            {"id": name, **dict(zip(classes, row, strict=True))} for name, row in zip(classes, rows, strict=True)
        )
        for table, rows in named
    }
