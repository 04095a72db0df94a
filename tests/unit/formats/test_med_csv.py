"""The CSV dialect of MED tables, cell by cell."""

from __future__ import annotations

import io

import numpy as np
import pytest

from pipeline.errors import SHOWN_AT_MOST, InputError
from pipeline.formats import READERS
from pipeline.formats.med.csv import MedTable
from pipeline.formats.textlines import LINE_BYTES_AT_MOST

INDEX = "TrialID,ClipID,EventID\n"


def _read(role: str, text: str | bytes) -> MedTable:
    data = text if isinstance(text, bytes) else text.encode()
    return READERS[f"med_{role}"](io.BytesIO(data), f"{role}.csv")


def _refused(role: str, text: str | bytes) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        _read(role, text)
    return [(finding.code, finding.where) for finding in caught.value.findings]


def test_quoted_plain_and_mixed_fields_with_doubled_quotes_and_commas():
    table = _read("eventdb", 'EventID,"EventName"\n"E1","Say ""cheese"", please"\nE2,plain\n').table
    assert table.text("EventName") == ['Say "cheese", please', "plain"]
    assert table["line"].tolist() == [2, 3]


def test_columns_may_stand_in_any_order_with_others_between():
    table = _read("index", "NOTE,EventID,TrialID,ClipID\nx,E1,t1,c1\n").table
    assert [table.text(name) for name in ("TrialID", "ClipID", "EventID")] == [["t1"], ["c1"], ["E1"]]
    assert "NOTE" not in table.columns


def test_empty_lines_at_the_end_are_fine_and_between_records_are_not():
    assert len(_read("index", INDEX + "t1,c1,E1\n\n  \n\n").table) == 1
    assert _refused("index", INDEX + "\nt1,c1,E1\n\n\nt2,c1,E1\n") == [
        ("blank_line", "index.csv:2"),
        ("blank_line", "index.csv:4"),
    ]


def test_numbers_in_every_spelling_python_and_people_use():
    text = "TrialID,Score\na,1\nb,.5\nc,+0.25\nd, 0.125 \ne,5e-05\n"
    assert _read("detection", text).table["Score"].tolist() == [1.0, 0.5, 0.25, 0.125, 5e-05]


def test_every_problem_of_a_file_is_told_at_once():
    found = _refused("detection", "TrialID,Score\na,nan\n,0.5\nc,inf\nc,0.5\nd;0.5\n")
    assert found == [
        ("field_count", "detection.csv:6"),
        ("empty_name", "detection.csv:3"),
        ("duplicate_id", "detection.csv:5"),
        ("not_a_number", "detection.csv:2"),
        ("not_a_number", "detection.csv:4"),
    ]


def test_many_problems_are_counted_and_the_first_shown():
    rows = "".join(f"t{i},x\n" for i in range(1000))
    with pytest.raises(InputError) as caught:
        _read("detection", "TrialID,Score\n" + rows)
    assert (len(caught.value.findings), caught.value.count) == (SHOWN_AT_MOST, 1000)


@pytest.mark.parametrize("row", ['"a, b\n', '"a"b,0.5\n', 'a"b,0.5\n', '"a" ,0.5\n', '"a\nb",0.5\n'])
def test_a_quote_out_of_place_is_malformed(row: str):
    assert ("csv_malformed", "detection.csv:2") in _refused("detection", "TrialID,Score\n" + row)


def test_curly_quotes_are_named_in_identifiers_and_kept_in_prose():
    with pytest.raises(InputError, match=r"TrialID has the character “ \(U\+201C LEFT DOUBLE QUOTATION MARK\)"):
        _read("detection", "TrialID,Score\n“a”,0.5\n")
    judged = _read("judgement", "ClipID,EventID,SYNOPSIS\nc1,E1,a “nice” day\n").table
    assert judged.text("SYNOPSIS") == ["a “nice” day"]


def test_bytes_that_are_no_utf8_matter_only_where_they_are_read():
    latin = "TrialID,ClipID,EventID,NOTE\nt1,c1,E1,caf\xe9\n".encode("latin-1")
    assert _read("index", latin).table.text("TrialID") == ["t1"]
    assert _refused("eventdb", "EventID,EventName\nE1,caf\xe9\n".encode("latin-1")) == [("not_utf8", "eventdb.csv:2")]
    assert _refused("index", INDEX.encode("utf-16")) == [("not_utf8", "index.csv:1")]


def test_hostile_sizes_are_refused_early():
    assert _refused("index", INDEX + "x" * (LINE_BYTES_AT_MOST + 70_000)) == [("line_too_long", "index.csv:2")]
    assert _refused("index", "") == [("bad_header", "index.csv")]


def test_records_across_chunks_keep_their_lines():
    n = 20_000
    text = INDEX + "".join(f"trial-{i:06d},clip-{i:06d},E1\n" for i in range(n))
    table = _read("index", text.replace("\n", "\r\n") + "\r\n").table
    assert table["line"].tolist() == list(range(2, n + 2))
    assert table.vocabularies["TrialID"][-1] == f"trial-{n - 1:06d}"


def test_ranks_are_whole_numbers():
    assert _read("detection", "TrialID,Rank\na,1\nb,2.0\n").table["Rank"].tolist() == [1.0, 2.0]
    assert _refused("detection", "TrialID,Rank\na,1.5\nb,0\nc,-1\n") == [
        ("bad_rank", f"detection.csv:{line}") for line in (2, 3, 4)
    ]
    assert _refused("detection", "TrialID,Points\na,1\n") == [("bad_header", "detection.csv:1")]


def test_times_that_are_no_numbers_are_left_out_with_a_warning():
    table = _read("threshold", "EventID,DetectionThreshold,DetectionTPT\nE1,0.5,soon\nE2,0.5,2\n")
    assert np.isnan(table.table["DetectionTPT"]).tolist() == [True, False]
    assert [(finding.code, finding.where) for finding in table.findings] == [("bad_time", "threshold.csv:2")]


def test_a_key_is_exactly_y_or_n():
    assert _read("ref", "TrialID,Targ\na,y\nb,n\n").table.text("Targ") == ["y", "n"]
    assert _refused("ref", "TrialID,Targ\na,Y\nb,n \nc,\n") == [("bad_targ", f"ref.csv:{line}") for line in (2, 3, 4)]
