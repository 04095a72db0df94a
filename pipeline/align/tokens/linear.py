"""Alignment of many plain token strings at once: sclite's costs and its rule for ties, on integers.

Costs: correct 0, substitution 4, insertion and deletion 3, of an optional token 2. Of equal costs a substitution
(or match) wins; then an insertion, unless a deletion is strictly cheaper. The rule decides how many errors there
are: three substitutions cost as much as two insertions and two deletions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.arrays import Bools, Codes, Ints

Match = Callable[[Codes, Codes], Bools]

SUBSTITUTION, GAP, OPTIONAL_GAP = 4, 3, 2
CELLS_AT_ONCE = 1 << 22
_SEGMENTS_AT_ONCE = 512


@dataclass(frozen=True)
class Strings:
    """Token strings laid end to end: codes, the cost of leaving each out, and where each string begins and ends."""

    codes: Codes
    costs: Codes
    offsets: Ints

    @property
    def lengths(self) -> Ints:
        """Tokens of each string."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class Path:
    """Alignment steps of strings in order: positions in the codes of either side, -1 where it has none."""

    segment: Ints
    reference: Ints
    output: Ints


def align(references: Strings, outputs: Strings, rows: Ints, match: Match) -> Iterator[Path]:
    """The alignments of ``references`` with ``outputs``, string by string, for the strings in ``rows``.

    Strings of like lengths are aligned together. One that alone exceeds ``CELLS_AT_ONCE`` cells is aligned in bands
    that are computed twice, so that memory stays bounded.
    """
    n, m = references.lengths[rows], outputs.lengths[rows]
    order = rows[np.lexsort((m, n))]
    start = 0
    while start < order.size:
        stop = _batch_end(references.lengths, outputs.lengths, order, start)
        yield _align_batch(references, outputs, order[start:stop], match)
        start = stop


def _batch_end(n: Ints, m: Ints, order: Ints, start: int) -> int:
    stop = min(start + _SEGMENTS_AT_ONCE, order.size)
    batch = order[start:stop]
    cells = np.arange(1, batch.size + 1) * (np.maximum.accumulate(n[batch]) + 1) * (np.maximum.accumulate(m[batch]) + 1)
    return start + max(int(np.searchsorted(cells, CELLS_AT_ONCE, side="right")), 1)


def _padded(strings: Strings, rows: Ints) -> tuple[Codes, Codes]:
    """Codes and costs as (n_strings, longest); what lies beyond a string's end is never traced."""
    lengths = strings.lengths[rows]
    at = np.arange(int(lengths.max(initial=0)))
    source = np.minimum(strings.offsets[rows][:, None] + at, max(strings.codes.size - 1, 0))
    if not strings.codes.size:
        return np.zeros(source.shape, np.int32), np.zeros(source.shape, np.int32)
    return strings.codes[source], strings.costs[source]


class _Band:
    """Rows of the cost table of a batch: ``first`` up to ``last`` (inclusive), from the row at ``first``."""

    def __init__(self, batch: _Batch, first: int, last: int, top: Codes) -> None:
        self.first = first
        self.rows = np.empty((last - first + 1, *top.shape), np.int32)
        self.rows[0] = top
        for at in range(1, last - first + 1):
            batch.next_row(first + at - 1, self.rows[at - 1], self.rows[at])


