"""Crowds: components in which so many references and detections are in reach of one another that pairs fill a matrix.

Solving takes some 150 bytes a listed pair, and 9 an entry of a matrix: 0.9 GB for 10,000 by 10,000.
"""

from __future__ import annotations

import numpy as np

from pipeline.align.mapping.blocks import EVEN, SCARCE_DETECTIONS, SCARCE_REFERENCES, Parts
from pipeline.align.mapping.candidates import Candidates, covered
from pipeline.align.mapping.dense import UNKNOWN, heaviest, squeeze
from pipeline.align.mapping.dense_ties import settle
from pipeline.align.mapping.grouped import overlapping
from pipeline.align.mapping.pairs import rivals_of
from pipeline.errors import Finding, InputError
from pipeline.trials.schema import Ints

PAIRS_LISTED = 1 << 18
"""What a component may list and still be solved as a list."""
MOST_CELLS = 125_000_000
"""The largest matrix: 1 GB."""
MOST_PAIRS = 1_000_000_000
"""The most pairs in reach within one crowd: looking at each takes some 100 ns."""
_SPARSE = 16
_CELLS_AT_ONCE = 1 << 16


def find_crowds(candidates: Candidates) -> list[Ints]:
    """The references of each crowd, ascending: components with many pairs that are a good share of a matrix."""
    length = candidates.last - candidates.first
    if length.sum() <= PAIRS_LISTED:
        return []
    order, starts = overlapping(candidates.first, candidates.last)
    n_references = np.diff(starts, append=order.size)
    needed = np.minimum(length, rivals_of(candidates.first, candidates.last))
    listed = np.add.reduceat(needed[order], starts)
    crowded = (listed > PAIRS_LISTED) & (listed * _SPARSE >= n_references**2)
    return [np.sort(order[at : at + size]) for at, size in zip(starts[crowded], n_references[crowded], strict=True)]


def assign_crowd(crowd: Candidates, hint: Ints, place: str) -> Ints:
    """Per reference of one crowd its detection, or -1: what ``assign`` says of all its pairs. ``hint`` as there.

    Raises ``InputError`` that names the ``place`` where there are more pairs or entries than allowed.
    """
    mapping = np.full(hint.size, -1, np.int64)
    _refuse_beyond(MOST_PAIRS, int((crowd.last - crowd.first).sum()), crowd, place)
    of_reference, of_detection = _parts(crowd, hint)
    for part in (SCARCE_REFERENCES, EVEN, SCARCE_DETECTIONS):
        references, detections = np.flatnonzero(of_reference == part), np.flatnonzero(of_detection == part)
        if part == SCARCE_REFERENCES:
            detections = _worth_a_look(crowd, references, detections)
        if references.size == 0:
            continue
        _refuse_beyond(MOST_CELLS, references.size * detections.size, crowd, place)
        if part == SCARCE_DETECTIONS:
            best = heaviest(_matrix(crowd, references[None, :], detections[:, None]))
            mapping[references[best.column]] = detections
            continue
        weight = _matrix(crowd, references[:, None], detections[None, :])
        best = heaviest(weight)
        chosen = settle(weight, best, crowd.rank[detections]) if part == SCARCE_REFERENCES else best.column
        mapping[references] = detections[chosen]
    return mapping


def _refuse_beyond(most: int, seen: int, crowd: Candidates, place: str) -> None:
    if seen > most:
        message = (
            f"{place}: {crowd.trial.size:,} detections and {crowd.occurrence.size:,} reference occurrences compete in "
            f"one place ({seen:,} pairs to weigh, {most:,} are allowed). Submit fewer detections that overlap in time."
        )
        raise InputError([Finding("crowded_detections", message, "output")])


def _parts(crowd: Candidates, hint: Ints) -> tuple[Parts, Parts]:
    """The part of each reference and of each detection (see ``blocks``), found by stretches instead of pairs."""
    mapped = hint >= 0
    back = np.full(crowd.trial.size, -1, np.int64)
    back[hint[mapped]] = np.flatnonzero(mapped)
    spare, missed = back < 0, ~mapped
    while True:
        count = np.concatenate(([0], np.cumsum(spare)))
        freed = hint[mapped & (count[crowd.last] > count[crowd.first])]
        if spare[freed].all():
            break
        spare[freed] = True
    while True:
        freed = back[covered(crowd.first[missed], crowd.last[missed], back.size) & (back >= 0)]
        if missed[freed].all():
            break
        missed[freed] = True
    of_reference = np.where(missed, SCARCE_DETECTIONS, EVEN).astype(np.int8)
    of_reference[mapped & spare[hint]] = SCARCE_REFERENCES
    of_detection = np.where(spare, SCARCE_REFERENCES, EVEN).astype(np.int8)
    of_detection[(back >= 0) & missed[back]] = SCARCE_DETECTIONS
    return of_reference, of_detection


def _worth_a_look(crowd: Candidates, references: Ints, detections: Ints) -> Ints:
    """The detections that are among the best of a reference, as many as it has rivals (see ``pairs``)."""
    if 4 * detections.size <= 5 * references.size:
        return detections
    rivals = rivals_of(crowd.first, crowd.last)
    wanted = np.zeros(crowd.trial.size, np.bool_)
    for reference in references.tolist():
        stretch, count = np.arange(crowd.first[reference], crowd.last[reference]), int(rivals[reference])
        if stretch.size > count:
            weight = crowd.weight(np.array([reference]), stretch)
            least = np.partition(weight, -count)[-count]
            sure, tied = stretch[weight > least], stretch[weight == least]
            tied = tied[np.argsort(-crowd.rank[tied], kind="stable")]
            stretch = np.concatenate((sure, tied[: count - sure.size]))
        wanted[stretch] = True
    return detections[wanted[detections]]


def _matrix(crowd: Candidates, references: Ints, detections: Ints) -> Ints:
    """The squeezed weights of all references with all detections: one of them a row of numbers, one a column."""
    shape = np.broadcast_shapes(references.shape, detections.shape)
    weight = np.empty(shape, np.int64)
    height = max(1, _CELLS_AT_ONCE // shape[1])
    for begin in range(0, shape[0], height):
        rows = slice(begin, begin + height)
        reference = references[rows] if references.shape[0] > 1 else references
        detection = detections[rows] if detections.shape[0] > 1 else detections
        allowed = (crowd.first[reference] <= detection) & (detection < crowd.last[reference])
        weight[rows] = np.where(allowed, crowd.weight(reference, detection), UNKNOWN)
    squeeze(weight)
    return weight
