from __future__ import annotations

import codecs

import numpy as np
import pytest


def test_records_of_the_four_kinds_are_kept_in_file_order(read) -> None:
    rttm = read(
        "rttm",
        ";; a comment\n"
        "SPKR-INFO f1 1 <NA> <NA> <NA> adult_male ann <NA>\n"
        "SPEAKER f1 1 0.0 10.0 <NA> <NA> ann <NA>\n"
        "\n"
        "lexeme f1 1 1.25 0.50 Kitabu lex ann 0.9 ;; trailing comment\n"
        "NON-LEX f1 1 2 1 <NA> cough ann <NA>\n"
        "NOSCORE\tf2\tB\t3e0\t1\t<NA>\t<NA>\t<NA>\t<NA>\r\n"
        "SEGMENT f2 B 0 9 <NA> eval <NA> <NA>",
    )
    records = rttm.records
    assert records.text("kind") == ["SPEAKER", "LEXEME", "NOSCORE", "SEGMENT"]
    assert records.text("file") == ["f1", "f1", "f2", "f2"]
    assert records.text("channel") == ["1", "1", "B", "B"]
    assert records["begin_s"].tolist() == [0.0, 1.25, 3.0, 0.0]
    assert records["dur_s"].tolist() == [10.0, 0.5, 1.0, 9.0]
    assert records.text("token") == ["<NA>", "Kitabu", "<NA>", "<NA>"]
    assert records.text("subtype") == ["<NA>", "lex", "<NA>", "eval"]
    assert records.text("speaker") == ["ann", "ann", "<NA>", "<NA>"]
    assert records["line"].tolist() == [3, 5, 7, 8]
    assert records["line"].dtype == np.int64
    assert rttm.findings == ()


def test_an_empty_transcript_has_no_records(read) -> None:
    assert len(read("rttm", "").records) == 0
    assert len(read("rttm", codecs.BOM_UTF8).records) == 0


def test_fields_end_at_ascii_white_space_only(read) -> None:
    records = read("rttm", "LEXEME f1 1 1 1 a\u00a0b\u3000c lex s <NA>\n").records
    assert records.text("token") == ["a\u00a0b\u3000c"]


def test_a_tenth_field_is_accepted_with_one_warning(read) -> None:
    rttm = read("rttm", "".join(f"LEXEME f1 1 {begin} 1 a lex s <NA> <NA>\n" for begin in (1, 2, 3)))
    assert len(rttm.records) == 3
    (finding,) = rttm.findings
    assert (finding.code, finding.where) == ("ten_fields", "f:1")
    assert "(3 times, first here)" in finding.message


def test_nine_and_ten_fields_may_mix(read) -> None:
    rttm = read("rttm", "LEXEME f1 1 1 1 a lex s <NA> 1.5\nLEXEME f1 1 2 1 b lex t <NA>\n")
    assert rttm.records.text("token") == ["a", "b"]
    assert rttm.records.text("speaker") == ["s", "t"]


def test_marked_times_are_read_as_the_official_tool_does(read) -> None:
    rttm = read("rttm", "LEXEME f1 1 12.34* 0.5 a lex s <NA>\nLEXEME f1 1 <NA> <NA> b lex s <NA>\n")
    assert rttm.records["begin_s"].tolist() == [12.34, 0.0]
    assert rttm.records["dur_s"].tolist() == [0.5, 0.0]
    assert [(finding.code, finding.where) for finding in rttm.findings] == [
        ("time_not_actual", "f:1"),
        ("time_not_applicable", "f:2"),
    ]


def test_a_byte_order_mark_does_not_swallow_the_first_record(read) -> None:
    rttm = read("rttm", codecs.BOM_UTF8 + b"LEXEME f1 1 1 1 a lex s <NA>\n")
    assert rttm.records.text("kind") == ["LEXEME"]
    assert [finding.code for finding in rttm.findings] == ["bom"]


def test_unknown_types_are_counted_in_one_warning(read) -> None:
    content = "".join(f"T{n % 7} f1 1 1 1 a lex s <NA>\n" for n in range(70))
    (finding,) = read("rttm", content).findings
    assert (finding.code, finding.where) == ("unknown_type", "f:1")
    assert "'T0': 10" in finding.message
    assert "'others': 20" in finding.message


def test_every_problem_is_reported_at_once(refused) -> None:
    content = (
        "LEXEME f1 1 1 1 a lex s\n"
        "LEXEME f1 1 one 1 a lex s <NA>\n"
        "LEXEME f1 1 1 inf a lex s <NA>\n"
        "LEXEME f1 1 * 1 a lex s <NA>\n"
    )
    assert refused("rttm", content) == [
        ("f:1", "field_count"),
        ("f:2", "not_a_number"),
        ("f:4", "not_a_number"),
        ("f:3", "not_a_number"),
    ]


@pytest.mark.parametrize("place", ["token", "comment"])
def test_bytes_that_are_not_utf8_are_named(refused, place: str) -> None:
    bad = {"token": b"LEXEME f1 1 1 1 caf\xe9 lex s <NA>\n", "comment": b";; caf\xe9\n"}[place]
    assert refused("rttm", b"SPEAKER f1 1 1 1 a lex s <NA>\n" + bad) == [("f:2", "not_utf8")]


