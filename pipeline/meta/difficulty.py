"""Which queries are hard, and whether figures differ more by query or by system."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.arrays import Floats
from pipeline.metrics.best import worths
from pipeline.metrics.statistics.resampling import Ratios, Sample
from pipeline.metrics.statistics.variance import VarianceSplit, spearman, split_variance

Table = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Difficulty:
    """One board: a row for each unit, and how the variance of the units' figures splits."""

    units: Table
    """``unit``, ``text``, ``n_characters`` and ``n_words`` of the text, ``n_target`` where known; ``mean``, ``low``
    and ``high`` (least and greatest) of the systems' figures of the unit; hardest first."""
    split: VarianceSplit
    with_length: float
    """Spearman's correlation of the mean with the text's length in characters; NaN without texts."""
    with_targets: float
    """Spearman's correlation of the mean with the number of targets."""


def difficulty(
    samples: Mapping[str, Sample], texts: Mapping[str, str], n_target: Mapping[str, float], better: str
) -> Difficulty | None:
    """Of the systems whose figures are over the same units; None where there are none."""
    names, table = unit_table(samples)
    if not names:
        return None
    mean = table.mean(axis=1)
    length = np.array([float(len(texts.get(name, ""))) or math.nan for name in names])
    targets = np.array([n_target.get(name, math.nan) for name in names])
    order = np.argsort(worths(mean, better), kind="stable").tolist()
    units = tuple(
        {
            "unit": names[at],
            "text": texts.get(names[at], ""),
            "n_characters": length[at],
            "n_words": float(len(texts.get(names[at], "").split())) or math.nan,
            "n_target": targets[at],
            "mean": float(mean[at]),
            "low": float(table[at].min()),
            "high": float(table[at].max()),
        }
        for at in order
    )
    return Difficulty(units, split_variance(table), spearman(mean, length), spearman(mean, targets))


def unit_table(samples: Mapping[str, Sample]) -> tuple[tuple[str, ...], Floats]:
    """The units that most systems have in common, and each one's figure as if the mean were over it alone, shape
    (units, systems): contributions times the number of units, the constant put back."""
    if not samples:
        return (), np.zeros((0, 0))
    first = next(iter(samples.values()))
    same = [sample for sample in samples.values() if sample.units == first.units]
    columns = []
    for sample in same:
        constant = sample.constant if isinstance(sample, Ratios) else 0.0
        columns.append(constant + len(sample.units) * sample.contributions)
    return first.units, np.stack(columns, axis=1)
