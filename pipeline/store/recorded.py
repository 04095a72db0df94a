"""A read-only Zarr store that knows which objects there must be.

Zarr reads a missing chunk as fill values. Here an object that is recorded and missing, or whose bytes are not the
recorded ones, is a ``DamageError``. Objects are fetched and checked whole, and the last few are kept: a shard is read
in many pieces. This module imports zarr: import it only where arrays are read.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

from pipeline.store.record import Record, checked_object

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype

    from pipeline.store.blobs import Store as Blobs

_KEPT = 8


class RecordedStore(Store):
    """The objects of ``record`` below ``path`` of a blob store. Can be pickled."""

    supports_writes = False
    supports_deletes = False
    supports_listing = True

    def __init__(self, blobs: Blobs, path: str, record: Record) -> None:
        super().__init__(read_only=True)
        self._blobs, self._path, self._record = blobs, path, record
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordedStore) and self._identity == other._identity

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"RecordedStore({self._blobs.url(self._path)!r})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": OrderedDict()}

    @property
    def _identity(self) -> tuple[Blobs, str, Record]:
        return self._blobs, self._path, self._record

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The object, or a part of it; None for what is not recorded."""
        if key not in self._record:
            return None
        data = self._kept.get(key)
        if data is None:
            data = await asyncio.to_thread(checked_object, self._blobs, self._path, key, self._record[key])
            self._kept[key] = data
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return (prototype or default_buffer_prototype()).buffer.from_bytes(_part(data, byte_range))

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """One part per key and range."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        """Whether the object is recorded."""
        return key in self._record

    async def set(self, key: str, value: Buffer) -> None:  # noqa: ARG002
        """Refused: the store is read-only."""
        self._check_writable()

    async def delete(self, key: str) -> None:  # noqa: ARG002
        """Refused: the store is read-only."""
        self._check_writable()

    async def list(self) -> AsyncIterator[str]:
        """Every recorded key."""
        for key in self._record:
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """The recorded keys that begin with ``prefix``."""
        for key in self._record:
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names directly below the folder ``prefix``."""
        below = f"{prefix.rstrip('/')}/" if prefix else ""
        names = {key[len(below) :].split("/", 1)[0] for key in self._record if key.startswith(below)}
        for name in sorted(names):
            yield name


def _part(data: bytes, byte_range: ByteRequest | None) -> bytes:
    match byte_range:
        case None:
            return data
        case RangeByteRequest(start=start, end=end):
            return data[start:end]
        case OffsetByteRequest(offset=offset):
            return data[offset:]
        case SuffixByteRequest(suffix=suffix):
            return data[max(len(data) - suffix, 0) :]
