"""Alignment of query-by-document trials: a trial is a target where the key has its pair. Times play no part."""

from __future__ import annotations

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.arrays import Ints
from pipeline.formats.table import recode
from pipeline.trials.documents import DocumentKey
from pipeline.trials.schema import Trials


def align_documents(trials: Trials, key: DocumentKey) -> Aligned:
    """Each trial's row of the key, or -1; trials on documents that the key does not list take no part.

    ``trials`` hold a pair at most once.
    """
    n_files = max(len(key.files), 1)
    query = recode(trials.queries, key.queries)[trials.query].astype(np.int64)
    file = recode(trials.files, key.files)[trials.file]
    kept = np.flatnonzero(file >= 0)
    pairs = key.query.astype(np.int64) * n_files + key.file
    order = np.argsort(pairs)
    seen = np.where(query[kept] >= 0, query[kept] * n_files + file[kept], -1)
    if not pairs.size:
        return Aligned(kept, np.full(kept.size, -1, np.int64), np.zeros(0, np.int64))
    place = order[np.minimum(np.searchsorted(pairs[order], seen), pairs.size - 1)]
    reference = np.where(pairs[place] == seen, place, -1)
    found = np.zeros(pairs.size, np.bool_)
    found[reference[reference >= 0]] = True
    return Aligned(kept, reference, np.flatnonzero(~found))


def missing_ranks(trials: Trials, key: DocumentKey, omitted: Ints) -> Ints:
    """For each omitted row of the key its place among the unscored documents of its query, in the order of the ECF."""
    query = recode(trials.queries, key.queries)[trials.query]
    file = recode(trials.files, key.files)[trials.file]
    ranks = np.zeros(omitted.size, np.int64)
    for code in np.unique(key.query[omitted]).tolist():
        unscored = np.ones(len(key.files), np.int64)
        unscored[key.position[file[(query == code) & (file >= 0)]]] = 0
        rows = key.query[omitted] == code
        ranks[rows] = (np.cumsum(unscored) - 1)[key.position[key.file[omitted[rows]]]]
    return ranks
