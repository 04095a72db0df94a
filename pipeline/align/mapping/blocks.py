"""Cutting a bipartite graph into the parts that every largest mapping covers on one side.

A. Dulmage and N. Mendelsohn (Coverings of bipartite graphs, Canadian Journal of Mathematics 10, 1958): no largest
mapping uses a pair across the parts, so that "most pairs first" needs no bonus in the weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.align.mapping.pairs import Pairs
from pipeline.arrays import Bools, Codes, Ints

SCARCE_REFERENCES = 1
"""The part with detections to spare: every largest mapping covers its references."""
EVEN = 0
SCARCE_DETECTIONS = -1

Parts = NDArray[np.int8]


def parts(pairs: Pairs, mapping: Ints, n_detections: int) -> tuple[Parts, Parts]:
    """The part of each reference and of each detection, given one largest mapping (per reference a detection or -1)."""
    mapped = mapping >= 0
    back = np.full(n_detections, -1, np.int64)
    back[mapping[mapped]] = np.flatnonzero(mapped)
    of_reference = np.zeros(mapping.size, np.int8)
    of_detection = np.zeros(n_detections, np.int8)
    freed = mapping[pairs.reference]
    spare = _reached(pairs.detection, freed, back < 0)
    of_detection[spare] = SCARCE_REFERENCES
    of_reference[mapped & spare[mapping]] = SCARCE_REFERENCES
    freed = back[pairs.detection]
    missed = _reached(pairs.reference, freed, ~mapped)
    of_reference[missed] = SCARCE_DETECTIONS
    of_detection[(back >= 0) & missed[back]] = SCARCE_DETECTIONS
    return of_reference, of_detection


def components(pairs: Pairs, n_references: int, n_detections: int) -> tuple[Codes, Codes]:
    """The connected component of each reference and of each detection; nodes without a pair are components too."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    size = n_references + n_detections
    nodes = (pairs.reference, pairs.detection + np.int32(n_references))
    graph = csr_array((np.ones(len(pairs), np.int8), nodes), shape=(size, size))
    _, label = connected_components(graph, directed=False)
    return label[:n_references].astype(np.int32), label[n_references:].astype(np.int32)


def _reached(source: Codes, target: Ints, start: Bools) -> Bools:
    """Which nodes the arcs ``source → target`` reach from the ``start`` nodes (included); a target of -1 is no arc."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    arcs = target >= 0
    starts = np.flatnonzero(start)
    root = start.size
    tail = np.concatenate((source[arcs], np.full(starts.size, root)))
    head = np.concatenate((target[arcs], starts))
    graph = csr_array((np.ones(tail.size, np.int8), (tail, head)), shape=(root + 1, root + 1))
    found = breadth_first_order(graph, root, return_predecessors=False)
    reached = np.zeros(root + 1, np.bool_)
    reached[found] = True
    return reached[:root]
