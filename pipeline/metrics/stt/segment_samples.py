"""Multiclass costs of language recognition as functions of how often each segment counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from pipeline.metrics.multiclass.cost import confusion, log_cost, prior_entropy
from pipeline.metrics.multiclass.totals import LreScored
from pipeline.metrics.statistics.resampling import Floats, Ratios, Sample, identity
from pipeline.metrics.statistics.samples import INFINITE, MOST, NOT_RESAMPLED

_NAMES = ("c_mce", "f_mce", "f_act", "ln_f_act")
"""Measures of the scores as they are; recalibrating every replicate is not done."""


def segment_sample(
    scored: LreScored,
    measure: str,
    segments: Sequence[str],
    labels: Sequence[str],
    classes: Sequence[str],
    scores: Floats,
) -> Sample | str:
    """A measure over the segments of the classes that take part, drawn class by class.

    ``labels`` are the segments' classes, ``scores`` their log-likelihoods (segments, ``classes``).
    """
    if measure not in _NAMES:
        return NOT_RESAMPLED
    total = scored.total
    if total.reason is not None:
        return total.reason
    place = {name: at for at, name in enumerate(total.classes)}
    kept = sorted((row for row, label in enumerate(labels) if label in place), key=segments.__getitem__)
    truth = np.array([place[labels[row]] for row in kept], np.int64)
    columns = [classes.index(name) for name in total.classes]
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
        after=_after(measure, confusion(prior_entropy(total.prior))),
    )


def _after(measure: str, f_def: float) -> Callable[[Floats], Floats]:
    """From the cross-entropy to the measure."""
    if measure == "c_mce":
        return identity
    if measure == "ln_f_act":
        return partial(_log_confusion, f_def)
    return partial(_confusion, f_def if measure == "f_act" else 1.0)


def _confusion(over: float, cost: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(np.expm1(cost) / over)


def _log_confusion(over: float, cost: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(cost + np.log(-np.expm1(-cost)) - math.log(over))
