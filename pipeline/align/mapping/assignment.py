"""The best one-to-one mapping: most pairs, then the largest sum of weights, then the preferred detections.

Weights are integers and nothing is compared but exact sums. A tie between mappings is settled on the detections they
use: of all optimal mappings, one whose detections come first from the most preferred down (see ``settle``). Which of
several tied references these are mapped to changes no figure; it is the same for the same contents.
"""

from __future__ import annotations

import numpy as np

from pipeline.align.mapping import blocks
from pipeline.align.mapping.covering import Covering, covering, heaviest
from pipeline.align.mapping.grouped import run_starts
from pipeline.align.mapping.pairs import Pairs
from pipeline.arrays import Bools, Codes, Ints


def assign(pairs: Pairs, hint: Ints, rank: Ints) -> Ints:
    """Per reference its detection, or -1.

    ``hint`` is one mapping with as many pairs as possible, all of them listed. ``rank`` is per detection: the higher is
    preferred where sums are tied, equal ranks are interchangeable.
    """
    mapping = np.full(hint.size, -1, np.int64)
    if len(pairs) == 0:
        return mapping
    of_reference, of_detection = blocks.parts(pairs, hint, rank.size)
    part = of_reference[pairs.reference]
    inside = part == of_detection[pairs.detection]
    pairs, part = pairs.take(inside), part[inside]
    component, simple = _components(pairs, hint.size, rank.size)
    chosen = np.zeros(len(pairs), np.bool_)
    chosen[best_of_each(pairs, component, rank, np.flatnonzero(simple))] = True
    known = hint[pairs.reference] == pairs.detection
    for which in (blocks.SCARCE_REFERENCES, blocks.EVEN, blocks.SCARCE_DETECTIONS):
        rows = np.flatnonzero(~simple & (part == which))
        if rows.size:
            chosen[rows] = _solve(pairs.take(rows), component[rows], known[rows], rank, which)
    mapping[pairs.reference[chosen]] = pairs.detection[chosen]
    return mapping


def _components(pairs: Pairs, n_references: int, n_detections: int) -> tuple[Codes, Bools]:
    """Per pair its connected component, and whether that has one reference or one detection only."""
    of_reference, of_detection = blocks.components(pairs, n_references, n_detections)
    size = n_references + n_detections
    references = np.bincount(of_reference, minlength=size)
    detections = np.bincount(of_detection, minlength=size)
    component = of_reference[pairs.reference]
    return component, (references[component] == 1) | (detections[component] == 1)


def best_of_each(pairs: Pairs, component: Codes, rank: Ints, rows: Ints) -> Ints:
    """Of the pairs ``rows``, the best one of each component: weight, then rank, then the earlier reference."""
    keys = (
        pairs.reference[rows],
        -rank[pairs.detection[rows]],
        -pairs.weight[rows],
        component[rows],
    )
    rows = rows[np.lexsort(keys)]
    return rows[run_starts(component[rows])]


def _solve(pairs: Pairs, component: Codes, known: Bools, rank: Ints, part: int) -> Bools:
    """Which of the pairs of one part are chosen."""
    scarce, ample = pairs.reference, pairs.detection
    if part != blocks.SCARCE_REFERENCES:
        # Detections as rows wherever all are covered: what they score is then the same for each way to cover them,
        # and the solver is spared the competition of all references for the best-scored detections.
        scarce, ample = ample, scarce
    problem = covering(scarce, ample, pairs.weight, component, known)
    best = heaviest(problem)
    if part == blocks.SCARCE_REFERENCES:
        best = settle(problem, best, rank[pairs.detection[problem.entry]])
    chosen = np.zeros(len(pairs), np.bool_)
    chosen[problem.entry[best]] = True
    return chosen


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
