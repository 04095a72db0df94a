"""Tables of results as bytes, as columns and as CSV: undefined, infinite and missing values, and names of any kind."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

from pipeline.engine import jsonbytes
from pipeline.engine.rows import columns_of
from pipeline.report.long_tables import LongTable, TextColumns


@pytest.mark.parametrize("name", ["plain", "Ω \u2028", "no Unicode \udc80"])
def test_names_of_any_kind_come_back(name: str) -> None:
    value = {name: [1, 0.1, math.nan, {"of": name}], "a": ()}
    assert jsonbytes.loads(jsonbytes.dumps(value, sort_keys=True)) == {"a": [], name: [1, 0.1, None, {"of": name}]}


def test_columns_are_numbers_or_text() -> None:
    rows = ({"id": "b", "n": 2, "x": None, "yes": True}, {"id": "a", "n": 3, "x": "inf", "yes": False})
    columns = columns_of(rows)
    assert columns["id"] is None
    assert {name: column.tolist() for name, column in columns.items() if column is not None}.keys() == {"n", "x", "yes"}
    np.testing.assert_array_equal(columns["x"], [math.nan, math.inf])
    np.testing.assert_array_equal(columns["yes"], [1.0, 0.0])


def test_rows_may_name_different_things() -> None:
    columns = columns_of(({"n": 2}, {"m": 0.5, "n": 1}, {"m": -1.0}))
    assert list(columns) == ["n", "m"]
    np.testing.assert_array_equal(columns["m"], [math.nan, 0.5, -1.0])
    assert columns_of(()) == {}


def test_a_long_table_reads_back_to_the_same_bits() -> None:
    numbers = np.array([[0.1, math.nan], [1e-300, math.inf], [-math.inf, 1e22], [1 / 3, -0.0]])
    named = TextColumns(("system", "team"), (("=1+1", 'a "b", c'), ("s\udc80", "")), np.array([0, 1, 1, 0]))
    table = LongTable((named,), ("x", "y"), numbers)
    read = list(csv.DictReader(io.StringIO(table.csv().decode(), newline="")))
    assert [row["team"] for row in read] == ['a "b", c', "", "", 'a "b", c']
    assert read[0]["system"] == "'=1+1"
    found = [[float(row[name]) if row[name] else math.nan for name in ("x", "y")] for row in read]
    np.testing.assert_array_equal(found, numbers)
    assert table.rows()[3] == {"system": "=1+1", "team": 'a "b", c', "x": 1 / 3, "y": -0.0}
