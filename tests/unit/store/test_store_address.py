from __future__ import annotations

import hashlib
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.store.address import address, digest_bytes, digest_columns, digest_stream

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3),
    max_leaves=6,
)


def exact(value):
    """A value in which 1, 1.0 and True, or 0.0 and -0.0, are told apart by ``==``."""
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return type(value).__name__, repr(value)


def test_an_address_is_the_digest_of_canonical_json():
    expected = hashlib.sha256(b'["partial",{"a":{"":"0x1.0000000000000p-1"},"b":[1,"x",null]}]').hexdigest()
    assert address("partial", b=(1, "x", None), a=0.5) == expected


def test_order_of_parts_does_not_matter_but_kind_and_types_do():
    assert address("k", a=1, b={"x": 1, "y": 2}) == address("k", b={"y": 2, "x": 1}, a=1)
    assert len({address("k", a=1), address("k", a=1.0), address("k", a="1"), address("k", a=True)}) == 4
    assert address("k", a=1) != address("l", a=1)
    assert address("k", a=0.0) != address("k", a=-0.0)


def test_numpy_scalars_are_pythons():
    assert address("k", a=np.float64(0.1), b=np.int32(2), c=np.bool_(True)) == address("k", a=0.1, b=2, c=True)


@pytest.mark.parametrize("value", [float("nan"), [np.float64("nan")], {1: 2}, {"": 1}, {1}, b"x", object()])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(ValueError, match="has no address"):
        address("k", value=value)


@given(VALUES, VALUES)
def test_different_values_have_different_addresses(left, right):
    assert (address("k", v=left) == address("k", v=right)) == (exact(left) == exact(right))


def test_digests_of_bytes_and_streams_agree():
    data = bytes(range(256)) * 10_000
    assert digest_stream(io.BytesIO(data)) == (digest_bytes(data), len(data))
    assert digest_bytes(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_digest_of_columns_sees_contents_and_not_layout():
    columns = {"a": np.arange(6.0).reshape(2, 3), "n": ("x", "yz")}
    same = {"n": ("x", "yz"), "a": np.asfortranarray(np.arange(6.0).reshape(2, 3)).astype(">f8")}
    assert digest_columns(columns) == digest_columns(same)
    assert digest_columns({"a": np.arange(6)[::2]}) == digest_columns({"a": np.array([0, 2, 4])})


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": np.array([1, 2])}, {"b": np.array([1, 2])}),
        ({"a": np.array([1, 2])}, {"a": np.array([2, 1])}),
        ({"a": np.array([1, 2])}, {"a": np.array([[1, 2]])}),
        ({"a": np.array([1, 2])}, {"a": np.array([1, 2], np.int32)}),
        ({"a": np.array([0.0])}, {"a": np.array([-0.0])}),
        ({"a": np.zeros(0)}, {"a": np.zeros(0, np.int64)}),
        ({"a": ("xy", "z")}, {"a": ("x", "yz")}),
        ({"a": ()}, {"a": ("",)}),
        ({"a": np.array([1]), "b": np.array([2])}, {"a": np.array([2]), "b": np.array([1])}),
        ({}, {"a": ()}),
    ],
)
def test_different_columns_have_different_digests(left, right):
    assert digest_columns(left) != digest_columns(right)


def test_columns_of_objects_have_no_digest():
    with pytest.raises(ValueError, match="column a"):
        digest_columns({"a": np.array([object()])})
