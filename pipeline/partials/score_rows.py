"""The partial of multiclass scoring: a sorted multiset of (true label, score row). What is read off it is exact."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Codes, Floats, Ints


def _no_scores() -> Floats:
    return np.zeros((0, 0))


def _no_codes() -> Codes:
    return np.zeros(0, np.int32)


def _no_counts() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class ScoreRows:
    """Rows ascending by (label, scores), one per distinct pair, with how often it was seen.

    ``columns`` names the classes that are scored, ``labels`` (sorted) what segments really are: any class or mark of
    the key. Which labels count, and as what, is decided when figures are made. A value without columns is the zero.
    """

    columns: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    label: Codes = field(default_factory=_no_codes)
    scores: Floats = field(default_factory=_no_scores)
    """Shape (n, m), finite; -0.0 is stored as 0.0."""
    count: Ints = field(default_factory=_no_counts)

    @classmethod
    def of(cls, columns: tuple[str, ...], labels: tuple[str, ...], label: NDArray[Any], scores: Floats) -> ScoreRows:
        """Rows in any order, each seen once; ``label`` are codes into ``labels``, which may hold unused names.

        Raises ``ValueError`` where shapes do not fit or a score is not finite.
        """
        if scores.shape != (label.size, len(columns)) or not np.isfinite(scores).all():
            raise ValueError(f"finite scores of shape {(label.size, len(columns))} are needed (shape {scores.shape})")
        used = sorted(np.unique(label).tolist(), key=labels.__getitem__)
        onto = np.zeros(len(labels), np.int32)
        onto[used] = np.arange(len(used), dtype=np.int32)
        return _collapsed(
            columns, tuple(labels[code] for code in used), onto[label], scores + 0.0, np.ones(label.size, np.int64)
        )

    def __add__(self, other: ScoreRows) -> ScoreRows:
        if not self.columns or not other.columns:
            return self if self.columns else other
        if self.columns != other.columns:
            raise ValueError(f"rows of other classes do not add up ({self.columns} and {other.columns})")
        labels = tuple(sorted({*self.labels, *other.labels}))
        place = {name: code for code, name in enumerate(labels)}
        sides = (self, other)
        onto = [np.array([place[name] for name in side.labels], np.int32)[side.label] for side in sides]
        return _collapsed(
            self.columns,
            labels,
            np.concatenate(onto),
            np.concatenate([side.scores for side in sides]),
            np.concatenate([side.count for side in sides]),
        )

    def __len__(self) -> int:
        return int(self.label.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScoreRows):
            return NotImplemented
        same_names = self.columns == other.columns and self.labels == other.labels
        arrays = ("label", "scores", "count")
        return same_names and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)

    __hash__ = None  # type: ignore[assignment]

    def n_by_label(self) -> dict[str, int]:
        """How many segments have each label."""
        counts = np.zeros(len(self.labels), np.int64)
        np.add.at(counts, self.label, self.count)
        return dict(zip(self.labels, counts.tolist(), strict=True))


def _collapsed(
    columns: tuple[str, ...], labels: tuple[str, ...], label: Codes, scores: Floats, count: Ints
) -> ScoreRows:
    """One row per distinct (label, scores), ascending."""
    order = np.lexsort((*scores.T[::-1], label))
    label, scores, count = label[order], scores[order], count[order]
    first = np.ones(label.size, np.bool_)
    first[1:] = (label[1:] != label[:-1]) | (scores[1:] != scores[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    added = np.add.reduceat(count, starts, dtype=np.int64) if label.size else count
    return ScoreRows(columns, labels, label[starts], np.ascontiguousarray(scores[starts]), added)
