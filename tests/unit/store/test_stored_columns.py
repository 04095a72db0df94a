from __future__ import annotations

import hashlib
import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import StoreError
from pipeline.store.columns import decode_columns, encode_columns

COLUMNS = {
    "f8": np.array([[0.0, -0.0, math.nan], [math.inf, 5e-324, 1.0]]),
    "i8": np.array([-1, 2**62]),
    "narrow": np.array([0, 255]),
    "i4": np.array([[[7]]], np.int32),
    "bool": np.array([True, False]),
    "empty": np.zeros((0, 3), np.int64),
    "scalar": np.array(3.5),
    "text": ("é", "", "two words", "\0"),
    "no text": (),
    "big endian": np.array([1.5, 2.5], ">f8"),
}


def sealed(header: object, payload: bytes = b"") -> bytes:
    """Bytes with a right digest, whatever they hold: what a hostile writer could make."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = b"rescore1" + len(text).to_bytes(8, "little") + text + payload
    return body + hashlib.sha256(body).digest()


def text_entries(n_offsets: int, n_bytes: int) -> list[object]:
    return [["a", "offsets", "|u1", [n_offsets]], ["a", "text", "|u1", [n_bytes]]]


def test_columns_come_back_bit_for_bit():
    columns, meta = decode_columns(encode_columns("x/1", COLUMNS, {"a": [1, math.inf], "b": {"c": "é"}}), "x/1")
    assert meta == {"a": [1, math.inf], "b": {"c": "é"}}
    assert columns.keys() == COLUMNS.keys()
    for name, column in COLUMNS.items():
        if isinstance(column, tuple):
            assert columns[name] == column
        else:
            assert (columns[name].dtype, columns[name].shape) == (column.dtype.newbyteorder("<"), column.shape)
            assert columns[name].tobytes() == column.astype(column.dtype.newbyteorder("<")).tobytes()
            assert not columns[name].flags.writeable


def test_the_order_of_columns_and_keys_does_not_change_the_bytes():
    one = encode_columns("x/1", {"a": np.arange(3), "b": ("x",)}, {"p": 1, "q": 2})
    assert one == encode_columns("x/1", {"b": ("x",), "a": np.arange(3)}, {"q": 2, "p": 1})


def test_integers_take_the_width_they_need():
    small = encode_columns("x/1", {"n": np.ones(10_000, np.int64)})
    assert 10_000 < len(small) < 10_500
    assert len(encode_columns("x/1", {"n": np.full(10_000, 256)})) > 20_000


@pytest.mark.parametrize("column", [np.array([object()]), np.array(["text"]), np.array([1j]), np.zeros(1, "M8[s]")])
def test_other_dtypes_are_not_written(column):
    with pytest.raises(ValueError, match="column a"):
        encode_columns("x/1", {"a": column})


def test_another_kind_or_edition_is_not_read():
    data = encode_columns("x/1", {})
    with pytest.raises(StoreError, match="'x/1' where 'x/2' was expected"):
        decode_columns(data, "x/2")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"rescore1",
        b"PK\x03\x04" + bytes(100),
        b"rescore1" + bytes(100),
        sealed(b"[]"),
        sealed(b"{"),
        sealed(b"[" * 100_000),
        sealed(b"\xff"),
        sealed({"kind": "x/1", "meta": {}}),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "<f8", "<f8", [1]]]}),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "<f8", "<f8", [2**60]]]}),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "<f8", "<f8", [2**62, 4]]]}),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "<f8", "<f8", [-1]]]}, bytes(8)),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "<f8", "<f8", [True]]]}, bytes(8)),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "|O", "|O", [1]]]}, bytes(8)),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "|O", "|u1", [8]]]}, bytes(8)),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "|u1", "<i8", [1]]]}, bytes(8)),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "|b1", "|b1", [8]]]}, b"\2" * 8),
        sealed({"kind": "x/1", "meta": {}, "columns": [["a", "text", "|u1", [8]]]}, bytes(8)),
        sealed({"kind": "x/1", "meta": {}, "columns": text_entries(1, 1)}, bytes(16)),
        sealed({"kind": "x/1", "meta": {}, "columns": text_entries(0, 0)}),
        sealed({"kind": "x/1", "meta": {}, "columns": text_entries(3, 1)}, bytes([0, 2, 1, 0, 0, 0, 0, 0]) + bytes(8)),
        sealed({"kind": "x/1", "meta": {}, "columns": text_entries(2, 1)}, b"\0\1" + bytes(6) + b"\xff" * 8),
        sealed({"kind": "x/1", "meta": {}, "columns": []}, bytes(8)),
        b"rescore1" + (2**63).to_bytes(8, "little") + bytes(40),
    ],
)  # fmt: skip
def test_what_is_not_ours_is_refused_before_anything_is_allocated(data):
    with pytest.raises(StoreError, match="damaged"):
        decode_columns(data, "x/1")


STORED = encode_columns("x/1", {"name": ("q1", "q2"), "score": np.array([0.5, -1.0])}, {"n": 2})


@given(st.data())
def test_damaged_bytes_are_never_read(data):
    position = data.draw(st.integers(0, len(STORED) - 1))
    flipped = bytearray(STORED)
    flipped[position] ^= 1 << data.draw(st.integers(0, 7))
    extra = data.draw(st.binary(min_size=1, max_size=9))
    cut = STORED[:position]
    for damaged in (bytes(flipped), cut, STORED + extra, extra + STORED, cut + STORED[position + 1 :]):
        with pytest.raises(StoreError):
            decode_columns(damaged, "x/1")


def test_every_single_bit_is_guarded():
    for position, bit in itertools.product(range(len(STORED)), range(8)):
        damaged = bytearray(STORED)
        damaged[position] ^= 1 << bit
        with pytest.raises(StoreError):
            decode_columns(bytes(damaged), "x/1")
