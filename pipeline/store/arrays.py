"""xarray datasets as Zarr groups in one object, ``<path>.zarr.zip``: written once and whole, read whole or by rows.

Any tool opens one (``xarray.open_zarr("zip::…")``). Here nothing is read that its directory does not vouch for: Zarr
alone reads a lost chunk as plausible values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pipeline.errors import DamageError, StoreError
from pipeline.store.blobs import Store
from pipeline.store.groups import RAGGED, Array, Group, Values, chunk_shape, encode
from pipeline.store.zips import Zip

if TYPE_CHECKING:
    import xarray as xr

    from pipeline.store.zipped import ZippedArrays

ENDING = ".zarr.zip"
_ABOUT = "zarr.json"
"""The entry that says what all groups hold."""


def write_groups(store: Store, path: str, groups: Mapping[str, xr.Dataset]) -> None:
    """Write datasets as groups of one object at ``path`` (``""`` is the root).

    Text becomes StringDType. Contents alone decide the bytes, so that writing the same again, even at the same time, is
    harmless. Raises ``StoreError`` where the store cannot be written.
    """
    store.put(path, encode({name: group_of(dataset) for name, dataset in groups.items()}))


@dataclass(frozen=True, eq=False)
class LazyGroup:
    """A group, of which values are read, and checked, when they are asked for."""

    dataset: xr.Dataset
    _source: ZippedArrays
    _group: str

    def fetch(self, begin: int, end: int) -> None:
        """Read what rows ``begin`` up to ``end`` (exclusive) need, near each other by one request.

        Values are decoded when they are asked for, and other rows can be had as before.
        """
        self.fetch_rows({RAGGED: (begin, end)})

    def fetch_rows(self, rows: Mapping[str, tuple[int, int]]) -> None:
        """Read what rows along several dimensions need, as ``fetch`` does along one."""
        keys = list[str]()
        for name, variable in self.dataset.variables.items():
            begin, end = rows.get(str(variable.dims[0]), (0, 0)) if variable.dims else (0, 0)
            if begin < end:
                step = chunk_shape(variable.shape)[0]
                keys += self._source.keys_of(_key(self._group, str(name)), begin // step, -(-end // step))
        self._source.fetch(keys)


def opened(store: Store, path: str, group: str = "", *, indexes: bool = True) -> LazyGroup:
    """One group with its rows within reach; raises as ``open_group`` does, and takes ``indexes`` as ``opened_zip``."""
    return opened_zip(Zip(store, path), group, indexes=indexes)


def opened_zip(zipped: Zip, group: str = "", *, indexes: bool = True, ahead: bool = False) -> LazyGroup:
    """One group of an object. Without ``indexes`` names are not read to find positions by them.

    With ``ahead`` all of the object is read at once.
    """
    from pipeline.store.zipped import ZippedArrays

    if _key(group, "zarr.json") not in zipped.directory:
        raise StoreError(f"{zipped.url}: there is no group {group!r}.")
    source = ZippedArrays(zipped)
    if ahead:
        source.fetch(zipped.directory)
    dataset = source.dataset(group, indexes=indexes)
    for name, variable in dataset.variables.items():
        _check_chunks(source, _key(group, str(name)), variable.shape)
    return LazyGroup(dataset, source, group)


def open_groups(store: Store, path: str, groups: Iterable[str]) -> dict[str, xr.Dataset]:
    """Several groups of one object, for which it is opened once; raises as ``open_group`` does."""
    zipped = Zip(store, path)
    return {group: opened_zip(zipped, group).dataset for group in groups}


def open_group(store: Store, path: str, group: str = "") -> xr.Dataset:
    """One group, lazily: values are read, and checked entry by entry, when they are asked for.

    Raises ``DamageError`` at once where the object is lost, or cut short, or its directory is not what was written; on
    reading where an entry is not. ``StoreError`` where there is no such group.
    """
    return opened(store, path, group).dataset


def verify(store: Store, path: str) -> None:
    """Read all of an object; raises ``DamageError`` where a byte is not what was written, or a chunk is not there."""
    verify_zip(Zip(store, path))


def verify_zip(zipped: Zip) -> None:
    """Read all of an object that was opened; raises as ``verify``."""
    from pipeline.store.zipped import ZippedArrays

    zipped.verify()
    if _ABOUT not in zipped.directory:
        raise DamageError(f"{zipped.url}: it does not say what it holds. Remove the object and run again.")
    source, about = ZippedArrays(zipped), json.loads(zipped.read([_ABOUT])[_ABOUT])
    for name, node in about["consolidated_metadata"]["metadata"].items():
        if node["node_type"] == "array":
            _check_chunks(source, name, node["shape"])


def _check_chunks(source: ZippedArrays, array: str, shape: Sequence[int]) -> None:
    """Raise ``DamageError`` where an array has not all of its chunks, as Zarr reads them: as zeros."""
    steps = zip(shape, chunk_shape(tuple(shape)), strict=True)
    if source.n_chunks(array) != math.prod(-(-n // step) for n, step in steps):
        raise DamageError(f"{source.url}: {array} has not all of its chunks. Remove the object and run again.")


def group_of(dataset: xr.Dataset) -> Group:
    """A dataset as it is encoded: text as StringDType."""
    arrays = {
        str(name): Array(tuple(map(str, variable.dims)), _plain(variable.to_numpy()), variable.attrs)
        for name, variable in dataset.variables.items()
    }
    return Group(arrays, tuple(map(str, dataset.coords)), dataset.attrs)


def _plain(values: Values) -> Values:
    """Fixed-width and object text as StringDType."""
    return values.astype(str).astype(np.dtypes.StringDType()) if values.dtype.kind in "OU" else values


def _key(group: str, name: str) -> str:
    return f"{group}/{name}" if group else name
