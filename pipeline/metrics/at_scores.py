"""Sums of what the trials of some queries count for, at every distinct score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.fixed_point import Floats, Ints
from pipeline.partials.ledger import Ledger

_AT_ONCE = 1 << 16
"""Rows whose columns stay in a processor's caches."""


def nontargets_at_scores(
    ledger: Ledger, used: NDArray[np.bool_], weigh: Callable[[Ints, Ints], Sequence[Ints]]
) -> tuple[Floats, list[Ints]]:
    """The distinct scores of the ``used`` queries, ascending, and sums there of each of the columns of ``weigh``.

    ``weigh`` takes queries and counts of non-targets of some rows. Scores of targets alone are there too.
    """
    size = 0
    score = np.empty(len(ledger))
    none = np.zeros(0, np.int64)
    sums = [np.empty(len(ledger), np.int64) for _ in weigh(none, none)]
    for scores, query, counts in _of_queries(ledger, used):
        first = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
        again = size > 0 and bool(score[size - 1] == scores[0])
        size -= again
        end = size + first.size
        score[size:end] = scores[first]
        for column, words in zip(sums, weigh(query, counts), strict=True):
            carried = column[size] if again else 0
            np.add.reduceat(words, first, out=column[size:end])
            column[size] += carried
        size = end
    return score[:size], [column[:size] for column in sums]


def _of_queries(ledger: Ledger, used: NDArray[np.bool_]) -> Iterator[tuple[Floats, Ints, Ints]]:
    """Score, query and count of non-targets of some rows (one at least) of the ``used`` queries, as they ascend."""
    for score, query, counts in ledger.ascending(_AT_ONCE):
        rows = used[query]
        if rows.all():
            yield score, query, counts
        elif rows.any():
            yield score[rows], query[rows], counts[rows]


def target_rows(ledger: Ledger, used: NDArray[np.bool_]) -> Ints:
    """Rows of the ``used`` queries that have targets; these are few."""
    rows = np.flatnonzero(ledger.n_target)
    return np.asarray(rows[used[ledger.query[rows]]])
