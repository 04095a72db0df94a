"""The outcome of every trial once it is aligned: named columns, cut at buckets as trials and keys are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.align.aligned import Aligned
from pipeline.arrays import Bools, Ints
from pipeline.formats.table import Array

OUTCOMES = (
    *("hit", "miss", "false_alarm", "correct_rejection"),
    *("outside_ecf", "excluded", "unknown_document", "unkeyed", "stood_for"),
)
"""What a trial is: a target or none, with YES or NO; or why it takes no part. ``stood_for``: another detection of the
query stands for its segment."""
HIT, MISS, FALSE_ALARM, CORRECT_REJECTION, OUTSIDE_ECF, EXCLUDED, UNKNOWN_DOCUMENT, UNKEYED, STOOD_FOR = range(
    len(OUTCOMES)
)
TEXT = np.dtypes.StringDType()
TRIAL, KEY, OMITTED = "trial", "key", "omitted"
"""Dimensions: rows of the trials, rows of the key, and rows of the key that no trial is mapped to."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column along a dimension; with ``rows_of`` its values are rows of another dimension, -1 for none."""

    dim: str
    values: Array
    rows_of: str = ""


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of the trials of a run of buckets. Rows count from where the run begins.

    ``offsets`` says for each dimension where each bucket begins, with the number of rows at the end. What lies along
    a dimension without offsets holds for all buckets.
    """

    columns: Mapping[str, Column]
    offsets: Mapping[str, Ints]

    def __getitem__(self, name: str) -> Array:
        return self.columns[name].values

    def tiles(self, first: int, last: int) -> Labels:
        """Buckets ``first`` up to ``last`` (exclusive) as labels of their own, read where they were not."""
        ends = {dim: (int(offsets[first]), int(offsets[last])) for dim, offsets in self.offsets.items()}
        columns = {}
        for name, column in self.columns.items():
            values = np.asarray(column.values[slice(*ends[column.dim])] if column.dim in ends else column.values)
            columns[name] = Column(column.dim, _moved(values, -ends.get(column.rows_of, (0, 0))[0]), column.rows_of)
        offsets = {dim: np.clip(self.offsets[dim] - begin, 0, end - begin) for dim, (begin, end) in ends.items()}
        return Labels(columns, offsets)

    def with_key_rows(self, first: int) -> Labels:
        """Equal labels whose rows of the key count from ``first`` rows earlier."""
        columns = {
            name: Column(column.dim, _moved(column.values, first), column.rows_of) if column.rows_of == KEY else column
            for name, column in self.columns.items()
        }
        return Labels(columns, self.offsets)

    @classmethod
    def joined(cls, parts: Sequence[Labels]) -> Labels:
        """Those of neighbouring runs of buckets (one at least), in their order."""
        if len(parts) == 1:
            return parts[0]
        before = {
            dim: np.cumsum([0, *(int(part.offsets[dim][-1]) for part in parts)]).tolist() for dim in parts[0].offsets
        }
        columns = {}
        for name, column in parts[0].columns.items():
            values = column.values
            if column.dim in before:
                bases = before.get(column.rows_of, [0] * len(parts))
                moved = [_moved(part[name], base) for part, base in zip(parts, bases, strict=False)]
                values = np.concatenate(moved)
            columns[name] = Column(column.dim, values, column.rows_of)
        offsets = {dim: np.sum([part.offsets[dim] for part in parts], axis=0) for dim in before}
        return cls(columns, offsets)

    def aligned(self) -> Aligned:
        """The rows that take part, what they are mapped to, and what is omitted."""
        kept = np.flatnonzero(self["outcome"] <= CORRECT_REJECTION)
        target = self["target"]
        taken = target if kept.size == target.size else target[kept]
        return Aligned(kept, taken.astype(np.int64, copy=False), self["omitted"].astype(np.int64, copy=False))


def _moved(rows: Array, base: int) -> Array:
    """Row numbers that count from ``base`` rows earlier; -1 stays."""
    return np.where(rows < 0, rows, rows + rows.dtype.type(base)) if base else rows


def labelled(
    trials: Ints, key: Ints, outcome: NDArray[np.uint8], target: Ints, omitted: Ints, more: Mapping[str, Column]
) -> Labels:
    """Labels of trials that are mapped to rows of a key.

    ``trials`` and ``key`` are their offsets; ``omitted`` are the rows of the key, ascending, that take part and that no
    trial is mapped to.
    """
    columns = {
        "outcome": Column(TRIAL, outcome),
        "target": Column(TRIAL, target.astype(np.int32), KEY),
        "omitted": Column(OMITTED, omitted.astype(np.int32), KEY),
    }
    offsets = {TRIAL: trials, KEY: key, OMITTED: np.searchsorted(omitted, key).astype(np.int64)}
    return Labels({**columns, **more}, offsets)


def outcomes(is_target: Bools, decision: Bools) -> NDArray[np.uint8]:
    """The labels of trials that take part."""
    found: NDArray[np.uint8] = np.where(
        is_target, np.where(decision, HIT, MISS), np.where(decision, FALSE_ALARM, CORRECT_REJECTION)
    ).astype(np.uint8)
    return found


def outcomes_of(n_trials: int, aligned: Aligned, decision: Bools, otherwise: int) -> tuple[NDArray[np.uint8], Ints]:
    """Outcome and target of every trial: ``otherwise`` and -1 for those that are not kept.

    ``decision`` holds one element per kept row.
    """
    outcome, target = np.full(n_trials, otherwise, np.uint8), np.full(n_trials, -1, np.int64)
    outcome[aligned.kept] = outcomes(aligned.target, decision)
    target[aligned.kept] = aligned.reference
    return outcome, target
