"""The heaviest mapping that covers every row of a dense matrix of integers: exact, in the memory of the matrix.

Prices are first bid up to nearly what they will be (D. P. Bertsekas, The auction algorithm, Annals of Operations
Research 14, 1988, with steps that shrink); that only saves time. From these prices on shortest augmenting paths finish
exactly (R. Jonker and A. Volgenant, A shortest augmenting path algorithm, Computing 38, 1987). A matrix with columns to
spare is made square by rows that are worth 0 everywhere, which take no memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.trials.schema import Ints

UNKNOWN = -(1 << 63)
"""What an entry is before ``squeeze`` that may not be chosen."""
FORBIDDEN = -(1 << 60)
"""What it is from then on."""
_BITS = 57
_UNREACHED = 1 << 62
_STEP_RATIO = 8
_BIDS_A_ROW = 20
_PATH_STEPS_A_ROW = 10
_CELLS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Dense:
    """Per row the column chosen, and optimal dual prices.

    ``row_price[r] + column_price[c] >= weight[r, c]``, with equality for what is chosen; column prices are at least 0
    and 0 where the column is not used.
    """

    column: Ints
    row_price: Ints
    column_price: Ints


def squeeze(weight: Ints) -> None:
    """Move the weights of each row, in place, so that its largest is 0: every row is covered, whatever it is worth.

    No sum that the solver forms may exceed 2**57: only weights so far apart that it could are rounded downwards to a
    coarser step.
    """
    blocks = [weight[rows] for rows in _blocks(weight)]
    widest = max(int(_below_best(block).max()) for block in blocks)
    bits = ((widest + 1) * (max(weight.shape) + 1)).bit_length()
    for block in blocks:
        forbidden = block == UNKNOWN
        np.right_shift(-_below_best(block), max(bits - _BITS, 0), out=block)
        block[forbidden] = FORBIDDEN


def _below_best(block: Ints) -> Ints:
    """How far each weight is below the best of its row, 0 where it is unknown."""
    return np.where(block == UNKNOWN, 0, block.max(axis=1, keepdims=True) - block)


def heaviest(weight: Ints) -> Dense:
    """The mapping that covers every row with the largest sum; ``weight`` is squeezed, and can be covered."""
    price, spread = _first_prices(weight)
    step, most_steps = spread // _STEP_RATIO, _PATH_STEPS_A_ROW * price.size
    while True:
        if step:
            _bid(weight, price, step, spread)
        step //= _STEP_RATIO
        if step <= spread // (_STEP_RATIO * price.size):
            solver = _Paths(weight, price - price.min())
            if solver.cover(most_steps if step else None):
                break
            price, most_steps = solver.price, 2 * most_steps
    n_rows, lowest = weight.shape[0], solver.price.min()
    return Dense(solver.column[:n_rows], solver.row_price[:n_rows] + lowest, solver.price - lowest)


class _Paths:
    """A mapping that grows by shortest paths, and its prices. Rows from ``weight.shape[0]`` on are worth 0."""

    def __init__(self, weight: Ints, price: Ints) -> None:
        self.weight, self.price = weight, price
        self.column = np.full(price.size, -1, np.int64)
        self.row = np.full(price.size, -1, np.int64)
        self.row_price = np.full(price.size, -price.min(), np.int64)

    def cover(self, most_steps: int | None) -> bool:
        """Cover all rows, unless that takes more steps: then prices are worth another round of bids first."""
        self._greedy()
        steps = 0
        for row in np.flatnonzero(self.column < 0).tolist():
            steps += self._augment(row)
            if most_steps is not None and steps > most_steps:
                return False
        return True

    def _greedy(self) -> None:
        """Give each row a free column among its best."""
        for row in range(self.weight.shape[0]):
            value = self.weight[row] - self.price
            self.row_price[row] = best = value.max()
            free = np.flatnonzero((value == best) & (self.row < 0))
            if free.size:
                self.column[row], self.row[free[0]] = free[0], row
        spare = np.arange(self.weight.shape[0], self.price.size)
        free = np.flatnonzero((self.price == self.price.min()) & (self.row < 0))[: spare.size]
        self.column[spare[: free.size]], self.row[free] = free, spare[: free.size]

    def _augment(self, start: int) -> int:
        """Cover one more row by a shortest path (Dijkstra's, over what entries lack to be tight); returns its steps."""
        distance = np.full(self.price.size, _UNREACHED, np.int64)  # of columns not settled yet
        before = np.full(self.price.size, -1, np.int64)
        settled = np.zeros(self.price.size, np.bool_)
        rows, columns, lengths = [start], [], [0]
        while True:
            row, length = rows[-1], lengths[-1]
            through = self.price + (self.row_price[row] + length)
            if row < self.weight.shape[0]:
                through -= self.weight[row]
            nearer = (through < distance) & ~settled
            np.copyto(distance, through, where=nearer)
            np.copyto(before, row, where=nearer)
            column = int(distance.argmin())
            if self.row[column] >= 0:
                ends = np.flatnonzero((distance == distance[column]) & (self.row < 0))
                column = int(ends[0]) if ends.size else column
            reached = int(distance[column])
            if self.row[column] < 0:
                break
            settled[column], distance[column] = True, _UNREACHED
            rows.append(int(self.row[column]))
            columns.append(column)
            lengths.append(reached)
        left = reached - np.array(lengths)
        self.row_price[rows] -= left
        self.price[columns] += left[1:]
        self._flip(start, column, before)
        return len(rows)

    def _flip(self, start: int, column: int, before: Ints) -> None:
        while True:
            row = int(before[column])
            self.row[column], self.column[row], column = row, column, int(self.column[row])
            if row == start:
                return


def _first_prices(weight: Ints) -> tuple[Ints, int]:
    """What columns are worth at most, those that will be spare all alike, and how far apart entries of a column are."""
    highest = np.full(weight.shape[1], FORBIDDEN, np.int64)
    lowest = np.full(weight.shape[1], _UNREACHED, np.int64)
    for rows in _blocks(weight):
        block = weight[rows]
        np.maximum(highest, block.max(axis=0), out=highest)
        np.minimum(lowest, np.where(block > FORBIDDEN, block, _UNREACHED).min(axis=0), out=lowest)
    spread = int(np.maximum(highest - lowest, 0).max())
    spare = weight.shape[1] - weight.shape[0]
    floor = np.partition(highest, spare - 1)[spare - 1] if spare else FORBIDDEN
    return np.maximum(highest, floor), spread


def _bid(weight: Ints, price: Ints, step: int, spread: int) -> None:
    """Raise ``price`` until each row holds a column that is within ``step`` of its best, or for so many bids."""
    holder = np.full(price.size, -1, np.int64)
    n_rows = weight.shape[0]
    waiting = list(range(price.size - 1, -1, -1))
    for _ in range(_BIDS_A_ROW * price.size):
        if not waiting:
            return
        row = waiting.pop()
        value = weight[row] - price if row < n_rows else -price
        column = int(value.argmax())
        best = int(value[column])
        value[column] = -_UNREACHED
        price[column] += min(best - int(value.max()), spread) + step
        if holder[column] >= 0:
            waiting.append(int(holder[column]))
        holder[column] = row


def _blocks(weight: Ints) -> list[slice]:
    height = max(1, _CELLS_AT_ONCE // weight.shape[1])
    return [slice(begin, begin + height) for begin in range(0, weight.shape[0], height)]
