"""How the arrays that ``arrays`` writes are cut into objects and chunks, and how chunks become values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import StoreError

Array = NDArray[Any]
Place = tuple[int, ...]
"""Of a chunk in the grid of chunks."""

_COMPRESSORS = ("blosc", "zstd")
_CHECKSUM_BYTES = 4
_ENTRY = Struct("<QQ")
_BLOSC = Struct("<4xI4xI")
"""Of a chunk's header: its bytes decoded and as they are, which Blosc believes."""
_ELEMENTS = 1 << 20
"""Of an object, at most."""
_KEYS = {"name": "default", "configuration": {"separator": "/"}}
_NOT_OURS = (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError, OverflowError)
"""What it may be that metadata of another form raise."""


@dataclass(eq=False)
class Held:
    """Objects of an array by their keys, and the chunk that was decoded last: tiles next to each other share one."""

    objects: Mapping[str, bytes]
    last: tuple[Place, Array] | None = None


class Layout:
    """What Zarr's metadata say of an array. Raises ``StoreError`` where it is not coded as ``arrays`` does it."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        try:
            is_ours = self._take(about)
        except _NOT_OURS:
            is_ours = False
        if not is_ours:
            coded = {key: about.get(key) for key in ("codecs", "shape", "data_type", "chunk_grid")}
            raise StoreError(f"arrays coded as {coded} cannot be read. Use the version that wrote them.")

    def _take(self, about: Mapping[str, Any]) -> bool:
        """Take over what metadata say; whether all of it is as ``arrays`` writes it."""
        self.attrs: Mapping[str, Any] = about["attributes"]
        self.dims: tuple[str, ...] = tuple(about.get("dimension_names") or ())
        self.shape: tuple[int, ...] = tuple(about["shape"])
        self.texts = about["data_type"] == "string"
        self.dtype: np.dtype[Any] = np.dtype(object if self.texts else about["data_type"])
        codecs, chunk = about["codecs"], about["chunk_grid"]["configuration"]["chunk_shape"]
        self._n_in_shard, elements, at_end = 0, prod(chunk), True
        if codecs[0]["name"] == "sharding_indexed":
            inner = codecs[0]["configuration"]
            self._n_in_shard = chunk[0] // inner["chunk_shape"][0]
            is_even = list(chunk) == [self._n_in_shard * inner["chunk_shape"][0]]
            at_end = is_even and inner.get("index_location", "end") == "end"
            codecs, chunk = inner["codecs"], inner["chunk_shape"]
        first, self._compressor, *last = (codec["name"] for codec in codecs)
        wanted = ["vlen-utf8" if self.texts else "bytes", "crc32c"]
        order = codecs[0].get("configuration", {}).get("endian", "little")
        # A single value lies in an array of one row.
        self._shape, self._chunk = self.shape or (1,), tuple(chunk) or (1,)
        return (
            [first, *last] == wanted
            and self._compressor in _COMPRESSORS
            and (order, about["chunk_key_encoding"]) == ("little", _KEYS)
            and at_end
            and about["chunk_grid"]["name"] == "regular"
            and len(self._shape) == len(self._chunk)
            and min(self._shape) >= 0
            and min(self._chunk) > 0
            and elements <= _ELEMENTS
        )

    @property
    def n_objects(self) -> int:
        """How many objects there are of the array."""
        size = (self._chunk[0] * (self._n_in_shard or 1), *self._chunk[1:])
        return prod(-(-n // of) for n, of in zip(self._shape, size, strict=True))

    @property
    def n_rows(self) -> int:
        """Length of the first dimension."""
        return self._shape[0]

    def keys(self, rows: range) -> list[str]:
        """Keys of the objects that hold some rows, below the array's own."""
        return list(dict.fromkeys(self._key(place) for place in self._places(rows)))

    def values(self, rows: range, held: Held) -> Array:
        """The values of some rows, whose objects are ``held``; texts as ``StringDType``.

        Whatever decoding raises is raised where objects are not coded as the metadata say.
        """
        found = np.empty((len(rows), *self._shape[1:]), self.dtype)
        for place in self._places(rows):
            low = [at * size for at, size in zip(place, self._chunk, strict=True)]
            rest = [slice(at, at + size) for at, size in zip(low[1:], self._chunk[1:], strict=True)]
            begin, end = max(low[0], rows.start), min(low[0] + self._chunk[0], rows.stop)
            here = found[begin - rows.start : end - rows.start, *rest]
            if here.shape == self._chunk and len(self._chunk) == 1 and not self.texts:
                self._decode(place, held, here)
                continue
            last = held.last  # once: threads may share what is held
            if last is None or last[0] != place:
                held.last = last = place, self._chunk_at(place, held)
            inside = (slice(begin - low[0], end - low[0]), *(slice(size) for size in here.shape[1:]))
            here[...] = last[1][inside]
        found = found if self.shape else found.reshape(())
        return found.astype(np.dtypes.StringDType()) if self.texts else found

    def _places(self, rows: range) -> Iterator[Place]:
        if not rows:
            return iter(())
        size = self._chunk[0]
        rest = (range(-(-n // chunk)) for n, chunk in zip(self._shape[1:], self._chunk[1:], strict=True))
        return product(range(rows.start // size, -(-rows.stop // size)), *rest)

    def _key(self, place: Place) -> str:
        if not self.shape:
            return "c"
        outer = (place[0] // self._n_in_shard,) if self._n_in_shard else place
        return "/".join(("c", *map(str, outer)))

    def _stored(self, place: Place, held: Held) -> memoryview:
        """A chunk as it is stored, without its checksum."""
        data = held.objects[self._key(place)]
        begin, size = 0, len(data)
        if self._n_in_shard:  # begin and size of every chunk stand at the end, before a checksum
            entry = place[0] % self._n_in_shard - self._n_in_shard
            begin, size = _ENTRY.unpack_from(data, len(data) - _CHECKSUM_BYTES + entry * _ENTRY.size)
        return memoryview(data)[begin : begin + size - _CHECKSUM_BYTES]

    def _chunk_at(self, place: Place, held: Held) -> Array:
        if self.texts:
            from numcodecs import vlen, zstd

            texts: Array = vlen.VLenUTF8().decode(zstd.decompress(self._stored(place, held)))
            return texts.reshape(self._chunk)
        chunk = np.empty(self._chunk, self.dtype)
        self._decode(place, held, chunk)
        return chunk

    def _decode(self, place: Place, held: Held, into: Array) -> None:
        from numcodecs import blosc, zstd

        blosc.use_threads = False
        stored = self._stored(place, held)
        if self._compressor != "blosc":
            zstd.decompress(stored, into)
        elif _BLOSC.unpack_from(stored) == (into.nbytes, len(stored)):
            blosc.decompress(stored, into)
        else:
            raise ValueError("a chunk has another size than its header says")
