"""Columns as bytes and back: deterministic, sealed, and checked before anything is allocated.

Layout: magic, header length (u8), JSON header padded to 8 bytes, each column as raw little-endian values padded to
8 bytes, SHA-256 of all that. Integers are stored in the narrowest width that holds them. No pickle, no compression:
what is read back is at most eight times the bytes that were read.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import DamageError

Column = NDArray[Any] | tuple[str, ...]

_MAGIC = b"rescore1"
_HEADER_AT = len(_MAGIC) + 8
_SEAL = 32
_LARGEST_HEADER = 1 << 20
_DTYPES = frozenset(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)) | {"|b1", "|i1", "|u1"}
_NARROW = (np.dtype("|u1"), np.dtype("<u2"), np.dtype("<i4"))
_TEXT, _OFFSETS = "text", "offsets"


def encode_columns(kind: str, columns: Mapping[str, Column], meta: Mapping[str, Any] | None = None) -> bytes:
    """Named arrays (bool, integer or float, any shape) and tuples of text with JSON metadata, as sealed bytes.

    ``kind`` names what this is, with its edition (``table/1``); reading asks for it again. Columns are written in
    the order of their names. NaN and infinities may stand in the metadata. Raises ``ValueError`` on other dtypes.
    """
    stored = [entry for name in sorted(columns) for entry in _stored(name, columns[name])]
    listed = [[name, dtype, array.dtype.str, list(array.shape)] for name, dtype, array in stored]
    header = {"kind": kind, "meta": dict(meta or {}), "columns": listed}
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _LARGEST_HEADER:
        raise ValueError(f"the header has {len(text)} bytes, at most {_LARGEST_HEADER} are read back")
    parts: list[Any] = [_MAGIC, len(text).to_bytes(8, "little"), text]
    for _, _, array in stored:
        parts += [np.ascontiguousarray(array).reshape(-1).view(np.uint8), bytes(-array.nbytes % 8)]
    seal = hashlib.sha256()
    for part in parts:
        seal.update(part)
    return b"".join([*parts, seal.digest()])


def decode_columns(data: bytes, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns and metadata that ``encode_columns`` wrote under this ``kind``; arrays are read-only.

    Raises ``StoreError`` on any damage and where the bytes are of another kind or edition.
    """
    found, columns, meta = _unpack(data)
    if found != kind:
        raise _damage(f"kind {found!r} where {kind!r} was expected")
    return columns, meta


def check_columns(data: bytes) -> None:
    """Raise ``DamageError`` unless the bytes are those that ``encode_columns`` wrote, whatever their kind."""
    _unpack(data)


def _stored(name: str, column: Column) -> Iterator[tuple[str, str, NDArray[Any]]]:
    """(name, logical dtype, array to write): one entry for an array, offsets and bytes for text."""
    if isinstance(column, tuple):
        texts = [text.encode() for text in column]
        offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        yield name, _OFFSETS, _narrowed(offsets)
        yield name, _TEXT, np.frombuffer(b"".join(texts), np.uint8)
        return
    array = column.astype(column.dtype.newbyteorder("<"), copy=False)
    if array.dtype.str not in _DTYPES:
        raise ValueError(f"column {name}: dtype {column.dtype} cannot be stored (bool, integer or float)")
    yield name, array.dtype.str, _narrowed(array)


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind not in "iu" or array.dtype.itemsize == 1:
        return array
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for dtype in _NARROW:
        limits = np.iinfo(dtype)
        if dtype.itemsize < array.dtype.itemsize and limits.min <= low and high <= limits.max:
            return array.astype(dtype)
    return array


def _unpack(data: bytes | memoryview) -> tuple[str, dict[str, Any], dict[str, Any]]:
    body = memoryview(data)[:-_SEAL]
    if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEADER_AT + _SEAL:
        raise _damage("it does not begin as one")
    if hashlib.sha256(body).digest() != data[-_SEAL:]:
        raise _damage("its SHA-256 does not match")
    length = int.from_bytes(data[len(_MAGIC) : _HEADER_AT], "little")
    if length > min(_LARGEST_HEADER, len(body) - _HEADER_AT):
        raise _damage(f"its header cannot have {length} bytes")
    try:
        header = json.loads(bytes(body[_HEADER_AT : _HEADER_AT + length]))
        entries = [(str(name), str(dtype), *_array_type(*stored)) for name, dtype, *stored in header["columns"]]
        columns = _read_columns(entries, body[_HEADER_AT + length :])
        return str(header["kind"]), columns, dict(header["meta"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damage(str(error)) from error


def _array_type(stored: str, shape: list[int]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if stored not in _DTYPES or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"no array has dtype {stored!r} and shape {shape}")
    return np.dtype(stored), tuple(shape)


def _read_columns(
    entries: list[tuple[str, str, np.dtype[Any], tuple[int, ...]]], payload: memoryview
) -> dict[str, Any]:
    """Arrays over ``payload``; sizes are settled against it before anything is allocated."""
    sizes = [math.prod(shape) * dtype.itemsize for _, _, dtype, shape in entries]
    ends = np.cumsum([0] + [size + -size % 8 for size in sizes], dtype=object).tolist()
    if ends[-1] != len(payload):
        raise ValueError(f"the columns need {ends[-1]} bytes where {len(payload)} follow the header")
    columns: dict[str, Any] = {}
    offsets: NDArray[Any] | None = None
    for (name, dtype, stored, shape), start, size in zip(entries, ends[:-1], sizes, strict=True):
        array = np.frombuffer(payload[start : start + size], stored).reshape(shape)
        if dtype == _OFFSETS:
            offsets = array
        elif dtype == _TEXT and offsets is not None:
            columns[name] = _read_text(offsets, array.tobytes())
        else:
            columns[name] = _widened(array, dtype)
    return columns


def _read_text(offsets: NDArray[Any], text: bytes) -> tuple[str, ...]:
    ends = offsets.tolist()
    if offsets.ndim != 1 or ends[:1] != [0] or ends[-1] != len(text) or any(a > b for a, b in pairwise(ends)):
        raise ValueError("text offsets do not cover the text")
    return tuple(text[start:end].decode() for start, end in pairwise(ends))


def _widened(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    if dtype not in _DTYPES or np.dtype(dtype).itemsize < array.dtype.itemsize:
        raise ValueError(f"no column of dtype {dtype!r} is stored as {array.dtype}")
    if dtype == "|b1" and array.view(np.uint8).max(initial=0) > 1:
        raise ValueError("a boolean column holds other bytes than 0 and 1")
    result = array.astype(dtype, copy=False)
    result.flags.writeable = False
    return result


def _damage(what: str) -> DamageError:
    return DamageError(f"stored columns are damaged: {what}. Remove the object and run again; it is computed anew.")
