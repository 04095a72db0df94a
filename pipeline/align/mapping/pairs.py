"""Pairs of candidates, as few as an optimal mapping can need.

A reference competes only with the references that share a detection with it, d of them counting itself. Whatever the
others take, one of its d best detections is left, so a reference never needs another: taking the better free one
instead keeps the number of pairs and does not lower the sum. What is listed is therefore bounded by how densely the
*key* is set, and no submission, however many detections it piles up in one place, can make it more. Solving takes
some 150 bytes a listed pair, 0.8 kB for a reference that shares detections with four others; where a thousand are in
one place the output is refused (see ``refuse_crowds``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from pipeline.align.mapping.candidates import Candidates
from pipeline.align.mapping.grouped import expand, run_starts
from pipeline.arrays import Bools, Codes, Ints

_PAIRS_AT_ONCE = 1 << 21
_LONG = 256


@dataclass(frozen=True)
class Pairs:
    """Pairs of a reference and a detection (positions in the candidates) and what they are worth."""

    reference: Codes
    detection: Codes
    weight: Ints

    def __len__(self) -> int:
        return int(self.reference.size)

    def take(self, rows: Ints | Bools) -> Pairs:
        """The pairs selected by an index or boolean array."""
        return Pairs(self.reference[rows], self.detection[rows], self.weight[rows])


def list_pairs(candidates: Candidates, hint: Ints) -> Pairs:
    """Enough pairs for every optimal mapping that the rules of ties can choose, sorted by (reference, detection).

    ``hint`` is a mapping of largest size (see ``largest_mapping``): its pairs are always listed.
    """
    rivals = rivals_of(candidates.first, candidates.last)
    parts = []
    for begin, end in _chunks(candidates.last - candidates.first):
        reference, detection = expand(candidates.first[begin:end], candidates.last[begin:end])
        reference += begin
        weight = candidates.weight(reference, detection)
        pairs = Pairs(reference.astype(np.int32), detection.astype(np.int32), weight)
        parts.append(pairs.take(_needed(pairs, candidates, rivals) | (hint[reference] == detection)))
    return Pairs(
        np.concatenate([np.zeros(0, np.int32), *(part.reference for part in parts)]),
        np.concatenate([np.zeros(0, np.int32), *(part.detection for part in parts)]),
        np.concatenate([np.zeros(0, np.int64), *(part.weight for part in parts)]),
    )


def largest_mapping(candidates: Candidates) -> Ints:
    """One mapping with as many pairs as possible: per reference a detection, or -1.

    Detections in order of time each take the open reference whose stretch ends first (F. Glover, Maximum matching in
    a convex bipartite graph, Naval Research Logistics Quarterly 14, 1967). Only references with rivals are walked.
    """
    first, last = candidates.first, candidates.last
    taken = np.where(rivals_of(first, last) == 1, first, -1)
    waiting = np.flatnonzero(taken < 0)
    waiting = waiting[np.argsort(first[waiting], kind="stable")]
    queue = list(zip(first[waiting].tolist(), last[waiting].tolist(), waiting.tolist(), strict=True))
    open_references: list[tuple[int, int]] = []
    following, detection = 0, 0
    while following < len(queue) or open_references:
        if not open_references:
            detection = max(detection, queue[following][0])
        while following < len(queue) and queue[following][0] <= detection:
            heappush(open_references, queue[following][1:])
            following += 1
        while open_references and open_references[0][0] <= detection:
            heappop(open_references)
        if open_references:
            taken[heappop(open_references)[1]] = detection
            detection += 1
    return taken


def rivals_of(first: Ints, last: Ints) -> Ints:
    """Per reference how many references share a detection with it, itself counted."""
    begun = np.searchsorted(np.sort(first), last, "left")
    over = np.searchsorted(np.sort(last), first, "right")
    return begun - over


def _chunks(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of references with at most ``_PAIRS_AT_ONCE`` pairs, or a single reference with more."""
    total = np.cumsum(lengths)
    begin = 0
    while begin < lengths.size:
        before = int(total[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + _PAIRS_AT_ONCE, "right")))
        yield begin, end
        begin = end


def _needed(pairs: Pairs, candidates: Candidates, rivals: Ints) -> Bools:
    """Which pairs are among the best of their reference, as many as it has rivals; for pairs sorted by reference."""
    surplus = (candidates.last - candidates.first > rivals)[pairs.reference]
    needed = ~surplus
    rows = np.flatnonzero(surplus & _good_enough(pairs, rivals))
    reference = pairs.reference[rows]
    order = np.lexsort((-candidates.rank[pairs.detection[rows]], -pairs.weight[rows], reference))
    place = np.arange(rows.size) - np.searchsorted(reference, reference, "left")
    needed[rows[order]] = place < rivals[reference]
    return needed


def _good_enough(pairs: Pairs, rivals: Ints) -> Bools:
    """Which pairs weigh as much as the last one needed of their reference, looked at where a stretch is long."""
    enough = np.ones(len(pairs), np.bool_)
    starts = run_starts(pairs.reference)
    ends = np.append(starts[1:], len(pairs))
    for begin, end in zip(starts.tolist(), ends.tolist(), strict=True) if starts.size * _LONG < len(pairs) else ():
        count = int(rivals[pairs.reference[begin]])
        if end - begin > count:
            weight = pairs.weight[begin:end]
            enough[begin:end] = weight >= np.partition(weight, -count)[-count]
    return enough
