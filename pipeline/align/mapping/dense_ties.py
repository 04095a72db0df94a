"""Ties between heaviest mappings of a dense matrix, settled on the columns they use: the dense side of ``ties``.

The heaviest mappings are those that use tight entries only and every column of positive price. Their columns are the
bases of a matroid: taken greedily, the most preferred first, they are the best from the most preferred down.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.align.mapping.dense import Dense
from pipeline.trials.schema import Bools, Ints

_CELLS_AT_ONCE = 1 << 16

Tight = NDArray[np.bool_]
"""Columns by rows: which entries are tight."""


def settle(weight: Ints, best: Dense, rank: Ints) -> Ints:
    """Per row its column in one of the mappings as heavy as ``best`` with the most preferred columns.

    ``rank`` is per column, the higher is preferred.
    """
    used = np.zeros(rank.size, np.bool_)
    used[best.column] = True
    tight = _tight(weight, best)
    rows = _open_to_change(tight, best.column, np.flatnonzero(~used))
    column = best.column.copy()
    if not rows.any():
        return column
    needed = best.column_price > 0
    column[rows & ~needed[column]] = -1
    row_of = np.full(rank.size, -1, np.int64)
    row_of[column[column >= 0]] = np.flatnonzero(column >= 0)
    dead = ~rows
    order = np.lexsort((np.arange(rank.size), -rank))
    for taken in order[~needed[order]].tolist():
        if not (column[rows] < 0).any():
            break
        _add(tight, column, row_of, dead, taken)
    return column


def _tight(weight: Ints, best: Dense) -> Tight:
    tight = np.empty(weight.shape[::-1], np.bool_)
    height = max(1, _CELLS_AT_ONCE // weight.shape[1])
    for begin in range(0, weight.shape[0], height):
        rows = slice(begin, begin + height)
        tight[:, rows] = (best.row_price[rows, None] + best.column_price == weight[rows]).T
    return tight


def _open_to_change(tight: Tight, column: Ints, unused: Ints) -> Bools:
    """The rows that alternating paths of tight entries reach from columns that are not used."""
    reached = np.zeros(column.size, np.bool_)
    waiting = unused.tolist()
    while waiting and not reached.all():
        rows = np.flatnonzero(tight[waiting.pop()] & ~reached)
        reached[rows] = True
        waiting.extend(column[rows].tolist())
    return reached


def _add(tight: Tight, column: Ints, row_of: Ints, dead: Bools, taken: int) -> None:
    """Use the column ``taken`` too, if the columns used so far can all be kept.

    Rows that a search in vain has reached lead no later search to an open row either: they become ``dead``.
    """
    reached = dead.copy()
    before = np.full(column.size, -1, np.int64)
    waiting = [taken]
    while waiting:
        at = waiting.pop()
        rows = np.flatnonzero(tight[at] & ~reached)
        reached[rows] = True
        before[rows] = at
        ends = rows[column[rows] < 0]
        if ends.size:
            _flip(column, row_of, before, int(ends[0]), taken)
            return
        waiting.extend(column[rows].tolist())
    dead |= reached


def _flip(column: Ints, row_of: Ints, before: Ints, row: int, taken: int) -> None:
    """Hand columns on along the path that ends in the open ``row``."""
    while True:
        at = int(before[row])
        previous = int(row_of[at])
        column[row], row_of[at] = at, row
        if at == taken:
            return
        row = previous
