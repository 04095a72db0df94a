"""Groups of a zip as datasets of xarray, whose values are read and decoded chunk by chunk when they are asked for.

Zarr's own reader gives the same, and takes five times the processor time for small groups: it hands every entry and
every codec to a thread. Imports xarray: import it only where arrays are read.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core.indexing import ExplicitIndexer, IndexingSupport, LazilyIndexedArray, explicit_indexing_adapter

from pipeline.store.groups import Values, decoded

if TYPE_CHECKING:
    from pipeline.store.zips import Zip

_FETCHES = 4
"""Fetches whose entries are held: as many as tasks of a process may be at work on one output."""
Span = tuple[int, int]


class ZippedArrays:
    """The arrays of a zip. What was fetched ahead is taken from memory, else an entry is a request. Can be pickled."""

    def __init__(self, zipped: Zip) -> None:
        self._zip = zipped
        self._fetched: deque[dict[str, bytes]] = deque(maxlen=_FETCHES)

    def described(self, path: str) -> dict[str, Any]:
        """The metadata of a group, of what lies below it, or of an array."""
        entry = f"{path}/zarr.json" if path else "zarr.json"
        found: dict[str, Any] = json.loads(self._zip.read([entry])[entry])
        return found

    def fetch(self, keys: Iterable[str]) -> None:
        """Read entries that will be asked for, those near each other by one request; forget those of long before."""
        if wanted := [key for key in keys if key in self._zip.directory]:
            self._fetched.append(self._zip.read(wanted))

    def entry(self, key: str) -> bytes:
        """The bytes of an entry."""
        found = next((fetched[key] for fetched in tuple(self._fetched) if key in fetched), None)
        return self._zip.read([key])[key] if found is None else found

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


class ZippedGroup(BackendEntrypoint):
    """How xarray opens a group of ``ZippedArrays``."""

    def open_dataset(
        self, filename_or_obj: Any, *, drop_variables: str | Iterable[str] | None = None, group: str = ""
    ) -> xr.Dataset:
        """The group, lazily and as it was written: attributes are only attributes."""
        del drop_variables
        about = filename_or_obj.described(group)
        attrs, below = dict(about["attributes"]), about["consolidated_metadata"]["metadata"]
        coordinates = attrs.pop("coordinates", "").split()
        variables = {
            name: xr.Variable(
                own["dimension_names"],
                LazilyIndexedArray(_Stored(filename_or_obj, f"{group}/{name}" if group else name, own)),
                own["attributes"],
            )
            for name, own in below.items()
            if own["node_type"] == "array" and "/" not in name
        }
        held = {name: variables.pop(name) for name in coordinates}
        return xr.Dataset(variables, xr.Coordinates(held, indexes={}), attrs)


class _Stored(BackendArray):
    """An array in its chunks."""

    def __init__(self, source: ZippedArrays, path: str, about: dict[str, Any]) -> None:
        self._source, self._path = source, path
        self.shape = tuple(about["shape"])
        is_text = about["data_type"] == "string"
        self.dtype = np.dtypes.StringDType() if is_text else np.dtype(about["data_type"])
        self._steps = tuple(about["chunk_grid"]["configuration"]["chunk_shape"])

    def __getitem__(self, key: ExplicitIndexer) -> Values:
        """Values by slices, positions, or one of both for each dimension."""
        found: Values = explicit_indexing_adapter(key, self.shape, IndexingSupport.OUTER, self._get)
        return found

    def _get(self, key: tuple[Any, ...]) -> Values:
        spans = [_span(one, n) for one, n in zip(key, self.shape, strict=True)]
        values = self._between(spans)
        for axis in reversed(range(len(key))):  # the last first: a position leaves the dimensions before it alone
            values = values[(*[slice(None)] * axis, _from(key[axis], spans[axis][0], self.shape[axis]))]
        return values

    def _between(self, spans: list[Span]) -> Values:
        """All that lies in a span of each dimension."""
        values = np.empty([end - begin for begin, end in spans], self.dtype)
        places = [
            range(begin // step, -(-end // step) if end > begin else begin // step)
            for (begin, end), step in zip(spans, self._steps, strict=True)
        ]
        for place in product(*places):
            chunk = self._chunk(place)
            there, here = zip(*self._shared(place, spans), strict=True) if place else ((), ())
            values[here] = chunk[there]
        return values

    def _shared(self, place: tuple[int, ...], spans: list[Span]) -> Iterator[tuple[slice, slice]]:
        """What a chunk and the spans have in common along each dimension: as rows of the chunk, and of the spans."""
        for at, step, (begin, end) in zip(place, self._steps, spans, strict=True):
            low, high = max(at * step, begin), min((at + 1) * step, end)
            yield slice(low - at * step, high - at * step), slice(low - begin, high - begin)

    def _chunk(self, place: tuple[int, ...]) -> Values:
        key = "/".join([self._path, "c", *map(str, place)])
        return decoded(self._source.entry(key), self.dtype, self._steps)


def _span(key: Any, n: int) -> Span:
    """The rows that a key needs, from its first to its last."""
    rows = np.arange(n)[key] if not isinstance(key, slice) or key.step not in (None, 1) else None
    if rows is None:
        begin, end, _ = key.indices(n)
        return begin, max(begin, end)
    rows = np.atleast_1d(rows)
    return (int(rows.min()), int(rows.max()) + 1) if rows.size else (0, 0)


def _from(key: Any, begin: int, n: int) -> Any:
    """A key to the rows from ``begin`` on."""
    if isinstance(key, slice) and key.step in (None, 1):
        return slice(None)
    return np.arange(n)[key] - begin
