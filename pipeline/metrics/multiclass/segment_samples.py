"""Multiclass costs of language recognition as functions of how often each segment counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from pipeline.arrays import Floats
from pipeline.metrics.entropy.class_costs import confusion, log_cost, prior_entropy
from pipeline.metrics.measure import Resample, Rows
from pipeline.metrics.multiclass.totals import LreScored, LreTotals
from pipeline.metrics.statistics.resampling import INFINITE, MOST, Ratios, Sample
from pipeline.trials.score_matrix import ScoreMatrix, SegmentLabels


def by_segment(after: Callable[[float, Floats], Floats]) -> Resample[LreTotals]:
    """A function of the cross-entropy and of the confusion that the prior alone costs, over the segments of the classes
    that take part, drawn class by class. Recalibrating every replicate is not done."""

    def of(scored: LreScored, rows: Rows) -> Sample | str:
        return _sample(scored, rows, after)

    return Resample("segment", of)


def _sample(scored: LreScored, rows: Rows, after: Callable[[float, Floats], Floats]) -> Sample | str:
    total = scored.total
    if total.reason is not None:
        return total.reason
    trials: ScoreMatrix
    key: SegmentLabels
    trials, key = rows()
    segments, scores = trials.segments, trials.scores
    labels = [total.meaning.get(key.labels[code], "") for code in key.label.tolist()]
    place = {name: at for at, name in enumerate(total.classes)}
    kept = sorted((row for row, label in enumerate(labels) if label in place), key=segments.__getitem__)
    truth = np.array([place[labels[row]] for row in kept], np.int64)
    columns = [trials.classes.index(name) for name in total.classes]
    cost = log_cost(np.ascontiguousarray(scores[kept][:, columns]), truth, total.prior)
    if not (cost <= MOST).all():
        return INFINITE
    held = (truth == np.arange(len(place))[:, None]).astype(np.float64)
    return Ratios(
        units=tuple(segments[row] for row in kept),
        constant=0.0,
        coefficient=np.array(total.prior),
        numerator=held * cost,
        denominator=held,
        stratum=tuple(labels[row] for row in kept),
        after=partial(after, confusion(prior_entropy(total.prior))),
    )


def cost_itself(_f_def: float, cost: Floats) -> Floats:
    """C_mce in nats."""
    return cost


def confusion_of(_f_def: float, cost: Floats) -> Floats:
    """F_mce."""
    return relative_confusion(1.0, cost)


def relative_confusion(f_def: float, cost: Floats) -> Floats:
    """F_act = F_mce / F_def."""
    with np.errstate(over="ignore"):
        return np.asarray(np.expm1(cost) / f_def)


def log_relative_confusion(f_def: float, cost: Floats) -> Floats:
    """ln F_act."""
    with np.errstate(divide="ignore"):
        return np.asarray(cost + np.log(-np.expm1(-cost)) - math.log(f_def))
