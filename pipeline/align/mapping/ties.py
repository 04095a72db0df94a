"""Ties between heaviest mappings, settled on the columns they use."""

from __future__ import annotations

import numpy as np

from pipeline.align.mapping.covering import Covering, covering, heaviest
from pipeline.align.mapping.grouped import run_starts
from pipeline.arrays import Bools, Ints


def settle(problem: Covering, chosen: Bools, rank: Ints) -> Bools:
    """Of all mappings as heavy as ``chosen``, one with the most preferred columns; ``rank`` is per entry, its column's.

    With optimal dual prices, the heaviest mappings are exactly those that use tight entries only and every column of
    positive price (complementary slackness). The columns of such mappings are the bases of a matroid, so the largest
    sum of ranks is also the best from the most preferred column down, and its ranks are unique.
    """
    price = _prices(problem, chosen)
    mate, held = _mates(problem, chosen)
    tight = problem.weight - held[problem.row] + price[mate[problem.row]] == price[problem.column]
    used = np.zeros(problem.n_columns, np.bool_)
    used[mate] = True
    tied = np.isin(problem.component, problem.component[tight & ~used[problem.column]])
    rows = np.flatnonzero(tight & tied)
    if rows.size == 0:
        return chosen
    names, place = np.unique(rank[rows], return_inverse=True)
    component = problem.component[rows]
    largest = int(np.bincount(problem.component[chosen]).max())
    needed = (price[problem.column[rows]] > 0) * (largest * names.size + 1)
    second = covering(problem.row[rows], problem.column[rows], place + 1 + needed, component, chosen[rows])
    settled = chosen & ~tied
    settled[rows[second.entry[heaviest(second)]]] = True
    return settled


def _mates(problem: Covering, chosen: Bools) -> tuple[Ints, Ints]:
    """Per row the column chosen for it and that entry's weight."""
    mate, held = np.empty(problem.n_rows, np.int64), np.empty(problem.n_rows, np.int64)
    mate[problem.row[chosen]] = problem.column[chosen]
    held[problem.row[chosen]] = problem.weight[chosen]
    return mate, held


def _prices(problem: Covering, chosen: Bools) -> Ints:
    """The lowest optimal dual price of each column: what the other rows would gain if it were free for them."""
    mate, held = _mates(problem, chosen)
    order = np.argsort(problem.column, kind="stable")
    row = problem.row[order]
    gain = problem.weight[order] - held[row]
    mate_of_entry = mate[row]
    starts = run_starts(problem.column[order])
    price = np.zeros(problem.n_columns, np.int64)
    # Longest paths without positive cycles: settled after at most one round per row.
    for _ in range(problem.n_rows + 1):
        raised = np.maximum(np.maximum.reduceat(gain + price[mate_of_entry], starts), 0)
        if np.array_equal(raised, price):
            break
        price = raised
    return price
