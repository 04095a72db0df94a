"""Figures of labelled scores: of all trials together, and as means over queries where there are queries."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.bounds import SHARE
from pipeline.metrics.entropy import ape, calibration, cxe
from pipeline.metrics.entropy.crossentropy import prior_entropy
from pipeline.metrics.kws import costs, ranking, twv
from pipeline.metrics.kws.counts import by_query
from pipeline.metrics.kws.means import NO_NONTARGET_TRIALS, NO_TARGETS, query_means
from pipeline.metrics.kws.one_pass import means_of, means_over_all
from pipeline.metrics.kws.shared import counts_of
from pipeline.metrics.label import Label
from pipeline.metrics.measure import Measure, Resample, Rows, Scored
from pipeline.metrics.statistics.resampling import INFINITE, MOST, Ratios, Sample
from pipeline.partials.ledger import Ledger
from pipeline.terms import Figure


@dataclass(frozen=True)
class LabelledTotals:
    """A cell's counts by query and score, and how many trials each query has for error rates."""

    ledger: Ledger
    n_trials: Floats
    """In the order of the ledger's queries."""


LabelledScored = Scored[LabelledTotals]


def query_cell(scored: LabelledScored) -> Scored[Ledger]:
    """The cell of means over queries, each with its own number of trials."""
    ledger, n_trials = scored.total.ledger, scored.total.n_trials
    skipped = scored.rules.skip_undefined_p_fa
    known = {
        means_of: query_means(ledger, n_trials, skip_undefined_p_fa=skipped),
        means_over_all: query_means(ledger, n_trials, include_no_targets=True, skip_undefined_p_fa=skipped),
    }
    return Scored(ledger, scored.facts, scored.point, scored.rules, None, scored.every_point, dict(known))


def pooled_cell(scored: LabelledScored) -> Scored[Ledger]:
    """The cell of all trials as those of one query, every one of them scored."""
    ledger = scored.total.ledger
    group = np.zeros(len(ledger), np.int64)
    whole = Ledger.of_rows(("all",), ("all",), np.zeros((1, 1), np.int64), group, ledger.score, ledger.counts)
    n_trials = float(ledger.counts[:2].astype(np.int64).sum())
    facts = replace(scored.facts, n_trials=n_trials, n_trials_exact=n_trials, queries=("all",))
    return Scored(whole, facts, scored.point, scored.rules, None, scored.every_point)


def _of(
    cell: Callable[[LabelledScored], Scored[Ledger]],
    measure: Measure[Ledger],
    resample: Resample[LabelledTotals] | None,
    **changed: object,
) -> Measure[LabelledTotals]:
    def of(scored: LabelledScored) -> Figure:
        return scored.once(cell).once(measure.of)

    about = {name: getattr(measure, name) for name in _KEPT} | changed
    return Measure(of=of, resample=resample, **about)


_KEPT = ("name", "unit", "better", "bounds", "source", "label", "aggregation", "heads_board", "best", "threshold")


def of_queries(measure: Measure[Ledger]) -> Measure[LabelledTotals]:
    """A measure over queries."""
    drawn = measure.resample
    if drawn is None:
        return _of(query_cell, measure, None)
    return _of(
        query_cell,
        measure,
        Resample(drawn.unit, lambda scored, rows: drawn.sample(scored.once(query_cell), rows)),
    )


def of_all(measure: Measure[Ledger], **changed: object) -> Measure[LabelledTotals]:
    """A measure over all trials together."""
    return _of(pooled_cell, measure, _DRAWN.get(measure.name), **{"aggregation": POOLED, **changed})


POOLED = "pooled over trials"


def _sums(scored: LabelledScored, column: Floats | Ints) -> Floats:
    ledger = scored.total.ledger
    return np.bincount(ledger.query, weights=column, minlength=len(ledger.queries)).astype(np.float64)


def _masses(scored: LabelledScored) -> Floats:
    """Targets and non-targets of each query, shape (2, queries)."""
    ledger = scored.total.ledger
    return np.stack([ledger.n_true[0], by_query(ledger, ledger.n_nontarget)]).astype(np.float64)


def _ratios(scored: LabelledScored, coefficient: tuple[float, float], top: Floats) -> Sample | str:
    """A weighted sum of two rates over all trials, as a function of how often each query counts."""
    bottom = _masses(scored)
    if not bottom[0].any():
        return NO_TARGETS
    if not bottom[1].any():
        return NO_NONTARGET_TRIALS
    if not (top <= MOST).all():
        return INFINITE
    return Ratios(scored.total.ledger.queries, 0.0, np.array(coefficient), top, bottom)


