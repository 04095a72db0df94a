"""Crowds: components in which more references and detections are in reach of one another than any real key has.

Solving takes some 150 bytes a listed pair, and a time that grows with the cube of the references in one place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pipeline.align.mapping.candidates import Candidates
from pipeline.align.mapping.grouped import overlapping
from pipeline.align.mapping.pairs import rivals_of
from pipeline.errors import Finding, InputError

MOST_LISTED = 1 << 20
"""The most pairs that a component may list: those of 1,024 occurrences of one query in one place."""
MOST_PAIRS = 1_000_000_000
"""The most pairs in reach within one component: looking at each takes some 100 ns."""


def refuse_crowds(candidates: Candidates, place: Callable[[int], str]) -> None:
    """Raise ``InputError`` where a component has too many pairs, naming its ``place`` (of a trial, in words)."""
    length = candidates.last - candidates.first
    if length.sum() <= MOST_LISTED:
        return
    order, starts = overlapping(candidates.first, candidates.last)
    needed = np.minimum(length, rivals_of(candidates.first, candidates.last))
    listed, pairs = (np.add.reduceat(counts[order], starts) for counts in (needed, length))
    beyond = np.flatnonzero((listed > MOST_LISTED) | (pairs > MOST_PAIRS))
    if not beyond.size:
        return
    ends = np.append(starts[1:], order.size)
    findings = []
    for component in beyond.tolist():
        references = order[starts[component] : ends[component]]
        first, last = int(candidates.first[references].min()), int(candidates.last[references].max())
        message = (
            f"{place(int(candidates.trial[first]))}: {last - first:,} detections and {references.size:,} reference "
            f"occurrences compete in one place ({pairs[component]:,} pairs to weigh; allowed are {MOST_PAIRS:,}, and "
            f"{MOST_LISTED:,} after those that no best mapping needs, here {listed[component]:,}). Submit fewer "
            "detections that overlap in time; where the key has so many occurrences in one place, correct the key."
        )
        findings.append(Finding("crowded_detections", message, "output"))
    raise InputError(findings)
