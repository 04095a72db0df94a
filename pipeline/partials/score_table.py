"""Counts by score alone, whatever the query: what is left of many ledgers in one range of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Strictly ascending scores (n,) and int64 columns beside them (n_columns, n)."""

    score: Floats
    counts: Ints

    @classmethod
    def of(cls, score: Floats, counts: Ints) -> ScoreTable:
        """Rows in any order; those of one score are added up."""
        order = np.argsort(score)
        score = score[order]
        starts = np.flatnonzero(np.append(True, score[1:] != score[:-1])[: score.size])
        if not starts.size:
            return cls(score, np.zeros((counts.shape[0], 0), np.int64))
        added = [np.add.reduceat(column[order], starts, dtype=np.int64) for column in counts]
        return cls(score[starts], np.stack(added))

    @classmethod
    def joined(cls, parts: Sequence[ScoreTable]) -> ScoreTable:
        """All of ``parts`` (at least one) together."""
        score = np.concatenate([part.score for part in parts])
        return cls.of(score, np.concatenate([part.counts for part in parts], axis=1))

    def pieces(self, edges: Floats) -> list[ScoreTable]:
        """The rows below the first edge, from it up to the second, …, from the last one on."""
        bounds = [0, *np.searchsorted(self.score, edges).tolist(), self.score.size]
        return [
            ScoreTable(self.score[begin:end].copy(), self.counts[:, begin:end].copy())
            for begin, end in pairwise(bounds)
        ]
