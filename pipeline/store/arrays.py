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
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.errors import DamageError, StoreError
from pipeline.store.blobs import Store
from pipeline.store.paths import checked_path
from pipeline.store.seal import unseal

if TYPE_CHECKING:
    import xarray as xr

    from pipeline.store.recorded import Record

CHUNK = 65_536
"""Elements of a chunk, at most."""
SHARD_CHUNKS = 16
"""Chunks of a shard, at most: 1,048,576 elements."""

_EDITION = "arrays/1"
_WRITERS = 8
_QUIET = threading.Lock()


def write_groups(store: Store, path: str, groups: Mapping[str, xr.Dataset]) -> None:
    """Write datasets as groups of one Zarr store at ``path`` (``""`` is the root), then its record.

    Text becomes StringDType. Contents alone decide the bytes, so that writing the same again, even at the same
    time, is harmless. Raises ``StoreError`` where the store cannot be written; there is no record then.
    """
    for group in groups:
        checked_path(_key(group, "zarr.json"))
    objects = _encoded({group: groups[group] for group in sorted(groups)})
    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(store.put, [checked_path(f"{path}/{key}") for key in objects], objects.values()))
    listed = {key: [len(data), sha256(data).hexdigest()] for key, data in objects.items()}
    record = json.dumps({"kind": _EDITION, "objects": listed}, sort_keys=True, separators=(",", ":"))
    store.put_sealed(_record_path(path), record.encode())


def open_group(store: Store, path: str, group: str = "") -> xr.Dataset:
    """One group, lazily: values are read, and checked whole object by whole object, when they are asked for.

    Raises ``DamageError`` at once where the record is missing (the writer did not finish) or damaged, or an object
    is lost or has another size; on reading where an object is not what was written. ``StoreError`` where there is no
    such group.
    """
    import xarray as xr

    from pipeline.store.recorded import RecordedStore

    record = _record(store, path)
    if faults := _lost(store, path, record):
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


def is_complete(store: Store, path: str) -> bool:
    """Whether there is a whole record, every object it lists with the size it lists, and all metadata as written.

    Readers here take the root's consolidated metadata; other tools may take an array's own, which must be sound too.
    """
    from pipeline.store.recorded import checked_object

    try:
        record = _parsed(store.get(_record_path(path)), store.url(_record_path(path)))
        if _lost(store, path, record):
            return False
        with ThreadPoolExecutor(_WRITERS) as pool:
            metadata = [key for key in record if key.rsplit("/", 1)[-1] == "zarr.json"]
            list(pool.map(lambda key: checked_object(store, path, key, record[key]), metadata))
    except DamageError:
        return False
    return True


def is_recorded(store: Store, path: str) -> bool:
    """Whether there is a record, whole or not: something was written here once."""
    return store.exists(_record_path(path))


def discard(store: Store, path: str) -> None:
    """Take the record away: what was written there counts no longer, and is written anew when it is needed."""
    store.remove(_record_path(path))


def verify(store: Store, path: str) -> None:
    """Read every object and compare its SHA-256; raises ``DamageError`` on the first that is not what was written."""
    from pipeline.store.recorded import checked_object

    record = _record(store, path)
    for key in sorted(record):
        checked_object(store, path, key, record[key])


def _encoded(groups: Mapping[str, xr.Dataset]) -> dict[str, bytes]:
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
            encoding = {str(name): _encoding(variable) for name, variable in loaded.variables.items()}
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


def _encoding(variable: xr.Variable) -> dict[str, Any]:
    from numcodecs import blosc
    from zarr.codecs import BloscCodec, Crc32cCodec, ZstdCodec

    blosc.use_threads = False  # blocks stand in the order in which the threads of a compression finish
    size = variable.dtype.itemsize
    # Whole numbers use few of their bytes: these compress far better side by side.
    whole = variable.ndim and size > 1 and variable.dtype.kind in "iu"
    codec = BloscCodec(typesize=size, cname="zstd", clevel=3, shuffle="shuffle") if whole else ZstdCodec(level=3)
    encoding: dict[str, Any] = {"compressors": (codec, Crc32cCodec()), "_FillValue": None}
    if variable.ndim:
        encoding["chunks"] = _chunks(variable.shape)
    if variable.ndim == 1 and variable.size > CHUNK:
        encoding["shards"] = (CHUNK * min(SHARD_CHUNKS, -(-variable.size // CHUNK)),)
    return encoding


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


def _record_path(path: str) -> str:
    return f"{path}.json"


def _record(store: Store, path: str) -> Record:
    where = store.url(_record_path(path))
    if not store.exists(_record_path(path)):
        raise DamageError(f"{where}: there is no record, so the arrays were never finished. Run again to write them.")
    return _parsed(store.get(_record_path(path)), where)


def _parsed(data: bytes, where: str) -> Record:
    record = json.loads(unseal(data, where))
    if record["kind"] != _EDITION:
        raise DamageError(f"{where}: this is {record['kind']!r}, not {_EDITION!r}. Remove it and run again.")
    return {key: (size, digest) for key, (size, digest) in record["objects"].items()}


def _lost(store: Store, path: str, record: Record) -> list[str]:
    sizes = store.listing(path)
    found = {key: sizes.get(f"{path}/{key}") for key in record}
    return [
        f"{key} is lost" if found[key] is None else f"{key} has {found[key]} bytes, {record[key][0]} were written"
        for key in sorted(record)
        if found[key] != record[key][0]
    ]
