"""Random draws that any task can make for itself: a counter names each replicate, so no partition of them shows.

Philox4x64-10 (Salmon et al. 2011) is keyed by (seed, purpose) and counted by replicate. Only its raw words are used,
whose stream NumPy promises to keep; a unit is drawn by a multiplication and a shift, which favours none by more than
n / 2**32.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Floats, Ints

_BLOCK = 4
"""Words that Philox makes of one count."""
_REPETITION, _SIGNS = 0, 1
"""Purposes: different ones never share a word."""


def weights(seed: int, replicates: range, strata: Ints) -> Ints:
    """How often each unit is drawn, shape (replicates, units): as many of each stratum as there are, with repetition.

    ``strata`` holds the stratum's code of each unit (all 0: no strata). Systems with the same units see the same draws,
    which is what makes comparisons of them paired.
    """
    n_units = strata.size
    order = np.argsort(strata, kind="stable")  # units of a stratum side by side
    sizes = np.unique(strata, return_counts=True)[1]
    size = np.repeat(sizes, sizes).astype(np.uint64)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    words = _words(seed, _REPETITION, replicates, n_units)
    drawn = order[first + (((words >> np.uint64(32)) * size) >> np.uint64(32)).astype(np.int64)]
    rows = np.arange(len(replicates))[:, None] * n_units
    counts = np.bincount((rows + drawn).ravel(), minlength=len(replicates) * n_units)
    return counts.reshape(len(replicates), n_units).astype(np.int64)


def signs(seed: int, replicates: range, n_units: int) -> Floats:
    """-1 or 1 for each unit, shape (replicates, units): which pairs are exchanged."""
    words = np.ascontiguousarray(_words(seed, _SIGNS, replicates, -(-n_units // 64)).astype("<u8"))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :n_units]
    drawn = bits.astype(np.float64)
    drawn *= -2.0
    drawn += 1.0
    return drawn


def codes(names: Sequence[str]) -> Ints:
    """Codes of names in their sorted order."""
    order = {name: code for code, name in enumerate(sorted(set(names)))}
    return np.array([order[name] for name in names], np.int64)


def _words(seed: int, purpose: int, replicates: range, n: int) -> NDArray[np.uint64]:
    """The words of each replicate, shape (replicates, n): one stretch of the stream each, in blocks of four words."""
    blocks = -(-n // _BLOCK)
    counter = np.array([replicates.start * blocks, 0, 0, 0], np.uint64)
    philox = np.random.Philox(key=np.array([seed, purpose], np.uint64), counter=counter)
    words = np.asarray(philox.random_raw(len(replicates) * blocks * _BLOCK), np.uint64)
    return words.reshape(len(replicates), blocks * _BLOCK)[:, :n]
