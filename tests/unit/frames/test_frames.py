"""Frames of every library are read as the file that they would be."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray as xr

from pipeline.engine.given import read_as
from pipeline.errors import InputError, UsageError
from pipeline.formats import READERS
from pipeline.frames import PLACES, form_of

DETECTIONS: dict[str, Any] = {
    "query": ["q2", "q1", "q2", "a&b"],
    "file": ["f1", "f2", "f1", 'd/"x".sph'],
    "begin": [0.1, 3.0, 1e-7, 12.345678901234567],
    "duration": [0.5, 0.25, 0.5, 1.0],
    "score": [0.1, -np.inf, 2.0**-40, 3.0],
    "decision": [True, False, True, False],
}
FORMAT = "kwslist"
NO_TABLES = {"glm"}
"""Formats of rules."""


def rows(value: Any, **more: Any) -> list[tuple[Any, ...]]:
    """The detections as the reader has them: names, numbers and decisions."""
    table = read_as(FORMAT, "output", value if not more else {**value, **more}).table.detections
    names = [table.text(name) for name in ("query", "file", "channel")]
    numbers = [table[name].tolist() for name in ("begin_s", "dur_s", "score", "decision")]
    return sorted(zip(*names, *numbers, strict=True))


EXPECTED = sorted(
    (query, file, "1", begin, duration, score, decision)
    for query, file, begin, duration, score, decision in zip(*DETECTIONS.values(), strict=True)
)


@pytest.mark.parametrize(
    "make",
    [
        dict,
        lambda columns: {name: np.array(column) for name, column in columns.items()},
        pd.DataFrame,
        lambda columns: pd.DataFrame(columns).convert_dtypes(),
        lambda columns: pd.DataFrame(columns).assign(query=lambda frame: frame["query"].astype("category")),
        lambda columns: pd.DataFrame(columns).set_index(pd.Index([7, 7, 3, 1])),
        pa.table,
        lambda columns: pa.table(columns).set_column(0, "query", pa.array(columns["query"]).dictionary_encode()),
        pa.RecordBatch.from_pydict,
        lambda columns: xr.Dataset({name: ("trial", column) for name, column in columns.items()}),
        lambda columns: pd.DataFrame(columns).to_records(index=False),
    ],
    ids=("lists arrays pandas nullable categories index arrow arrow-dictionary record-batch xarray records".split()),
)
def test_every_kind_of_frame_says_the_same(make):
    assert rows(make(DETECTIONS)) == EXPECTED


def test_a_stream_of_arrow_needs_nothing_else():
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table(DETECTIONS).__arrow_c_stream__(requested_schema)

    assert rows(Stream()) == EXPECTED


def test_a_frame_of_polars_says_the_same():
    polars = import_module("polars")
    assert rows(polars.DataFrame(DETECTIONS)) == EXPECTED


def test_single_values_stand_for_constant_columns():
    made = read_as("ecf", "ecf", {"file": ["a", "b"], "begin": 0, "duration": [1, 2], "source_signal_duration": 3})
    assert made.table.source_signal_duration_s == 3
    assert made.table.excerpts.text("channel") == ["1", "1"]


def test_narrow_numbers_are_the_doubles_they_are():
    narrow = np.array(DETECTIONS["score"], np.float32)
    assert {row[5] for row in rows(DETECTIONS, score=narrow)} == set(narrow.astype(np.float64).tolist())


def test_the_source_of_a_frame_is_the_file_that_it_would_be():
    written = form_of(FORMAT).written(DETECTIONS, "output").text
    frame, file = read_as(FORMAT, "output", DETECTIONS), read_as(FORMAT, "output", io.BytesIO(written))
    assert frame.source == file.source


@pytest.mark.parametrize(
    ("change", "code", "row", "told"),
    [
        ({"score": [0.1, 2.0, np.nan, 1.0]}, "nan_score", 2, "score is 'nan'"),
        ({"score": [0.1, "much", 1.0, 1.0]}, "not_a_number", 1, "'much'"),
        ({"score": [0.1, None, 1.0, 1.0]}, "nan_score", 1, "nan"),
        ({"begin": [0.1, 2.0, 1.0, np.inf]}, "not_a_number", 3, "'inf'"),
        ({"decision": ["YES", "NO", "maybe", "NO"]}, "bad_decision", 2, "'maybe'"),
        ({"file": ["f", "", "f", "f"]}, "empty_attribute", 1, "file"),
        ({"min_score": 0.5, "max_score": 9}, "score_outside_range", 0, "0.1"),
    ],
)
def test_what_readers_refuse_is_refused_by_rows(change, code, row, told):
    with pytest.raises(InputError) as refused:
        rows(DETECTIONS, **change)
    finding = next(one for one in refused.value.findings if one.code == code)
    assert finding.where == f"output, row {row}"
    assert told in finding.message


def test_messages_name_rows_where_readers_name_lines():
    queries = {"query": ["a", "b", "a"], "text": ["x", "y", "z"]}
    with pytest.raises(InputError, match=r"kwlist, row 2: .*first in row 0"):
        read_as("kwlist", "kwlist", queries)


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ({"query": ["q"], "file": ["f"]}, "no column begin, duration, score, decision"),
        ({**DETECTIONS, "score": [1.0]}, "several lengths"),
        ({**DETECTIONS, "score": np.zeros((4, 2))}, "more than one dimension"),
        ({**DETECTIONS, "system_id": ["a", "a", "b", "a"]}, "system_id is 'b'"),
    ],
)
def test_what_is_no_frame_of_its_format_is_refused(frame, told):
    with pytest.raises(InputError, match=told):
        rows(frame)


def test_what_is_no_input_at_all_is_refused():
    with pytest.raises(UsageError, match="output is a int"):
        read_as(FORMAT, "output", 7)


def test_columns_that_mean_nothing_are_told():
    read = read_as(FORMAT, "output", {**DETECTIONS, "colour": "red"})
    assert [one.code for one in read.findings] == ["unknown_column"]


@pytest.mark.parametrize("value", ["two words", "", ";;x", "tab\tbed", "line\nfeed"])
def test_a_name_that_would_be_two_fields_of_a_line_is_refused(value):
    key = {"file": ["f", value], "begin": 0.0, "duration": 1.0, "token": "w"}
    with pytest.raises(InputError, match="rttm, row 1: file is"):
        read_as("rttm", "rttm", key)


def test_queries_without_detections_have_blocks():
    frame = {name: [*column, np.nan] for name, column in DETECTIONS.items()}
    frame |= {"query": [*DETECTIONS["query"], "q9"], "file": [*DETECTIONS["file"], None]}
    frame["decision"] = [*DETECTIONS["decision"], None]
    output = read_as(FORMAT, "output", frame).table
    assert output.blocks.text("query") == ["q2", "q1", "a&b", "q9"]
    assert len(output.detections) == 4


def test_every_format_has_a_form_and_every_form_a_format():
    assert {name.removesuffix("_texts") for name in READERS} - set(PLACES) <= NO_TABLES
    assert set(PLACES) <= set(READERS)
    assert all(form_of(name).columns or name == "resources" for name in PLACES)
