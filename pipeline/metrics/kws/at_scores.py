"""The trials of some queries at distinct scores, block by block: what every figure over all queries is folded from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.arrays import Bools, Floats, Ints
from pipeline.partials.ascending import Block, ascending
from pipeline.partials.ledger import Ledger


@dataclass(frozen=True, eq=False)
class AtScores:
    """Distinct scores, ascending, above those of the blocks before; scores of targets alone are among them."""

    score: Floats
    _query: Ints
    _n_nontarget: Ints
    _first: Ints | None
    """The first row of each score; None where each has one row."""

    @classmethod
    def of(cls, block: Block, used: Bools) -> AtScores:
        """The rows of the ``used`` queries."""
        if not used.all():
            rows = np.flatnonzero(used[block.query])
            block = Block(block.score[rows], block.query[rows], block.n_nontarget[rows])
        score = block.score
        new = score[1:] != score[:-1]
        if new.all():
            return cls(*block, None)
        first = np.flatnonzero(np.append(True, new))
        return cls(score[first], block.query, block.n_nontarget, first)

    def n_nontarget(self) -> Ints:
        """Non-targets at each score."""
        return self._added(self._n_nontarget)

    def sums(self, weights: Ints) -> Ints:
        """The weighted number of non-targets at each score, each by the weight of its query."""
        words = weights[self._query]
        words *= self._n_nontarget
        return self._added(words)

    def _added(self, column: Ints) -> Ints:
        return column if self._first is None else np.asarray(np.add.reduceat(column, self._first))


def at_scores(ledger: Ledger, used: Bools) -> Iterator[AtScores]:
    """The trials of the ``used`` queries of a ledger of one condition."""
    return (AtScores.of(block, used) for block in ascending(ledger))


def target_rows(ledger: Ledger, used: Bools) -> tuple[Ints, Ints]:
    """Rows of the ``used`` queries that have targets, which are few, and the query of each."""
    rows = np.flatnonzero(ledger.counts[0] != 0)
    query = np.searchsorted(ledger.first, rows, side="right") - 1
    kept = used[query]
    return np.asarray(rows[kept]), np.asarray(query[kept])
