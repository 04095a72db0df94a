"""xarray datasets as Zarr, written once and valid only with their record.

Zarr alone reads a lost chunk, and all that a killed writer left out, as plausible values (zarr-python#486, #1578).
So every object is listed with size and SHA-256 in ``<path>.json``, written last; reading goes through that record.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.errors import DamageError, StoreError
from pipeline.store.blobs import Store
from pipeline.store.columns import Columns
from pipeline.store.paths import checked_path
from pipeline.store.record import (
    checked_object,
    checked_objects,
    lost,
    parsed,
    read_record,
    record_path,
    sealed_record,
    write_record,
)

if TYPE_CHECKING:
    import xarray as xr

CHUNK = 65_536
"""Elements of a chunk, at most."""
SHARD_CHUNKS = 16
"""Chunks of a shard, at most: 1,048,576 elements."""

_WRITERS = 8
_QUIET = threading.Lock()


def write_groups(store: Store, path: str, groups: Mapping[str, xr.Dataset], *, often_read: bool = False) -> None:
    """Write datasets as groups of one Zarr store at ``path`` (``""`` is the root), then its record.

    Text becomes StringDType. With ``often_read`` numbers are read in a third of the time; whole ones take some
    hundredths more bytes. Contents alone decide the bytes, so that writing the same again, even at the same time, is
    harmless. Raises ``StoreError`` where the store cannot be written; there is no record then.
    """
    for group in groups:
        checked_path(_key(group, "zarr.json"))
    objects = _encoded({group: groups[group] for group in sorted(groups)}, often_read=often_read)
    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(store.put, [checked_path(f"{path}/{key}") for key in objects], objects.values()))
    write_record(store, path, objects)


def open_group(store: Store, path: str, group: str = "") -> xr.Dataset:
    """One group, lazily: values are read, and checked whole object by whole object, when they are asked for.

    Raises ``DamageError`` at once where the record is missing (the writer did not finish) or damaged, or an object
    is lost or has another size; on reading where an object is not what was written. ``StoreError`` where there is no
    such group.
    """
    import xarray as xr

    from pipeline.store.recorded import RecordedStore

    record = read_record(store, path)
    if faults := lost(store, path, record):
        raise DamageError(f"{store.url(path)}: {'; '.join(faults[:3])}. Remove the record and run again.")
    if _key(group, "zarr.json") not in record:
        raise StoreError(f"{store.url(path)}: there is no group {group!r}.")
    dataset: xr.Dataset = xr.open_zarr(
        RecordedStore(store, path, record),
        group=group or None,
        chunks=None,
        consolidated=True,
        zarr_format=3,
        mask_and_scale=False,
        decode_times=False,
    )
    return dataset


def open_columns(store: Store, path: str) -> Columns:
    """The root group without xarray: the same object for all who open it in this process, as long as few others are.

    What was loaded of it stays so. Raises ``DamageError`` as reading does; objects are missed when they are read.
    """
    return _columns(store, path, sealed_record(store, path))


def forget_columns() -> None:
    """Have metadata, and what was loaded with them, read and checked again."""
    _columns.cache_clear()


@lru_cache(maxsize=2)
def _columns(store: Store, path: str, sealed: bytes) -> Columns:
    return Columns.of(store, path, parsed(sealed, store.url(record_path(path))))


def is_complete(store: Store, path: str) -> bool:
    """Whether there is a whole record, every object it lists with the size it lists, and all metadata as written.

    Readers here take the root's consolidated metadata; other tools may take an array's own, which must be sound too.
    """
    try:
        record = parsed(store.get(record_path(path)), store.url(record_path(path)))
        if lost(store, path, record):
            return False
        metadata = [key for key in record if key.rsplit("/", 1)[-1] == "zarr.json"]
        checked_objects(store, path, record, metadata)
    except DamageError:
        return False
    return True


def is_recorded(store: Store, path: str) -> bool:
    """Whether there is a record, whole or not: something was written here once."""
    return store.exists(record_path(path))


def discard(store: Store, path: str) -> None:
    """Take the record away: what was written there counts no longer, and is written anew when it is needed."""
    store.remove(record_path(path))


def verify(store: Store, path: str) -> None:
    """Read every object and compare its SHA-256; raises ``DamageError`` on the first that is not what was written."""
    record = read_record(store, path)
    for key in sorted(record):
        checked_object(store, path, key, record[key])


def _encoded(groups: Mapping[str, xr.Dataset], *, often_read: bool) -> dict[str, bytes]:
    """The objects of a Zarr store by their keys, in order: made in memory, so that each is put once and whole."""
    import xarray as xr
    import zarr
    from zarr.storage import MemoryStore

    buffers: dict[str, Any] = {}
    memory = MemoryStore(buffers)
    with _quiet_zarr():
        xr.Dataset().to_zarr(memory, mode="w", zarr_format=3, consolidated=False)
        for group, dataset in groups.items():
            loaded = _with_text(dataset.compute())
            variables = loaded.variables.items()
            encoding = {str(name): _encoding(variable, often_read=often_read) for name, variable in variables}
            loaded.to_zarr(memory, group=group or None, mode="a", zarr_format=3, encoding=encoding, consolidated=False)
        for group in sorted({"", *groups}, reverse=True):
            zarr.consolidate_metadata(memory, path=group)
    return {key: _canonical(key, buffers[key].to_bytes()) for key in sorted(buffers)}


@contextmanager
def _quiet_zarr() -> Iterator[None]:
    """Consolidated metadata and text are not in the Zarr 3 specification yet; that is known and tested here."""
    import zarr

    # Filters and configuration are the process's: one writer at a time.
    with _QUIET, warnings.catch_warnings(), zarr.config.set({"array.write_empty_chunks": True}):
        warnings.filterwarnings("ignore", message=r"Consolidated metadata is currently not part")
        warnings.filterwarnings("ignore", message=r"The (data type|dtype|codec) .*Zarr", category=Warning)
        yield


def _with_text(dataset: xr.Dataset) -> xr.Dataset:
    """Fixed-width and object text as StringDType, on coordinates too."""
    text = np.dtypes.StringDType()
    changed = {
        name: (variable.dims, variable.values.astype(str).astype(text), variable.attrs)
        for name, variable in dataset.variables.items()
        if variable.dtype.kind in "OU"
    }
    coordinates = {name: changed[name] for name in changed if name in dataset.coords}
    return dataset.assign_coords(coordinates).assign({n: v for n, v in changed.items() if n not in coordinates})


def _encoding(variable: xr.Variable, *, often_read: bool) -> dict[str, Any]:
    from zarr.codecs import Crc32cCodec

    encoding: dict[str, Any] = {"compressors": (_codec(variable, often_read), Crc32cCodec()), "_FillValue": None}
    if variable.ndim:
        encoding["chunks"] = _chunks(variable.shape)
    if variable.ndim == 1 and variable.size > CHUNK:
        encoding["shards"] = (CHUNK * min(SHARD_CHUNKS, -(-variable.size // CHUNK)),)
    return encoding


def _codec(variable: xr.Variable, often_read: bool) -> Any:
    """What values are compressed by: numbers use few of their bits, and these pack far better side by side."""
    from numcodecs import blosc
    from zarr.codecs import BloscCodec, ZstdCodec

    blosc.use_threads = False  # blocks stand in the order in which the threads of a compression finish
    size, kind = variable.dtype.itemsize, variable.dtype.kind
    if variable.ndim and often_read and kind in "biuf":
        return BloscCodec(typesize=size, cname="lz4", clevel=5, shuffle="bitshuffle")
    if variable.ndim and size > 1 and kind in "iu":
        return BloscCodec(typesize=size, cname="zstd", clevel=3, shuffle="shuffle")
    return ZstdCodec(level=3)


def _chunks(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The whole shape, or CHUNK elements of one dimension; in more dimensions the longest is halved until it fits."""
    if len(shape) == 1:
        return (max(1, min(shape[0], CHUNK)),)
    chunks = [max(1, n) for n in shape]
    while np.prod(chunks, dtype=object) > CHUNK:
        longest = chunks.index(max(chunks))
        chunks[longest] = -(-chunks[longest] // 2)
    return tuple(chunks)


def _canonical(key: str, data: bytes) -> bytes:
    """Metadata in one order of keys: Zarr's own order depends on which write finished first."""
    if key.rsplit("/", 1)[-1] != "zarr.json":
        return data
    return json.dumps(json.loads(data), sort_keys=True, separators=(",", ":")).encode()


def _key(group: str, name: str) -> str:
    return f"{group}/{name}" if group else name
