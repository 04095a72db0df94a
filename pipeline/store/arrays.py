"""xarray datasets as Zarr groups in one object, ``<path>.zarr.zip``: written once and whole, read whole or by rows.

Any tool opens one (``xarray.open_zarr("zip::…")``). Here nothing is read that its directory does not vouch for: Zarr
alone reads a lost chunk as plausible values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pipeline.errors import DamageError, StoreError
from pipeline.store.blobs import Store
from pipeline.store.groups import RAGGED, Array, Group, Values, chunk_shape, encode
from pipeline.store.zips import Zip

if TYPE_CHECKING:
    import xarray as xr

    from pipeline.store.zipped import ZippedStore

ENDING = ".zarr.zip"


def write_groups(store: Store, path: str, groups: Mapping[str, xr.Dataset]) -> None:
    """Write datasets as groups of one object at ``path`` (``""`` is the root).

    Text becomes StringDType. Contents alone decide the bytes, so that writing the same again, even at the same time, is
    harmless. Raises ``StoreError`` where the store cannot be written.
    """
    store.put(path, encode({name: _group(dataset) for name, dataset in groups.items()}))


@dataclass(frozen=True, eq=False)
class Opened:
    """A group, of which values are read, and checked, when they are asked for."""

    dataset: xr.Dataset
    _source: ZippedStore
    _group: str

    def fetch(self, begin: int, end: int) -> None:
        """Read what rows ``begin`` up to ``end`` (exclusive) need, near each other by one request.

        Values are decoded when they are asked for, and other rows can be had as before.
        """
        keys = list[str]()
        for name, variable in self.dataset.variables.items():
            if variable.dims[:1] == (RAGGED,) and begin < end:
                step = chunk_shape(variable.shape)[0]
                keys += self._source.keys_of(_key(self._group, str(name)), begin // step, -(-end // step))
        self._source.fetch(keys)


def opened(store: Store, path: str, group: str = "", *, indexed: bool = False) -> Opened:
    """One group with its rows within reach, and unless ``indexed`` without labels to select by, which have to be read
    for it; raises as ``open_group`` does."""
    import xarray as xr

    from pipeline.store.zipped import ZippedStore

    zipped = Zip(store, path)
    if _key(group, "zarr.json") not in zipped.directory:
        raise StoreError(f"{store.url(path)}: there is no group {group!r}.")
    source = ZippedStore(zipped)
    dataset: xr.Dataset = xr.open_zarr(
        source,
        group=group or None,
        chunks=None,
        consolidated=True,
        zarr_format=3,
        mask_and_scale=False,
        decode_times=False,
        create_default_indexes=indexed,
    )
    for name, variable in dataset.variables.items():
        steps = zip(variable.shape, chunk_shape(variable.shape), strict=True)
        n_chunks = math.prod(-(-n // step) for n, step in steps)
        if source.n_chunks(_key(group, str(name))) != n_chunks:
            raise DamageError(f"{store.url(path)}: {name} has not all of its chunks. Remove the object and run again.")
    return Opened(dataset, source, group)


def open_group(store: Store, path: str, group: str = "") -> xr.Dataset:
    """One group, lazily: values are read, and checked entry by entry, when they are asked for.

    Raises ``DamageError`` at once where the object is lost, or cut short, or its directory is not what was written; on
    reading where an entry is not. ``StoreError`` where there is no such group.
    """
    return opened(store, path, group, indexed=True).dataset


def verify(store: Store, path: str) -> None:
    """Read all of an object; raises ``DamageError`` where a byte is not what was written."""
    Zip(store, path).verify()


def _group(dataset: xr.Dataset) -> Group:
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
