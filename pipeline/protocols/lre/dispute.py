"""Why a segment was given its language (Albayzin LRE)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pipeline.formats.lre.names import OOS, REMOVED
from pipeline.metrics.entropy.class_costs import log_posterior
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.disputes import UNSCORED, Decided, Dispute
from pipeline.protocols.lre.settings import class_of_label, given_classes
from pipeline.trials.score_matrix import ScoreMatrix, SegmentLabels, SegmentList


def _segment(
    protocol: Protocol,
    trials: ScoreMatrix,
    key: SegmentLabels,
    _reference: Reference[SegmentLabels, SegmentList],
    segment: str,
) -> Iterator[Decided]:
    """One segment: its label, the posteriors of all classes, and which is decided (LRE)."""
    at = trials.segments.index(segment)
    label, classes = key.labels[key.label[at]], trials.classes
    truth = class_of_label(protocol.settings, trials.task).get(label)
    given = [name for name in given_classes(trials.task, trials.chosen_set) if name in classes]
    llh = trials.scores[[at]][:, [classes.index(name) for name in given]]
    posterior = np.exp(log_posterior(llh, [1.0 / len(given)] * len(given)))[0]
    decided = given[int(llh[0].argmax())]
    details = {
        "label": label,
        "class": truth or "none",
        "decided": decided,
        "log_likelihoods": dict(zip(given, llh[0].tolist(), strict=True)),
        "posteriors": dict(zip(given, posterior.tolist(), strict=True)),
    }
    if truth is None or truth not in given:
        removed = {REMOVED: "removed from the test", OOS: "out of the closed set"}
        yield Decided(segment, UNSCORED, "no_class", {**details, "why_none": removed.get(label, "other task")}, segment)
        return
    details["cost_nats"] = -math.log(posterior[given.index(truth)]) if posterior[given.index(truth)] else math.inf
    yield Decided(segment, "right" if decided == truth else "wrong", "largest", details, segment)


def _segments(
    _reference: Reference[SegmentLabels, SegmentList], trials: ScoreMatrix, _key: SegmentLabels
) -> tuple[str, ...]:
    return tuple(trials.segments)


DISPUTE = Dispute(_segment, "segment", _segments)
