"""Groups of a zip as datasets of xarray, whose values are read and decoded when they are asked for.

Zarr's own reader gives the same, and takes five times the processor time for small groups: it hands every entry and
every codec to a thread. Imports xarray: import it only where arrays are read.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core.indexing import ExplicitIndexer, IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter

from pipeline.store.groups import Values, decoded

if TYPE_CHECKING:
    from pipeline.store.zips import Zip


_FETCHES = 4
"""Fetches whose entries are held: as many as tasks of a process may be at work on one output."""


class ZippedArrays:
    """The arrays of a zip. What was fetched ahead is taken from memory, else an entry is a request. Can be pickled."""

    def __init__(self, zipped: Zip) -> None:
        self._zip = zipped
        self._fetched: deque[dict[str, bytes]] = deque(maxlen=_FETCHES)

    @property
    def url(self) -> str:
        """Where it is."""
        return self._zip.url

    def entry(self, key: str) -> bytes:
        """The bytes of an entry."""
        found = next((fetched[key] for fetched in tuple(self._fetched) if key in fetched), None)
        return self._zip.read([key])[key] if found is None else found

    def fetch(self, keys: Iterable[str]) -> None:
        """Read entries that will be asked for, those near each other by one request; forget those of long before."""
        if wanted := [key for key in keys if key in self._zip.directory]:
            self._fetched.append(self._zip.read(wanted))

    def keys_of(self, array: str, first: int, last: int) -> list[str]:
        """The chunks ``first`` up to ``last`` (exclusive) along the first dimension of an array."""
        return [key for at in range(first, last) for key in self._chunks.get(array, {}).get(at, ())]

    def n_chunks(self, array: str) -> int:
        """How many chunks of an array there are."""
        return sum(map(len, self._chunks.get(array, {}).values()))

    @cached_property
    def _chunks(self) -> dict[str, dict[int, list[str]]]:
        """Keys of the chunks of every array, by place along its first dimension."""
        chunks: dict[str, dict[int, list[str]]] = {}
        for key in self._zip.directory:
            array, is_chunk, place = key.rpartition("/c")
            if is_chunk and not place.endswith(".json"):
                at = int(place.split("/")[1]) if place else 0
                chunks.setdefault(array, {}).setdefault(at, []).append(key)
        return chunks

    def dataset(self, group: str, *, indexes: bool) -> xr.Dataset:
        """A group, lazily and as it was written: attributes are only attributes.

        Without ``indexes`` names are not read to find positions by them.
        """
        below = f"{group}/" if group else ""
        about = json.loads(self.entry(f"{below}zarr.json"))
        attrs, variables = dict(about["attributes"]), dict[str, xr.Variable]()
        for name, own in about["consolidated_metadata"]["metadata"].items():
            if own["node_type"] == "array" and "/" not in name:
                values = LazilyIndexedArray(_Stored(self, f"{below}{name}", own))
                variables[name] = xr.Variable(own["dimension_names"], values, own["attributes"])
        named = {name: variables.pop(name) for name in attrs.pop("coordinates", "").split()}
        return xr.Dataset(variables, named if indexes else xr.Coordinates(named, indexes={}), attrs)


class _Stored(BackendArray):
    """An array in its chunks."""

    def __init__(self, source: ZippedArrays, path: str, about: dict[str, Any]) -> None:
        self._source, self._path = source, path
        self.shape = tuple(about["shape"])
        self.dtype = np.dtypes.StringDType() if about["data_type"] == "string" else np.dtype(about["data_type"])
        self._steps: tuple[int, ...] = tuple(about["chunk_grid"]["configuration"]["chunk_shape"])

    def __getitem__(self, key: ExplicitIndexer) -> Values:
        """Values by any key of xarray's."""
        found: Values = explicit_indexing_adapter(key, self.shape, IndexingSupport.BASIC, self._get)
        return found

    def _get(self, key: tuple[Any, ...]) -> Values:
        """By slices and positions: of the chunks along the first dimension those that are needed."""
        if not self.shape:
            return self._chunk(())
        rows, step = range(self.shape[0])[key[0]], self._steps[0]
        if isinstance(rows, int):
            one: Values = self._between(rows // step, rows // step + 1)[(rows % step, *key[1:])]
            return one
        first, last = (rows[0] // step, rows[-1] // step + 1) if rows else (0, 0)
        own = slice(rows.start - first * step, rows.stop - first * step, rows.step)
        part: Values = self._between(first, last)[(own, *key[1:])]
        return part

    def _between(self, first: int, last: int) -> Values:
        """All that lies in the chunks ``first`` up to ``last`` (exclusive) along the first dimension."""
        across = [range(-(-n // step)) for n, step in zip(self.shape[1:], self._steps[1:], strict=True)]
        places = list(product(range(first, last), *across))
        if len(places) == 1:
            return self._chunk(places[0])
        values = np.empty(((last - first) * self._steps[0], *self.shape[1:]), self.dtype)
        for row, *others in places:
            at = zip((row - first, *others), self._steps, strict=True)
            here = values[tuple(slice(one * step, (one + 1) * step) for one, step in at)]
            here[...] = self._chunk((row, *others))[tuple(map(slice, here.shape))]
        return values

    def _chunk(self, place: tuple[int, ...]) -> Values:
        return decoded(self._source.entry("/".join([self._path, "c", *map(str, place)])), self.dtype, self._steps)
