"""Components that are settled without a solver, as nearly all are: stars, and small ones with one best mapping.

Where two mappings of a component are as good as each other, or sums may be rounded, it is left to ``assignment``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from pipeline.align.mapping.assignment import best_of_each
from pipeline.align.mapping.candidates import Candidates
from pipeline.align.mapping.covering import EXACT_BITS
from pipeline.align.mapping.grouped import expand, overlapping, run_starts
from pipeline.align.mapping.pairs import Pairs
from pipeline.arrays import Bools, Ints

CELLS = 16
"""References by detections of a component whose mappings are all looked at."""
_COMPONENTS = 256
"""So many that it takes longer one by one than all together."""

_PAIRS_OF_STARS = 1 << 21
"""So many that they are not listed at once."""

Options = Mapping[int, list[tuple[int, int]]]
"""For each reference of a component the detections in its reach, with what the pairs are worth."""
_Way = tuple[int, tuple[int, ...], bool]
"""A sum, the detection of each reference that makes it up, and whether no other mapping of as many does."""


def settle_small(candidates: Candidates) -> tuple[Ints, Bools]:
    """Per reference its detection, or -1, and whether it is left open. Components are settled as a whole or not."""
    mapping, left = np.full(candidates.first.size, -1, np.int64), np.ones(candidates.first.size, np.bool_)
    if left.size == 0:
        return mapping, left
    order, starts = overlapping(candidates.first, candidates.last)
    n_references = np.diff(starts, append=order.size)
    n_detections = np.maximum.reduceat(candidates.last[order], starts) - candidates.first[order[starts]]
    star = (n_references == 1) | (n_detections == 1)
    star &= (n_references * n_detections)[star].sum() <= _PAIRS_OF_STARS
    small = ~star & (n_references * n_detections <= CELLS)
    small &= np.count_nonzero(small) <= _COMPONENTS
    component = np.repeat(np.arange(starts.size), n_references)
    settled = (star | small)[component]
    pairs, owner = _pairs(candidates, order[settled])
    component = component[settled][owner]
    chosen = best_of_each(pairs, component, candidates.rank, np.flatnonzero(star[component]))
    mapping[pairs.reference[chosen]] = pairs.detection[chosen]
    left[order[settled]] = False
    rows = np.flatnonzero(small[component])
    for options in _options(pairs.take(rows), run_starts(component[rows])):
        best = _best(options)
        references = list(options)
        if best is None:
            left[references] = True
        else:
            mapping[references] = best
    return mapping, left


def _pairs(candidates: Candidates, references: Ints) -> tuple[Pairs, Ints]:
    """All pairs of some references, and for each which of these it is of."""
    owner, detection = expand(candidates.first[references], candidates.last[references])
    reference = references[owner]
    weight = candidates.weight(reference, detection)
    return Pairs(reference.astype(np.int32), detection.astype(np.int32), weight), owner


def _options(pairs: Pairs, starts: Ints) -> Iterator[Options]:
    """The options of each component; its pairs begin at ``starts``."""
    rows = list(zip(pairs.reference.tolist(), pairs.detection.tolist(), pairs.weight.tolist(), strict=True))
    for begin, end in pairwise([*starts.tolist(), len(rows)]):
        options: dict[int, list[tuple[int, int]]] = {}
        for reference, detection, weight in rows[begin:end]:
            options.setdefault(reference, []).append((detection, weight))
        yield options


def _best(options: Options) -> list[int] | None:
    """The detection of each reference, or -1, in the only mapping with most pairs and the largest sum; else None."""
    weights = [weight for pairs in options.values() for _, weight in pairs]
    if (max(weights) - min(weights) + 1) * len(weights) > 1 << EXACT_BITS:
        return None
    lowest = min(detection for pairs in options.values() for detection, _ in pairs)
    ways: dict[int, _Way] = {0: (0, (), True)}  # by the detections used, each a bit
    for pairs in options.values():
        longer: dict[int, _Way] = {}
        for used, (total, mapping, alone) in ways.items():
            for detection, weight in ((-1, 0), *pairs):
                bit = 1 << detection - lowest if detection >= 0 else 0
                found = longer.get(used | bit)
                if used & bit or (found is not None and total + weight < found[0]):
                    continue
                tied = found is not None and total + weight == found[0]
                longer[used | bit] = (total + weight, (*mapping, detection), alone and not tied)
        ways = longer
    most = max(used.bit_count() for used in ways)
    total = max(way[0] for used, way in ways.items() if used.bit_count() == most)
    best = [way for used, way in ways.items() if used.bit_count() == most and way[0] == total]
    return list(best[0][1]) if len(best) == 1 and best[0][2] else None