class _Batch:
    """Strings whose tables are filled together, row by row.

    A cell holds its cost less that of putting in all tokens of the output before it: so an insertion costs nothing,
    and a row's insertions are a running minimum.
    """

    def __init__(self, references: Strings, outputs: Strings, rows: Ints, match: Match) -> None:
        self.ref, self.deletion = _padded(references, rows)
        self.out, self.insertion = _padded(outputs, rows)
        self.substitution = SUBSTITUTION - self.insertion
        self.top = np.zeros((rows.size, self.insertion.shape[1] + 1), np.int32)
        self.match = match

    def next_row(self, row: int, above: Codes, below: Codes) -> None:
        """Fill the costs of row ``row + 1`` from those of ``row``; both (n_strings, longest output + 1)."""
        np.add(above, self.deletion[:, row, None], out=below)
        same = self.match(self.ref[:, row, None], self.out)
        diagonal = self.substitution - same.astype(np.int32) * SUBSTITUTION
        diagonal += above[:, :-1]
        np.minimum(below[:, 1:], diagonal, out=below[:, 1:])
        np.minimum.accumulate(below, axis=1, out=below)

    def bands(self) -> Iterator[_Band]:
        """The table from its last rows to its first, each band recomputed from its first row where it is large."""
        n = self.ref.shape[1]
        height = max(min(n, CELLS_AT_ONCE // max(self.top.size, 1)), 1)
        if height >= n:
            yield _Band(self, 0, n, self.top)
            return
        tops = {0: self.top}
        above = self.top.copy()
        for row in range(n):
            below = np.empty_like(above)
            self.next_row(row, above, below)
            above = below
            if (row + 1) % height == 0:
                tops[row + 1] = below
        for first in sorted((top for top in tops if top < n), reverse=True):
            yield _Band(self, first, min(first + height, n), tops[first])


def _align_batch(references: Strings, outputs: Strings, rows: Ints, match: Match) -> Path:
    batch = _Batch(references, outputs, rows, match)
    i, j = references.lengths[rows].copy(), outputs.lengths[rows].copy()
    steps: list[tuple[Bools, Bools, Bools]] = []
    for band in batch.bands():
        while (active := (i > band.first) | ((i == 0) & (j > 0) & (band.first == 0))).any():
            steps.append(_step(batch, band, i, j, active))
            i -= steps[-1][1]
            j -= steps[-1][2]
    return _path(references, outputs, rows, steps)


def _step(batch: _Batch, band: _Band, i: Ints, j: Ints, active: Bools) -> tuple[Bools, Bools, Bools]:
    """For each string: whether it moves, whether the move takes a reference token, and whether an output token."""
    moving = np.flatnonzero(active)
    row, column = i[moving], j[moving]
    n_strings, width = batch.top.shape
    at = ((row - band.first) * n_strings + moving) * width + column
    up, left = row > 0, column > 0
    deletes, substitutes = ~left, up & left
    both = np.flatnonzero(substitutes)
    who, above, before, at = moving[both], row[both] - 1, column[both] - 1, at[both]
    costs = band.rows.reshape(-1)
    insertion, deletion = costs[at - 1], costs[at - n_strings * width] + batch.deletion[who, above]
    same = batch.match(batch.ref[who, above], batch.out[who, before])
    diagonal = costs[at - n_strings * width - 1] + batch.substitution[who, before] - same * np.int32(SUBSTITUTION)
    substitutes[both] = (diagonal <= deletion) & (diagonal <= insertion)
    deletes[both] = ~substitutes[both] & (deletion < insertion)
    takes_reference, takes_output = np.zeros(i.size, np.bool_), np.zeros(i.size, np.bool_)
    takes_reference[moving] = substitutes | deletes
    takes_output[moving] = ~deletes
    return active, takes_reference, takes_output


def _path(references: Strings, outputs: Strings, rows: Ints, steps: list[tuple[Bools, Bools, Bools]]) -> Path:
    """Steps back from the ends → the same steps string by string, from the beginnings."""
    if not steps:
        return Path(*(np.zeros(0, np.int64) for _ in range(3)))
    active, takes_reference, takes_output = (np.array(kind)[::-1].T for kind in zip(*steps, strict=True))
    segment = np.repeat(rows, active.sum(axis=1))
    reference = references.offsets[rows][:, None] + np.cumsum(takes_reference, axis=1) - 1
    output = outputs.offsets[rows][:, None] + np.cumsum(takes_output, axis=1) - 1
    reference[~takes_reference] = -1
    output[~takes_output] = -1
    return Path(segment, reference[active], output[active])
