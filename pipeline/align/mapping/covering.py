"""The heaviest mapping that covers every row of a sparse weight matrix, solved exactly, many components at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.align.mapping.grouped import run_starts
from pipeline.arrays import Bools, Codes, Ints

_ROWS_AT_ONCE = 256
EXACT_BITS = 52
"""Sums of so many bits are exact in the solver."""


@dataclass(frozen=True)
class Covering:
    """A problem: entries of the matrix, sorted by (component, row), ``known`` first within its row.

    ``row`` and ``column`` are numbered without gaps, in the order of components. ``weight`` is at least 1. ``known``
    marks one mapping that covers every row.
    """

    row: Codes
    column: Codes
    weight: Ints
    component: Codes
    known: Bools
    entry: Ints
    """Where each entry stood in the columns that the problem was made from."""

    @property
    def n_rows(self) -> int:
        """How many rows there are to cover."""
        return int(self.row[-1]) + 1

    @property
    def n_columns(self) -> int:
        """How many columns there are to cover them with."""
        return int(self.column.max()) + 1


def covering(row: Codes, column: Codes, weight: Ints, component: Codes, known: Bools) -> Covering:
    """State a problem of at least one entry. Weights are moved to 1 and up within each component.

    The solver computes in doubles: no sum it forms may exceed 2**53. Only components so large, or with weights so far
    apart, that it could are rounded (downwards) to a coarser step.
    """
    entry = np.lexsort((~known, row, component))
    row, column, weight, component = row[entry], column[entry], weight[entry], component[entry]
    starts = run_starts(component)
    lengths = np.diff(starts, append=row.size)
    number = np.zeros(row.size, np.int32)
    number[run_starts(component, row)[1:]] = 1
    number = np.cumsum(number, dtype=np.int32)
    rows_of_component = np.diff(number[starts], append=number[-1] + 1)
    lowest = np.minimum.reduceat(weight, starts)
    spread = np.maximum.reduceat(weight, starts) - lowest
    bits = np.ceil(np.log2(rows_of_component * (spread + 1.0))).astype(np.int64)
    shift = np.maximum(bits - EXACT_BITS, 0)
    weight = ((weight - np.repeat(lowest, lengths)) >> np.repeat(shift, lengths)) + 1
    return Covering(number, _numbered(column, component), weight, component, known[entry], entry)


def heaviest(problem: Covering) -> Bools:
    """Which entries make up a mapping that covers every row and has the largest sum of weights."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    chosen = np.zeros(problem.row.size, np.bool_)
    for begin, end in _batches(problem):
        part = slice(begin, end)
        row = problem.row[part] - problem.row[begin]
        column = problem.column[part] - problem.column[part].min()
        indptr = np.append(run_starts(row), row.size).astype(np.int32)
        # Two ways of scipy's solver are avoided. It first looks for any full matching by a search that can take
        # exponential time: the known entries stand first in their rows, where it finds them at once. And on square
        # matrices it bids prices up in steps as small as the weights: the spare column keeps the matrix from square.
        shape = (indptr.size - 1, int(column.max()) + 2)
        matrix = csr_array((problem.weight[part].astype(np.float64), column, indptr), shape=shape)
        _, of_row = min_weight_full_bipartite_matching(matrix, maximize=True)
        chosen[part] = column == of_row[row]
    return chosen


def _numbered(column: Codes, component: Codes) -> Codes:
    """Columns numbered without gaps, first by component, then as they were."""
    size = int(column.max()) + 1
    of_column = np.full(size, -1, np.int32)
    of_column[column] = component
    used = np.flatnonzero(of_column >= 0)
    number = np.empty(size, np.int32)
    number[used[np.argsort(of_column[used], kind="stable")]] = np.arange(used.size, dtype=np.int32)
    return number[column]


def _batches(problem: Covering) -> Iterator[tuple[int, int]]:
    """Ranges of entries that hold whole components, of about ``_ROWS_AT_ONCE`` rows."""
    starts = run_starts(problem.component)
    batch = problem.row[starts] // _ROWS_AT_ONCE
    begins = starts[run_starts(batch)]
    yield from zip(begins.tolist(), [*begins[1:].tolist(), problem.row.size], strict=True)
