"""Rows in little room: the same rows, and numbers as bits."""

import math
import struct
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.engine.jsonbytes import dumps
from pipeline.engine.packed_rows import PackedRows, packed
from pipeline.engine.rows import columns_of

VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
ROWS = st.lists(st.fixed_dictionaries({"id": st.text(), "n": st.integers(), "x": st.floats(), "any": VALUES}))


def told(value: Any) -> Any:
    """A value with its type; a float by its bits."""
    return (type(value), struct.pack("<d", value) if isinstance(value, float) else value)


@given(ROWS)
def test_rows_come_back_with_types_and_bits(rows: list[dict[str, Any]]) -> None:
    found = packed(rows)
    assert [[(name, told(value)) for name, value in row.items()] for row in found] == [
        [(name, told(value)) for name, value in row.items()] for row in rows
    ]
    assert [list(found[at].items()) for at in range(len(rows))] == [list(row.items()) for row in found]
    assert len(found) == len(rows)


@given(ROWS)
def test_columns_of_packed_rows_are_those_of_the_rows(rows: list[dict[str, Any]]) -> None:
    plain = [{**row, "any": None if isinstance(row["any"], int) else row["any"], "n": row["n"] % 2**53} for row in rows]
    numbers, others = columns_of(packed(plain)), columns_of(plain)
    assert list(numbers) == list(others)
    for name, column in others.items():
        found = numbers[name]
        assert (found is None) == (column is None)
        assert found is None or column is None or found.tobytes() == column.tobytes()


def test_rows_that_name_other_values_stay_as_they_are() -> None:
    rows = [{"a": 1.0, "b": 2}, {"b": 2, "a": 1.0}]
    assert packed(rows) == tuple(rows)
    assert packed([]) == ()
    assert packed([{}]) == ({},)


def test_packed_rows_are_equal_to_rows_and_slice_as_they_do() -> None:
    rows = [{"id": f"q{n}", "x": n / 3, "n": n, "y": None} for n in range(5)]
    found = packed(rows)
    assert isinstance(found, PackedRows)
    assert found == rows
    assert found == packed(list(rows))
    assert found != rows[:4]
    assert list(found[1:3]) == rows[1:3]
    assert found[-1] == rows[-1]
    assert dumps(list(found)) == dumps(rows)
    with pytest.raises(IndexError):
        found[5]


def test_packed_rows_take_a_third_of_the_room() -> None:
    rows = [{"id": "q", **{f"x{k}": math.sqrt(n + 7.0 * k) for k in range(12)}} for n in range(200)]
    found = packed(rows)
    assert isinstance(found, PackedRows)
    whole = sum(sys.getsizeof(row) + sum(map(sys.getsizeof, row.values())) for row in rows)
    assert 3 * sum(map(sys.getsizeof, found.columns.values())) < whole
