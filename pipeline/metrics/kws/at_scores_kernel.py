"""Sums at scores that are decimals of a small range, compiled by Numba: without sorting, some 10 ns a row.

Scores ascend within a query. So all queries are gone through together, one page of whole numbers after another, and
what is added to stays in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numba import int64, njit, uint64

from pipeline.compiled import read_only
from pipeline.metrics.kws.at_scores import Asked, AtScores
from pipeline.partials.ledger import Ledger

_PAGE = 1 << 15
_WORDS = 5
"""High and low words of two sweeps, and a count."""


def summed(ledger: Ledger, asked: Sequence[Asked], span: range) -> list[AtScores]:
    """``at_scores`` of a ledger whose scores are kept as whole numbers of a span."""
    weights, marks = np.zeros((len(ledger.queries), _WORDS), np.int64), np.zeros(len(ledger.queries), np.uint8)
    ends = np.cumsum([len(each.weights) for each in asked])
    for bit, each in enumerate(asked):
        marks |= each.used.astype(np.uint8) << bit
        for column, weight in enumerate(each.weights, start=ends[bit] - len(each.weights)):
            weights[:, column] = np.where(each.used, weight, 0)
    most = min(len(span), len(ledger)) + 1
    whole, sums = np.empty((len(asked), most), np.int32), np.empty((_WORDS, most), np.int64)
    counts = ledger.counts[1] if ledger.counts.dtype == np.uint8 else ledger.n_nontarget
    rows = tuple(map(read_only, (ledger.first, ledger.scores.values, counts)))
    sizes = _fill(rows, weights, marks, (span.start, span.stop), ends, (whole, sums))
    columns = [sums[end - len(each.weights) : end] for each, end in zip(asked, ends, strict=True)]
    return [
        AtScores(replace(ledger.scores, values=found[:size]).at(slice(None)), tuple(words[:, :size]))
        for found, words, size in zip(whole, columns, sizes, strict=True)
    ]


@njit(cache=True, error_model="numpy")
def _fill(rows, weights, marks, span, ends, found):
    (first, score, counts), (low, end_of_all) = rows, span
    table, seen = np.zeros((_PAGE, _WORDS), np.int64), np.zeros(_PAGE, np.uint8)
    reached, sizes = first[:-1].copy(), np.zeros(ends.size, np.int64)
    for base in range(low, end_of_all, _PAGE):
        for query in range(marks.size):
            row, end, mark = uint64(reached[query]), uint64(first[query + 1]), marks[query]
            if row == end or not mark:
                continue
            weight = weights[query]
            a, b, c, d, e = weight[0], weight[1], weight[2], weight[3], weight[4]
            while row < end:
                at = uint64(int64(score[row]) - base)  # unsigned indices need no look at their signs
                if at >= uint64(_PAGE):
                    break
                count = int64(counts[row])
                table[at, uint64(0)] += count * a
                table[at, uint64(1)] += count * b
                table[at, uint64(2)] += count * c
                table[at, uint64(3)] += count * d
                table[at, uint64(4)] += count * e
                seen[at] |= mark
                row += uint64(1)
            reached[query] = row
        _move(base, (table, seen), ends, sizes, found)
    return sizes


@njit(cache=True, error_model="numpy")
def _move(base, page, ends, sizes, found):
    """Move what a page holds behind what is found; what nobody asked for is written over."""
    (table, seen), (found_whole, found_sums) = page, found
    for at in range(_PAGE):
        mark, column = seen[at], 0
        if not mark:
            continue
        for group in range(ends.size):
            place = sizes[group]
            found_whole[group, place] = base + at
            while column < ends[group]:
                found_sums[column, place] = table[at, column]
                table[at, column] = 0
                column += 1
            sizes[group] += (mark >> group) & 1
        seen[at] = 0
