"""Names made from contents: equal contents get equal names, on every machine and in every year."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_READ_BYTES = 1 << 20
_FLOAT = ""
"""The key that marks a float; no mapping may use it."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """A part of addresses in the form in which it enters them, made once for many."""

    text: str

    @classmethod
    def of(cls, part: Any) -> Canonical:
        """The canonical form of a part. Raises as ``address`` does."""
        return cls(json.dumps(_canonical(part), sort_keys=True, separators=(",", ":"), allow_nan=False))


def address(kind: str, **parts: Any) -> str:
    """SHA-256, 64 hex digits, of the canonical JSON of ``kind`` and ``parts``.

    Parts are None, booleans, integers, floats, text, sequences and mappings with non-empty text keys, to any depth;
    numpy scalars count as Python's, and a ``Canonical`` as what it was made of. Floats enter by all their bits: 1 and
    1.0 differ. Raises ``ValueError`` on NaN and on anything else.
    """
    texts = ((name, part if isinstance(part, Canonical) else Canonical.of(part)) for name, part in parts.items())
    fields = ",".join(f"{json.dumps(name)}:{part.text}" for name, part in sorted(texts, key=lambda one: one[0]))
    return digest_bytes(f"[{json.dumps(kind)},{{{fields}}}]".encode())


def digest_bytes(data: bytes) -> str:
    """SHA-256 of ``data``, 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_stream(stream: BinaryIO) -> tuple[str, int]:
    """SHA-256 (64 hex digits) and number of bytes of the rest of a binary stream, read in pieces of 1 MiB."""
    digest, n_bytes = hashlib.sha256(), 0
    while piece := stream.read(_READ_BYTES):
        digest.update(piece)
        n_bytes += len(piece)
    return digest.hexdigest(), n_bytes


def digest_columns(columns: Mapping[str, NDArray[Any] | tuple[str, ...]]) -> str:
    """SHA-256, 64 hex digits, of named arrays and tuples of text.

    Dtype, shape and little-endian bytes of every column count; their order in the mapping, byte order and memory
    layout do not. Bits count: 0.0 and -0.0 differ. Raises ``ValueError`` on other dtypes than bool, integer, float.
    """
    digest = hashlib.sha256()
    for name in sorted(columns):
        column = columns[name]
        if isinstance(column, tuple):
            texts = [text.encode() for text in column]
            head, pieces = ["text", list(map(len, texts))], [memoryview(b"".join(texts))]
        else:
            array = _little_endian(name, column)
            head, pieces = [array.dtype.str, list(array.shape)], [array.reshape(-1).view(np.uint8).data]
        header = json.dumps([name, *head]).encode()
        digest.update(len(header).to_bytes(8, "little") + header)
        for piece in pieces:
            digest.update(piece)
    return digest.hexdigest()


def _little_endian(name: str, column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.kind not in "biuf":
        raise ValueError(f"column {name}: dtype {column.dtype} has no digest (bool, integer or float)")
    return np.ascontiguousarray(column, column.dtype.newbyteorder("<"))


def _canonical(value: Any) -> Any:
    """JSON in which different values are different texts: a float is {"": its hexadecimal form}."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("NaN has no address")
        return {_FLOAT: value.hex()}
    if isinstance(value, list | tuple):
        return [item if type(item) is str else _canonical(item) for item in value]
    if isinstance(value, Mapping) and _FLOAT not in value and all(isinstance(key, str) for key in value):
        return {key: item if type(item) is str else _canonical(item) for key, item in value.items()}
    raise ValueError(f"{type(value).__name__} has no address (None, bool, int, float, text, sequences, mappings)")
