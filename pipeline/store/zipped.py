"""The entries of a zip as a Zarr store. Imports zarr: import it only where arrays are read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype

    from pipeline.store.zips import Zip


_FETCHES = 4
"""Fetches whose entries are held: as many as tasks of a process may be at work on one output."""


class ZippedStore(Store):
    """Read-only. What was fetched ahead is taken from memory; every other entry is a request. Can be pickled."""

    supports_writes = False
    supports_deletes = False
    supports_listing = True

    def __init__(self, zipped: Zip) -> None:
        super().__init__(read_only=True)
        self._zip = zipped
        self._fetched: deque[dict[str, bytes]] = deque(maxlen=_FETCHES)

    @property
    def url(self) -> str:
        """Where it is."""
        return self._zip.url

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZippedStore) and self._zip == other._zip

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ZippedStore({self._zip.url!r})"

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """The entry, or a part of it; None for what is not in the directory."""
        data = next((fetched[key] for fetched in self._fetched if key in fetched), None)
        if data is None:
            if key not in self._zip.directory:
                return None
            data = (await asyncio.to_thread(self._zip.read, [key]))[key]  # a network may be waited for
        return (prototype or default_buffer_prototype()).buffer.from_bytes(_part(data, byte_range))

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """One part per key and range."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        """Whether there is such an entry."""
        return key in self._zip.directory

    async def set(self, key: str, value: Buffer) -> None:  # noqa: ARG002
        """Refused: the store is read-only."""
        self._check_writable()

    async def delete(self, key: str) -> None:  # noqa: ARG002
        """Refused: the store is read-only."""
        self._check_writable()

    async def list(self) -> AsyncIterator[str]:
        """Every entry."""
        for key in self._zip.directory:
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """The entries that begin with ``prefix``."""
        for key in self._zip.directory:
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names directly below the folder ``prefix``."""
        below = f"{prefix.rstrip('/')}/" if prefix else ""
        names = {key[len(below) :].split("/", 1)[0] for key in self._zip.directory if key.startswith(below)}
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
