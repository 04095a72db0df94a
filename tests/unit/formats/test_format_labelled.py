"""Labelled scores are read whatever their columns are called, and refused with every problem."""

from __future__ import annotations

import io

import pytest

from pipeline.errors import InputError
from pipeline.formats import READERS

GOOD = b"query,reference,label,prediction\nq,a,1,0.5\nq,b,0,-inf\nr,a,False,1e3\n"


def read(data: bytes):
    return READERS["labelled"](io.BytesIO(data), "scores.csv")


def test_columns_by_their_names():
    table = read(GOOD)
    assert table.rows.text("query") == ["q", "q", "r"]
    assert table.rows.text("document") == ["a", "b", "a"]
    assert table.rows["label"].tolist() == [True, False, False]
    assert table.rows["score"].tolist() == [0.5, float("-inf"), 1000.0]
    assert table.has_queries
    assert not table.has_decisions


def test_without_queries_all_trials_are_of_one():
    table = read(b"score,trial,target,decision,more\n1,a,target,yes,x\n0,b,nontarget,0,y\n")
    assert table.rows.text("query") == ["all", "all"]
    assert table.rows["decision"].tolist() == [True, False]
    assert [one.code for one in table.findings] == ["unknown_column"]


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"", "no_rows", ""),
        (b"document,label,score\n", "no_rows", ""),
        (b"document,label\na,1\n", "bad_header", ":1"),
        (b"document,trial,label,score\na,a,1,1\n", "duplicate_column", ":1"),
        (b"document,label,score\na,1,nan\n", "nan_score", ":2"),
        (b"document,label,score\na,1,high\n", "not_a_number", ":2"),
        (b"document,label,score\na,2,1\n", "bad_label", ":2"),
        (b"document,label,score,decision\na,1,1,maybe\n", "bad_decision", ":2"),
        (b"document,label,score\na,1\n", "field_count", ":2"),
        (b"document,label,score\n,1,1\n", "empty_name", ":2"),
        (b"document,label,score\na,1,1\na,0,2\n", "duplicate_trial", ":3"),
        (b'document,label,score\n"a,1,1\n', "csv_malformed", ":2"),
    ],
)
def test_what_is_refused(data, code, line):
    with pytest.raises(InputError) as refused:
        read(data)
    assert (code, f"scores.csv{line}") in {(one.code, one.where) for one in refused.value.findings}
