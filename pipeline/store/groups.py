"""Named arrays as one Zarr group in one zip: made in memory, written once, read whole or by rows.

Plain Zarr 3 with the codecs of its specification, so that every implementation reads it. Arrays over the dimension
``trial`` lie in the zip chunk by chunk, in the order of rows: what some rows need is one range. All else, metadata
last, lies behind them, next to the directory of the zip, and comes with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.store import zips

CHUNK = 65_536
"""Rows of a chunk, at most."""
KIND = "groups/2"
"""In which form groups are stored."""
_SUM_BYTES = 4
"""Of the checksum that ends a chunk."""
_SHUFFLES = {"bitshuffle": 0, "noshuffle": 8 * CHUNK}
"""How bytes of numbers stand when they are compressed, and in what blocks (0: as Blosc takes them).

Numbers of few digits repeat, and do so far apart: a chunk is one block.
"""
RAGGED = "trial"
"""The dimension whose rows are read by ranges."""
Values = NDArray[Any]


@dataclass(frozen=True)
class Array:
    """An array with the names of its dimensions. Text is ``StringDType``."""

    dims: tuple[str, ...]
    values: Values
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Arrays by name, those that are coordinates, and what is said of them all."""

    arrays: Mapping[str, Array]
    coordinates: tuple[str, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)


def encode(groups: Mapping[str, Group]) -> bytes:
    """The zip of groups by their names (``""`` is the root).

    Equal contents give equal bytes: no date, no thread, no machine has a part in them.
    """
    arrays = {_key(group, name): array for group in groups for name, array in groups[group].arrays.items()}
    shuffles = {path: _shuffle_of(array.values) for path, array in arrays.items()}
    by_rows = list[tuple[int, str, bytes]]()
    rest = list[tuple[str, bytes]]()
    for path, array in arrays.items():
        for first_row, key, data in _chunks(array, shuffles[path]):
            if array.dims[:1] == (RAGGED,):
                by_rows.append((first_row, f"{path}/{key}", data))
            else:
                rest.append((f"{path}/{key}", data))
    rows = [(key, data) for _, key, data in sorted(by_rows)]
    return zips.pack([*rows, *sorted(rest), *_metadata(groups, arrays, shuffles)])


def _metadata(
    groups: Mapping[str, Group], arrays: Mapping[str, Array], shuffles: Mapping[str, str]
) -> list[tuple[str, bytes]]:
    each: dict[str, dict[str, Any]] = {path: _described(array, shuffles[path]) for path, array in arrays.items()}
    for name in sorted({"", *groups}, reverse=True):
        below = {path.removeprefix(_key(name, "")): each[path] for path in each if path.startswith(_key(name, ""))}
        consolidated = {"kind": "inline", "must_understand": False, "metadata": dict(sorted(below.items()))}
        attributes = _attributes(groups[name]) if name in groups else {}
        each[name] = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
        each[name] |= {"consolidated_metadata": consolidated}
    return [
        (_key(path, "zarr.json"), json.dumps(each[path], sort_keys=True, separators=(",", ":")).encode())
        for path in sorted(each, reverse=True)
    ]


def _attributes(group: Group) -> dict[str, Any]:
    coordinates = {"coordinates": " ".join(sorted(group.coordinates))} if group.coordinates else {}
    return {**group.attrs, **coordinates}


def _key(group: str, name: str) -> str:
    return f"{group}/{name}" if group else name


def _described(array: Array, shuffle: str) -> dict[str, Any]:
    is_text = array.values.dtype.kind == "T"
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(array.values.shape),
        "data_type": "string" if is_text else array.values.dtype.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk_shape(array.values.shape))}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "" if is_text else np.zeros((), array.values.dtype).item(),
        "codecs": _text_codecs() if is_text else _number_codecs(array.values.dtype, shuffle),
        "attributes": dict(array.attrs),
        "dimension_names": list(array.dims),
        "storage_transformers": [],
    }


