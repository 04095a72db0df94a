"""Groups of many rows: an object for each batch of them, and an index that is written last and commits them.

``<path>/<name>.zarr.zip`` is a batch, a group like any other of its rows alone. The index at ``<path>.zarr.zip`` holds
what is not by row; arrays by row have no rows there. For every batch it says which object that is, where its rows begin
among all, and how the object ends: what lies where in it, with a digest of each. So a row is one request beside the one
that opens the index, and nothing is read of a batch that the index does not vouch for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.store import arrays
from pipeline.store.arrays import ENDING, LazyGroup
from pipeline.store.blobs import Store
from pipeline.store.groups import RAGGED, Values, encode
from pipeline.store.zips import Zip, end_of

if TYPE_CHECKING:
    import xarray as xr

OBJECT, END = "batch_object", "batch_end"
OF_BATCH = "_of_batch"
"""Ends the name of the array that says where the rows of each batch begin along a dimension."""
WITHIN = "rows_within_batch"
"""The attribute of an index that names dimensions whose rows count anew in every batch, where ``rows_of`` has them."""
_ROOT = "zarr.json"
"""The entry of an object from which on its end is kept: all that opens it."""
_EDGE, _BYTE = "batch_edge", "byte"
_HELD = 8
"""Batches that are held open."""


@dataclass(frozen=True)
class Batch:
    """A batch that was written: its name, how many rows it has along each dimension, and how its object ends."""

    name: str
    n_rows: Mapping[str, int]
    end: bytes


def object_of(path: str, name: str) -> str:
    """Where a batch of the group at ``path`` lies."""
    return f"{path.removesuffix(ENDING)}/{name}{ENDING}"


def write_batch(store: Store, path: str, name: str, rows: xr.Dataset, dims: Sequence[str]) -> Batch:
    """Write a batch of the group at ``path``: its rows along ``dims`` and what people open it with."""
    data = encode({"": arrays.group_of(rows)})
    store.put(object_of(path, name), data)
    return Batch(name, {dim: rows.sizes[dim] for dim in dims}, end_of(data, _ROOT))


def read_batch(store: Store, path: str, name: str) -> tuple[LazyGroup, bytes]:
    """A batch that no index names, and how it ends; raises as ``arrays.open_group`` does."""
    zipped = Zip(store, object_of(path, name))
    return arrays.opened_zip(zipped), zipped.end_from(_ROOT)


def write_index(
    store: Store, path: str, rest: xr.Dataset, batches: Sequence[Batch], within: Sequence[str] = ()
) -> None:
    """Commit ``batches`` (one at least, in the order of their rows) with ``rest``, the group without any row.

    ``within`` names dimensions whose rows count anew in every batch where an array's ``rows_of`` has them.
    """
    folder = path.rpartition("/")[2].removesuffix(ENDING)
    objects = np.array([f"{folder}/{batch.name}{ENDING}" for batch in batches], np.dtypes.StringDType())
    ends = np.frombuffer(b"".join(batch.end for batch in batches), np.uint8)
    made: dict[str, Any] = {
        OBJECT: ("batch", objects, _about("", "object that holds the rows of each batch, beside this one")),
        END: (_BYTE, ends, _about("1", "last bytes of each of these objects, with the digests of all before them")),
    }
    for dim in (_BYTE, *batches[0].n_rows):
        counts = [len(batch.end) if dim == _BYTE else batch.n_rows[dim] for batch in batches]
        about = _about("1", f"first {dim} of each batch, with their number at the end")
        made[f"{dim}{OF_BATCH}"] = (_EDGE, np.cumsum([0, *counts]), about)
    arrays.write_groups(store, path, {"": rest.assign(made).assign_attrs({WITHIN: " ".join(within)})})


def _about(units: str, long_name: str) -> dict[str, str]:
    return {"units": units, "long_name": long_name, "source": "counts of rows by bucket"}


def opened(store: Store, path: str, *, indexes: bool = True) -> LazyGroup | Batched:
    """A group with its rows within reach, be it one object or many; raises as ``arrays.open_group`` does.

    Without ``indexes`` names are not read to find positions by them.
    """
    return _opened(store, path, Zip(store, path), indexes=indexes)


def _opened(store: Store, path: str, zipped: Zip, *, indexes: bool = True) -> LazyGroup | Batched:
    is_index = f"{OBJECT}/c/0" in zipped.directory
    found = arrays.opened_zip(zipped, indexes=indexes, ahead=is_index)
    return Batched(store, path, found.dataset) if is_index else found


def verify(store: Store, path: str) -> None:
    """Read all of a group; raises ``DamageError`` where a byte is not what was written, or a chunk is not there."""
    zipped = Zip(store, path)
    arrays.verify_zip(zipped)
    found = _opened(store, path, zipped)
    if isinstance(found, Batched):
        for batch in range(found.n_batches):
            arrays.verify_zip(found.zipped(batch))


class Batched:
    """A group in batches, which are opened when their rows are asked for. Can be pickled."""

    def __init__(self, store: Store, path: str, index: xr.Dataset) -> None:
        self._store, self._path, self._index = store, path, index
        edges = {str(name): index[name].to_numpy() for name in index.variables if str(name).endswith(OF_BATCH)}
        self._edges = {name.removesuffix(OF_BATCH): values.astype(np.int64) for name, values in edges.items()}
        self._objects: list[str] = index[OBJECT].to_numpy().tolist()
        self._held = OrderedDict[int, LazyGroup]()

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name != "dataset"}
        return {**kept, "_held": OrderedDict()}

    @property
    def n_batches(self) -> int:
        """How many."""
        return len(self._objects)

    @property
    def names(self) -> list[str]:
        """Names of the batches, in their order."""
        return [name.rpartition("/")[2].removesuffix(ENDING) for name in self._objects]

    @cached_property
    def dataset(self) -> xr.Dataset:
        """The group as if it were one object; values are read, and checked, when they are asked for."""
        import xarray as xr

        from pipeline.store.rows import BatchRows

        own = [OBJECT, END, *(f"{dim}{OF_BATCH}" for dim in self._edges)]
        rest = self._index.drop_vars([name for name in own if name in self._index])
        by_row: dict[Hashable, Any] = {}
        for name, variable in rest.variables.items():
            if variable.dims and (edges := self._edges.get(str(variable.dims[0]))) is not None:
                rows = BatchRows(
                    self.batch, str(name), edges, variable.shape[1:], variable.dtype, self._bases(variable)
                )
                by_row[name] = xr.Variable(variable.dims, rows.lazily(), variable.attrs)
        coordinates = {name: variable for name, variable in by_row.items() if name in rest.coords}
        whole = rest.drop_vars(list(by_row)).assign(by_row).assign_coords(coordinates)
        whole.attrs.pop(WITHIN, None)
        return whole

    def batch(self, n: int) -> LazyGroup:
        """Batch ``n``, opened without asking the store for anything."""
        found = self._held.get(n)
        if found is None:
            found = self._held[n] = arrays.opened_zip(self.zipped(n), indexes=False)
            while len(self._held) > _HELD:
                self._held.popitem(last=False)
        return found

    def zipped(self, n: int) -> Zip:
        """The object of batch ``n``, as the index says that it ends."""
        begin, end = self._edges[_BYTE][n : n + 2]
        return Zip(self._store, object_of(self._path, self.names[n]), self._index[END][begin:end].to_numpy().tobytes())

    def fetch(self, begin: int, end: int) -> None:
        """As ``LazyGroup.fetch``, a request for each batch that has some of the rows."""
        self.fetch_rows({RAGGED: (begin, end)})

    def fetch_rows(self, rows: Mapping[str, tuple[int, int]]) -> None:
        """As ``LazyGroup.fetch_rows``."""
        for n in range(self.n_batches):
            own = dict[str, tuple[int, int]]()
            for dim in rows.keys() & self._edges.keys():
                first, end = self._edges[dim][n : n + 2].tolist()
                own[dim] = (max(rows[dim][0], first) - first, min(rows[dim][1], end) - first)
            if any(begin < end for begin, end in own.values()):
                self.batch(n).fetch_rows(own)

    def _bases(self, variable: xr.Variable) -> Values | None:
        """The number added to the values of each batch, which are rows that count anew in it."""
        of = variable.attrs.get("rows_of", "")
        if of not in self._index.attrs[WITHIN].split():
            return None
        return self._edges[str(self._index[of].dims[0]) if of in self._index else of]
