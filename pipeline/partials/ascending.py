"""Rows of a ledger in ascending order of score, a block at a time, so that no order of all of them is ever in memory.

Rows ascend within each query. So scores at which all queries are cut leave blocks of a bounded number of rows, which
are sorted by themselves; rows of one score are in one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints
from pipeline.partials.ledger import Ledger
from pipeline.partials.packed import Packed

BLOCK_ROWS = 1 << 18
"""Rows of a block, about: few enough for a processor's caches."""
ROWS_PER_QUERY = 32
"""Rows of a block for each query, about, where there are so many queries."""
_SAMPLES = 8
"""Scores of each query that are looked at for each block, about, to find where to cut."""


class Block(NamedTuple):
    """Rows in ascending order of score, those of one score in any order."""

    score: Floats
    query: Ints
    n_nontarget: Ints


def ascending(ledger: Ledger) -> Iterator[Block]:
    """All rows of a ledger of one condition."""
    for begin, end in pairwise(_edges(ledger)):
        sizes = end - begin
        n_rows = int(sizes.sum())
        if n_rows:
            query = np.repeat(np.arange(sizes.size), sizes)
            rows = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
            rows += np.arange(n_rows)
            yield _sorted(ledger, rows, query)


def _edges(ledger: Ledger) -> NDArray[np.int64]:
    """The row of each query at which each block begins, and where the last one ends, (n_blocks + 1, n_queries)."""
    values, first, n_queries = ledger.scores.values, ledger.first, len(ledger.queries)
    rows = max(BLOCK_ROWS, ROWS_PER_QUERY * n_queries)
    every = max(rows // (_SAMPLES * max(n_queries, 1)), 1)
    cuts = np.zeros(0, values.dtype)
    if values.size > rows:
        cuts = np.unique(np.sort(values[::every])[rows // every :: max(rows // every, 1)])
    inside = np.empty((n_queries, cuts.size), np.int64)
    for query, (begin, end) in enumerate(pairwise(first.tolist())):
        inside[query] = begin + np.searchsorted(values[begin:end], cuts)
    return np.vstack((first[:-1], inside.T, first[1:]))


def _sorted(ledger: Ledger, rows: Ints, query: Ints) -> Block:
    """Rows as words that ascend, which spares looking them up one by one, where their columns fit into words."""
    values: NDArray[Any] = ledger.scores.values[rows]
    n_nontarget = ledger.counts[1][rows]
    packed = None if ledger.scores.places is None else Packed.of((values, query, n_nontarget))
    if packed is None:
        order = np.argsort(values)
        score = replace(ledger.scores, values=values[order]).at(slice(None))
        return Block(score, query[order], n_nontarget[order].astype(np.int64))
    packed.sort()
    score = replace(ledger.scores, values=packed.column(0)).at(slice(None))
    return Block(score, packed.column(1), packed.column(2))
