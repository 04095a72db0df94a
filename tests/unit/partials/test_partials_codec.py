from __future__ import annotations

import dataclasses
import hashlib
import json
import math

import numpy as np
import pytest
from test_partials_ledger import ledger

from pipeline.errors import StoreError
from pipeline.partials.codec import decode, decode_columns, encode, encode_columns
from pipeline.partials.exact import ExactSum
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.scores import Scores
from pipeline.partials.tally import Tally

PARTIALS = [
    Ledger.zero(),
    ledger(),
    ledger() + ledger(condition="noisy"),
    ExactSum.zero(),
    ExactSum.of(np.array([0.1, -1e300, math.inf])),
    Tally({"unmapped": 3}),
    Outcomes.of(ledger(), Tally({"unmapped": 3})),
    Outcomes(),
]

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


def counts(**changed: list[int]) -> np.ndarray:
    """Those of the ledger, some of them changed."""
    names = ("n_target", "n_nontarget", "n_target_yes", "n_nontarget_yes")
    return np.array([changed.get(name, getattr(ledger(), name).tolist()) for name in names]).astype(np.int8).view("u1")


def text_entries(n_offsets: int, n_bytes: int) -> list[object]:
    return [["a", "offsets", "|u1", [n_offsets]], ["a", "text", "|u1", [n_bytes]]]


@pytest.mark.parametrize("partial", PARTIALS, ids=lambda partial: type(partial).__name__)
def test_partials_come_back_equal_and_as_equal_bytes(partial):
    data = encode(partial)
    assert decode(data) == partial
    assert encode(decode(data)) == data


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
    with pytest.raises(StoreError, match="'x/1' is not one of"):
        decode(data)


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


@pytest.mark.parametrize(
    "change",
    [
        {"scores": Scores(np.array([0.5, -math.inf, 0.0, 0.5]), None)},
        {"scores": Scores(np.array([-math.inf, 0.5, -0.0, 0.5]), None)},
        {"scores": Scores(np.array([-math.inf, 0.5, math.nan, 0.5]), None)},
        {"scores": Scores(np.array([-1.0, 0.5, 0.0, 0.5]), None)},
        {"scores": Scores(np.array([-10, 5, 0, 5], np.int32), None)},
        {"scores": Scores(np.array([-10, 50, 0, 50], np.int32), 2)},
        {"scores": Scores(np.array([-10, 5, 0, 5], np.int32), -1)},
        {"scores": Scores(np.array([-10, 5, 0, 5], np.int32), 10)},
        {"scores": Scores(np.array([-10, 5, 0, 5]), 1)},
        {"scores": Scores(np.array([-(2**31), 5, 0, 5], np.int32), 1)},
        {"first": np.array([0, 2, 4])},
        {"first": np.array([0, 2, 5, 4])},
        {"first": np.array([0, 2, 1, 4])},
        {"first": np.array([1, 2, 4, 4])},
        {"first": np.array([0, 2, 4, 3])},
        {"first": np.array([0, 2, 4, 4], np.int32)},
        {"first": np.array([0, 1, 3, 4])},
        {"queries": ("b", "a", "silent")},
        {"queries": ("a", "a", "b")},
        {"omitted": np.array([[0, 2, -1]])},
        {"omitted": np.array([0, 2, 1])},
        {"counts": counts(n_target_yes=[2, 0, 1, 1])},
        {"counts": counts(n_target=[0, 0, 1, 1], n_target_yes=[0, 0, 1, 1])},
        {"counts": counts(n_nontarget_yes=[0, 1, 1, 3])},
        {"counts": counts().astype(np.int64)},
        {"counts": counts().astype(np.uint16)},
        {"counts": counts(n_target=[1, 0, 1, -1]).view(np.int8).astype(np.int64)},
    ],
)
def test_a_ledger_that_is_not_canonical_is_refused(change):
    with pytest.raises(StoreError, match="ledger/3"):
        decode(encode(dataclasses.replace(ledger(), **change)))


def test_what_is_said_to_be_no_ledger_would_be_one_otherwise():
    value = dataclasses.replace(ledger(), scores=Scores(np.array([-10, 5, 0, 5], np.int32), 1))
    assert decode(encode(value)) == value


@pytest.mark.parametrize(
    "meta",
    [{}, {"units": "0x1"}, {"units": "x", "infinite": [0, 0]}, {"units": "0x1", "infinite": [0, -1]}, {"units": 1}],
)
def test_an_exact_sum_that_is_none_is_refused(meta):
    with pytest.raises(StoreError, match="exact_sum/1"):
        decode(encode_columns(ExactSum.kind, {}, meta))