def test_utf16_is_refused_as_such(refused) -> None:
    assert refused("rttm", "LEXEME f1 1 1 1 a lex s <NA>\n".encode("utf-16")) == [("f:1", "not_utf8")]


def test_negative_durations_are_warned_of(read) -> None:
    rttm = read("rttm", "LEXEME f1 1 1 -0.5 a lex s <NA>\n")
    assert rttm.records["dur_s"].tolist() == [-0.5]
    assert [finding.code for finding in rttm.findings] == ["negative_duration"]


def test_lines_are_counted_across_chunks(read) -> None:
    line = "LEXEME f1 1 1 1 a lex s <NA>\n"
    content = line * 10_000
    assert len(content) > 4 * 65_536
    assert read("rttm", content).records["line"].tolist() == list(range(1, 10_001))


def test_fields_that_break_their_types_pattern_are_warned_of_once_a_type(read) -> None:
    rttm = read(
        "rttm",
        "SEGMENT f 1 0 9 <NA> eval ann 0.5\n"
        "NON-SPEECH f 1 2 1 <NA> noise <NA> <NA>\n"
        "LEXEME f 1 1 1 a lex <NA> <NA>\n"
        "LEXEME f 1 2 1 b <NA> <NA> <NA>\n"
        "NOSCORE f 1 3 1 <NA> <NA> ann <NA>\n"
        "SEGMENT f 1 0 9 word part ann <NA> 1.5\n"
        "SPKR-INFO f 1 0 1 <NA> <NA> ann <NA>\n"
        "NON-SPEECH f 1 2 1 noise noise ann <NA>\n",
    )
    told = {finding.code: (finding.where, finding.message) for finding in rttm.findings if "pattern" in finding.code}
    assert {code: where for code, (where, _) in told.items()} == {
        "pattern_lexeme": "f:3",
        "pattern_noscore": "f:5",
        "pattern_segment": "f:6",
        "pattern_spkr_info": "f:7",
        "pattern_non_speech": "f:8",
    }
    assert "name is <NA>, write a value. It is read as it stands (2 times, first here)" in told["pattern_lexeme"][1]
    assert "name is 'ann', write <NA>" in told["pattern_noscore"][1]
    for said in ("ortho is 'word'", "slat is '1.5'", "stype is 'part', write eval or <NA>"):
        assert said in told["pattern_segment"][1]
    for said in ("tbeg is '0'", "tdur is '1'", "stype is <NA>, write a value"):
        assert said in told["pattern_spkr_info"][1]
    assert len(rttm.records) == 5


def test_what_speakers_are_stands_beside_the_records(read) -> None:
    rttm = read(
        "rttm",
        "SPKR-INFO f 1 <NA> <NA> <NA> adult_female ann <NA>\n"
        "LEXEME f 1 1 1 a lex ann <NA>\n"
        "spkr-info f 2 <NA> <NA> <NA> child bob 0.9 <NA>\n",
    )
    speakers = rttm.speakers
    assert [speakers.text(name) for name in ("file", "channel", "subtype", "speaker")] == [
        ["f", "f"], ["1", "2"], ["adult_female", "child"], ["ann", "bob"],
    ]  # fmt: skip
    assert speakers["line"].tolist() == [1, 3]
    assert rttm.records.text("kind") == ["LEXEME"]
    assert [finding.code for finding in rttm.findings] == ["ten_fields"]


def _told(read, *records):
    lines = [f"LEXEME {record} <NA>\n" for record in records]
    return [(finding.code, finding.where) for finding in read("rttm", "".join(lines)).findings]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (["f 1 1.0 0.3 yes lex a", "f 1 1.3 0.3 yes lex a"], []),
        (["f 1 1.0 0.3 yes lex a", "f 1 1.0 0.3 no lex a"], []),
        (["f 1 1.0 0.3 yes lex a", "f 2 1.0 0.3 yes lex a", "g 1 1.0 0.3 yes lex a"], []),
        (["f 1 1.0 0.3 yes lex a", "f 1 1.00 0.30 YES lex a"], [("duplicate_record", "f:2")]),
        (["f 1 1.0 0.3 yes lex a", "f 1 0.5 0.3 so lex a", "f 1 1.0 0.3 yes fp b"], [("duplicate_record", "f:3")]),
        (["f 1 1.1 0.3 yes lex a", "f 1 1.0 0.3 yes lex a"], [("overlapping_record", "f:1")]),
        (["f 1 1.0 0.3 yes lex a", "f 1 1.1 0.3 yes lex b"], []),  # two speakers may
        (["f 1 1e308 1e308 yes lex a", "f 1 1.5e308 1e308 no lex a"], []),
        (["f 1 1.0 0.3 yes lex a"] * 2 + ["f 1 1.1 0.3 yes lex a"],
         [("duplicate_record", "f:2"), ("overlapping_record", "f:3")]),
    ],
)  # fmt: skip
def test_words_given_twice_and_words_that_overlap_themselves_are_told(read, records, expected):
    assert _told(read, *records) == expected


def test_records_that_are_no_words_may_repeat(read):
    found = read("rttm", "SPEAKER f 1 1 2 <NA> <NA> a <NA>\n" * 2 + "NOSCORE f 1 1 2 <NA> <NA> <NA> <NA>\n" * 2)
    assert found.findings == ()
