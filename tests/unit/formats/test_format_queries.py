from __future__ import annotations

import codecs

import pytest

from pipeline.formats.kws.queries import total_dur_s

QUERIES = 'query,example,dur_s\nq1,q1_01.wav,0.1\nq1,"b ""x"", y.wav",0.2\r\n\nq2,q2.wav, 7e-1\n'


def test_examples_keep_their_names_and_order(read) -> None:
    examples = read("queries", QUERIES)
    assert examples.text("query") == ["q1", "q1", "q2"]
    assert examples.text("example") == ["q1_01.wav", 'b "x", y.wav', "q2.wav"]
    assert examples["dur_s"].tolist() == [0.1, 0.2, 0.7]
    assert examples["line"].tolist() == [2, 3, 5]


def test_the_total_counts_every_example_and_is_correctly_rounded(read) -> None:
    rows = "".join(f"q,e{n},0.1\n" for n in range(10))
    assert total_dur_s(read("queries", f"query,example,dur_s\n{rows}")) == 1.0
    assert total_dur_s(read("queries", "query,example,dur_s\n")) == 0.0


def test_a_byte_order_mark_is_no_part_of_the_header(read) -> None:
    assert len(read("queries", codecs.BOM_UTF8 + QUERIES.encode())) == 3


def test_every_problem_is_reported_at_once(refused) -> None:
    content = "query,example,dur_s\nq,,1\nq,a,0\nq,a,-1\nq,b,NaN\nq,c\n,d,1\nq,e,1,\n"
    assert refused("queries", content) == [
        ("f:2", "empty_name"),
        ("f:3", "bad_duration"),
        ("f:4", "duplicate_example"),
        ("f:4", "bad_duration"),
        ("f:5", "not_a_number"),
        ("f:6", "field_count"),
        ("f:7", "empty_name"),
        ("f:8", "field_count"),
    ]


@pytest.mark.parametrize("header", ["example,query,dur_s", "query,example", "query;example;dur_s", "q1,a,1"])
def test_another_header_is_refused(refused, header: str) -> None:
    assert refused("queries", f"{header}\n")[0] == ("f:1", "bad_header")


def test_an_empty_file_is_refused(refused) -> None:
    assert refused("queries", "") == [("f", "bad_header")]


@pytest.mark.parametrize("row", ['q,"a,1', 'q,"a"b,1', 'q,"' + "a" * 200_000 + '",1'])
def test_broken_quoting_is_refused(refused, row: str) -> None:
    ((where, code),) = refused("queries", f"query,example,dur_s\n{row}\n")
    assert where == "f:2"
    assert code in {"csv_malformed", "line_too_long"}