def _number_codecs(dtype: np.dtype[Any], shuffle: str) -> list[dict[str, Any]]:
    order = {"endian": "little"} if dtype.itemsize > 1 else {}
    blosc = {
        "blocksize": _SHUFFLES[shuffle],
        "typesize": dtype.itemsize,
        "cname": "zstd",
        "clevel": 3,
        "shuffle": shuffle,
    }
    return [
        {"name": "bytes", "configuration": order} if order else {"name": "bytes"},
        {"name": "blosc", "configuration": blosc},
        {"name": "crc32c"},
    ]


def _text_codecs() -> list[dict[str, Any]]:
    return [
        {"name": "vlen-utf8"},
        {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
        {"name": "crc32c"},
    ]


def chunk_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """CHUNK elements at most: the longest dimension is halved until they are that few."""
    if len(shape) == 1:
        return (max(1, min(shape[0], CHUNK)),)
    chunks = [max(1, n) for n in shape]
    while np.prod(chunks, dtype=object) > CHUNK:
        longest = chunks.index(max(chunks))
        chunks[longest] = -(-chunks[longest] // 2)
    return tuple(chunks)


def _chunks(array: Array, shuffle: str) -> Iterator[tuple[int, str, bytes]]:
    """First row, key and bytes of every chunk; what a chunk reaches beyond the end is zeros."""
    values = array.values
    if not values.ndim:
        yield 0, "c", _compressed(values, shuffle)
        return
    shape = chunk_shape(values.shape)
    for place in product(*(range(-(-n // step)) for n, step in zip(values.shape, shape, strict=True))):
        piece = values[tuple(slice(at * step, (at + 1) * step) for at, step in zip(place, shape, strict=True))]
        if piece.shape != shape:
            whole = np.zeros(shape, values.dtype)
            whole[tuple(map(slice, piece.shape))] = piece
            piece = whole
        yield place[0] * shape[0], "/".join(map(str, ("c", *place))), _compressed(piece, shuffle)


def _shuffle_of(values: Values) -> str:
    """The shuffle that makes least of the first elements.

    Numbers of few digits repeat, which zstd finds where their bytes stand together; others compress when shuffled.
    """
    if values.dtype.kind == "T":
        return "bitshuffle"
    first = values.reshape(-1)[:CHUNK]
    return min(_SHUFFLES, key=lambda shuffle: len(_compressed(first, shuffle)))


def _compressed(values: Values, shuffle: str) -> bytes:
    import google_crc32c
    from numcodecs import blosc
    from numcodecs.vlen import VLenUTF8
    from numcodecs.zstd import Zstd

    if values.dtype.kind == "T":
        data = Zstd(level=3).encode(VLenUTF8().encode(values.astype(object)))
    else:
        little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        how = blosc.BITSHUFFLE if shuffle == "bitshuffle" else blosc.NOSHUFFLE
        blosc.use_threads = False  # blocks stand in the order in which the threads of a compression finish
        plain = little.reshape(-1).view(np.uint8)
        data = blosc.compress(plain, b"zstd", 3, how, _SHUFFLES[shuffle], values.dtype.itemsize)
    checksum: int = google_crc32c.value(bytes(data))
    return bytes(data) + checksum.to_bytes(_SUM_BYTES, "little")


def decoded(data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Values:
    """The values of a chunk, whose bytes are those that were written: the zip has a stronger sum than its last four."""
    from numcodecs import blosc
    from numcodecs.vlen import VLenUTF8
    from numcodecs.zstd import Zstd

    body = memoryview(data)[:-_SUM_BYTES]
    if dtype.kind == "T":
        texts: Values = VLenUTF8().decode(Zstd().decode(body)).astype(dtype)
        return texts.reshape(shape)
    values = np.empty(shape, dtype.newbyteorder("<"))
    blosc.decompress(body, values)
    return values
