"""The segments that take part in a figure of language recognition, by the classes that do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from pipeline.arrays import Floats, Ints
from pipeline.metrics.fixed_point import in_blocks
from pipeline.metrics.measure import Over, Scored
from pipeline.partials.score_rows import ScoreRows

CLASS_WITHOUT_SEGMENTS = "class_without_segments"
"""Reason: a class with a positive prior has no segment, and so no mean cost."""
TOO_FEW_CLASSES = "too_few_classes"
"""Reason: fewer than two classes are left, so there is nothing to confuse."""


@dataclass(frozen=True)
class LreTotals:
    """The segments of the classes that take part, one row per distinct (class, scores)."""

    classes: tuple[str, ...]
    llh: Floats
    """Log-likelihoods, shape (n_rows, n_classes)."""
    truth: Ints
    """The true class of each row."""
    multiplicity: Floats | None
    """How many segments each row stands for; None where each is one."""
    n_segments: Ints
    """Segments of each class."""
    eta: Mapping[str, float] = field(default_factory=dict)
    """Weights of classes for ``c_eta``; equal ones where empty."""
    t_audio_s: float = math.nan
    """Seconds of audio that the system processed."""
    meaning: Mapping[str, str] = field(default_factory=dict)
    """The class that each label of the key counts as."""

    @property
    def prior(self) -> tuple[float, ...]:
        """The flat prior (plan eq 2)."""
        return (1.0 / len(self.classes),) * len(self.classes)

    @property
    def reason(self) -> str | None:
        """Why the multiclass figures do not exist, if so."""
        if len(self.classes) <= 1:
            return TOO_FEW_CLASSES
        return None if self.n_segments.all() else CLASS_WITHOUT_SEGMENTS

    def blocks(self) -> Iterator[LreTotals]:
        """The segments, some rows at a time; one block at least. Counts of classes are those of all of them."""
        for rows in in_blocks(max(self.truth.size, 1)):
            multiplicity = None if self.multiplicity is None else self.multiplicity[rows]
            yield replace(self, llh=self.llh[rows], truth=self.truth[rows], multiplicity=multiplicity)


LreScored = Scored[LreTotals]


def over_segments(scored: LreScored) -> Over:
    """A way to see all segments: tasks take ``LreTotals`` of some of them at a time, and what they give is added up."""
    return lambda task, *state: reduce(add, (task(block, *state) for block in scored.total.blocks()))


def totals_of(
    rows: ScoreRows, classes: tuple[str, ...], meaning: Mapping[str, str] | None = None, **others: Any
) -> LreTotals:
    """The rows of ``classes``; labels count as the class ``meaning`` gives them, or as themselves."""
    means = {name: name for name in classes} if meaning is None else meaning
    place = {name: at for at, name in enumerate(classes)}
    of_label = np.array([place.get(means.get(label, ""), -1) for label in rows.labels], np.int64)
    truth = of_label[rows.label] if rows.labels else np.zeros(0, np.int64)
    kept = np.flatnonzero(truth >= 0)
    truth, count = truth[kept], rows.count[kept]
    n_segments = np.zeros(len(classes), np.int64)
    np.add.at(n_segments, truth, count)
    columns = [rows.columns.index(name) for name in classes] if rows.columns else []
    llh = rows.scores[kept][:, columns] if rows.columns else np.zeros((0, len(classes)))
    multiplicity = None if bool((count == 1).all()) else count.astype(np.float64)
    return LreTotals(classes, np.ascontiguousarray(llh), truth, multiplicity, n_segments, meaning=means, **others)