def _cost(scored: LabelledScored, _rows: Rows, unit: float = 1.0) -> Sample | str:
    counts = scored.once(query_cell).once(counts_of)
    miss, false_alarm = costs.weights(scored.point)
    return _ratios(scored, (miss / unit, false_alarm / unit), np.stack([counts.n_miss, counts.n_fa]).astype(np.float64))


def _entropy(scored: LabelledScored, prior: float, unit: float) -> Sample | str:
    """Cross-entropy over ``unit`` nats at a prior."""
    ledger = scored.total.ledger
    log_odds = ledger.score + (math.log(prior) - math.log1p(-prior))
    with np.errstate(over="ignore", invalid="ignore"):
        costs_of = np.logaddexp(0.0, -log_odds), np.logaddexp(0.0, log_odds)
    counts = ledger.n_target, ledger.n_nontarget
    used = (np.where(n > 0, cost * n, 0.0) for n, cost in zip(counts, costs_of, strict=True))
    top = np.stack([_sums(scored, column) for column in used])
    return _ratios(scored, (prior / unit, (1.0 - prior) / unit), top)


def _over_queries(sample: Callable[[LabelledScored], Sample | str]) -> Resample[LabelledTotals]:
    return Resample("query", lambda scored, _rows: sample(scored))


def _normalised_entropy(scored: LabelledScored) -> Sample | str:
    prior = scored.point.effective_prior
    return _entropy(scored, prior, prior_entropy(prior))


_DRAWN = {
    "c_det": Resample("query", _cost),
    "cxe": _over_queries(lambda scored: _entropy(scored, scored.point.effective_prior, math.log(2.0))),
    "cnxe": _over_queries(_normalised_entropy),
    "cllr": _over_queries(lambda scored: _entropy(scored, 0.5, math.log(2.0))),
}


def min_c_det(scored: Scored[Ledger]) -> Figure:
    """The least cost over thresholds of all trials together, accepting nothing included; ``detail`` has the threshold.

    C_miss P_target (1 - max(1 - P_miss - beta P_fa)): the threshold is that of the best value.
    """
    best = scored.once(twv.mtwv)
    if best.reason is not None:
        return best
    miss, _ = costs.weights(scored.point)
    return Figure(
        miss * (1.0 - best.value), detail={name: best.detail[name] for name in ("threshold", "p_miss", "p_fa")}
    )


def auc(scored: Scored[Ledger]) -> Figure:
    """Share of pairs of a target and a non-target in which the target scores higher; ties count half.

    The area under the ROC curve, the Mann-Whitney statistic over its maximum (Hanley and McNeil 1982).
    """
    ledger = scored.total
    order = np.argsort(ledger.score, kind="stable")
    n_target, n_nontarget = ledger.n_target[order], ledger.n_nontarget[order]
    targets, others = int(n_target.sum()), int(n_nontarget.sum())
    if not targets:
        return Figure.undefined(NO_TARGETS)
    if not others:
        return Figure.undefined(NO_NONTARGET_TRIALS)
    below = np.cumsum(n_nontarget) - n_nontarget
    twice = sum(int(t) * (2 * int(b) + int(n)) for t, b, n in zip(n_target, below, n_nontarget, strict=True) if t)
    return Figure(twice / (2 * targets * others))


_SRE = "NIST speaker recognition evaluation plans"
MIN_C_DET: Measure[Ledger] = Measure(
    "min_c_det",
    "1",
    "lower",
    costs.MEASURES[0].bounds,
    f"{_SRE}, minimum of C_det over thresholds",
    min_c_det,
    label=Label("min C", "det"),
)
AUC: Measure[Ledger] = Measure(
    "auc", "1", "higher", SHARE, "Hanley and McNeil 1982, area under the ROC curve", auc, label=Label("AUC")
)
_OF_QUERIES = ("atwv", "mtwv", "mtwv_threshold", "p_miss", "p_fa", "twv_bayes", "twv_optimum")
_NAMED = {measure.name: measure for measure in (*twv.MEASURES, *cxe.MEASURES, *calibration.MEASURES)}

MEASURES: tuple[Measure[LabelledTotals], ...] = (
    of_all(_NAMED["c_det"], best="min_c_det", heads_board=True),
    of_all(MIN_C_DET),
    *(of_all(_NAMED[name]) for name in ("c_default", "c_norm")),
    *(of_queries(_NAMED[name]) for name in _OF_QUERIES),
    of_queries(ranking.MEASURES[0]),
    of_all(
        ranking.MEASURES[0],
        name="ap",
        label=Label("AP"),
        source="average precision over all trials, ties with non-targets first (F4DE KWSEval)",
    ),
    *(of_all(_NAMED[name]) for name in ("cxe", "cxe_prior", "cnxe", "min_cnxe_affine", "min_cnxe_pav")),
    of_all(_NAMED["calibration_loss"]),
    *(of_all(measure) for measure in ape.MEASURES),
    of_all(AUC),
)
