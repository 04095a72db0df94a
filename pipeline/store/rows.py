"""Rows that lie in batches as one array of xarray. Imports xarray: import it only where arrays are opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core.indexing import (
    ExplicitIndexer,
    IndexingSupport,
    LazilyIndexedArray,
    explicit_indexing_adapter,
)

from pipeline.store.groups import Values

if TYPE_CHECKING:
    from pipeline.store.arrays import LazyGroup


class BatchRows(BackendArray):
    """An array whose first dimension goes over the rows of batches, one after the other."""

    def __init__(
        self,
        batch: Callable[[int], LazyGroup],
        name: str,
        edges: Values,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        bases: Values | None,
    ) -> None:
        """``edges`` are the first rows of batches, with their number at the end, ``shape`` is that of a row.

        To the values of each batch its base is added, where there are ``bases``; -1 stays.
        """
        self._batch, self._name, self._edges, self._bases = batch, name, edges, bases
        self.shape, self.dtype = (int(edges[-1]), *shape), dtype

    def lazily(self) -> LazilyIndexedArray:
        """Itself, read when values are asked for."""
        return LazilyIndexedArray(self)

    def __getitem__(self, key: ExplicitIndexer) -> Values:
        """Values by slices, positions, or one of both for each dimension."""
        found: Values = explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._get)
        return found

    def _get(self, key: tuple[Any, ...]) -> Values:
        rows, rest = key[0], key[1:]
        if isinstance(rows, slice) and rows.step in (None, 1):
            begin, end, _ = rows.indices(self.shape[0])
            parts = [self._part(n, slice(*ends), rest) for n, ends in self._spans(begin, end)]
            return np.concatenate(parts) if parts else self._part(0, slice(0, 0), rest)
        places = np.atleast_1d(np.arange(self.shape[0])[rows])
        of = np.searchsorted(self._edges, places, side="right") - 1
        order = np.argsort(of, kind="stable")
        parts = [self._part(n, places[of == n] - self._edges[n], rest) for n in np.unique(of).tolist()]
        found = np.concatenate(parts or [self._part(0, slice(0, 0), rest)])[np.argsort(order)]
        return found if isinstance(rows, slice | np.ndarray) else found[0]

    def _spans(self, begin: int, end: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """The batches that have some of the rows, each with the span of its own rows."""
        for n, first in enumerate(self._edges[:-1].tolist()):
            low, high = max(begin, first), min(end, int(self._edges[n + 1]))
            if low < high:
                yield n, (low - first, high - first)

    def _part(self, n: int, rows: Any, rest: tuple[Any, ...]) -> Values:
        values: Values = self._batch(n).dataset.variables[self._name][(rows, *rest)].to_numpy()
        values = values.astype(self.dtype, copy=False)
        if self._bases is None or not self._bases[n]:
            return values
        return np.where(values < 0, values, values + values.dtype.type(self._bases[n]))
