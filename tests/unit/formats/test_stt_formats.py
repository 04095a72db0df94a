"""STM, CTM, TRN and lexicon: what is read, what is refused and with which line."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest

from pipeline.errors import InputError
from pipeline.formats.stt.ctm import read_ctm
from pipeline.formats.stt.lexicon import read_lexicon
from pipeline.formats.stt.stm import read_stm
from pipeline.formats.stt.trn import read_trn


def stm(text: str) -> Any:
    return read_stm(io.BytesIO(text.encode()), "a.stm")


def ctm(text: str) -> Any:
    return read_ctm(io.BytesIO(text.encode()), "a.ctm")


def refused(read: Any, text: str) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        read(text)
    return [(finding.code, finding.where) for finding in caught.value.findings]


def test_stm_labels_comments_and_missing_times() -> None:
    table = stm(";; CATEGORY 0\n; one\n** two\n\nf 1 Ann 0 1.5 <o,f0>  a   b\nf 1 Bob * * c\nf 1 Ann 2 3\n").segments
    assert table.text("speaker") == ["Ann", "Bob", "Ann"]
    assert table.text("label") == ["<o,f0>", "", ""]
    assert table.text("text") == ["a b", "c", ""]
    assert table["end_s"].tolist()[0] == 1.5
    assert math.isnan(table["begin_s"][1])
    assert table["line"].tolist() == [5, 6, 7]


@pytest.mark.parametrize("word", ["<hes>", "<rAdp", "<rA,dp", "<>", "<o"])
def test_stm_that_starts_with_what_looks_like_no_label_says_that_it_is_taken_for_one(word: str) -> None:
    read = stm(f"f 1 a 0 1 {word} word\n")
    assert read.segments.text("text") == ["word"]
    assert read.segments.text("label") == [word]
    [finding] = read.findings
    assert (finding.code, finding.where) == ("tag_read_as_label", "a.stm:1")
    assert repr(word) in finding.message


@pytest.mark.parametrize("label", ["<o>", "<O>", "<o,f0,male>", "<,>"])
def test_stm_labels_are_taken_for_what_they_are(label: str) -> None:
    assert not stm(f"f 1 a 0 1 {label} word\n").findings


def test_stm_names_every_bad_line() -> None:
    text = "f 1 a 0\nf 1 a x 1 w\nf 1 a 3 2 w\n"
    assert refused(stm, text) == [
        ("field_count", "a.stm:1"),
        ("not_a_number", "a.stm:2"),
        ("negative_duration", "a.stm:3"),
    ]


def test_ctm_confidences_marks_and_odd_times() -> None:
    table = ctm(
        "\n; comment\nf 1 &&0.5 0.25 a 0.9\nf 1 * * <ALT_BEG>\nf 1 1.0* .5 b NA\nf 1 * * <alt_end>\nf 1 2 .5 c <NA> x\n"
    ).words
    assert table.text("word") == ["a", "<ALT_BEGIN>", "b", "<ALT_END>", "c"]
    assert table["begin_s"].tolist()[0] == 0.5
    assert table["begin_s"].tolist()[2] == 1.0
    assert table["confidence"].tolist()[0] == 0.9
    assert all(math.isnan(value) for value in table["confidence"].tolist()[1:])


@pytest.mark.parametrize("fields", ["f 1 0 1 a 0.5", "f 1 0 1 a"])
def test_ctm_reads_even_and_uneven_lines_alike(fields: str) -> None:
    even = ctm(f"{fields}\n" * 3).words
    uneven = ctm(f"{fields}\n" * 3 + "\n").words
    assert [even.text(name) for name in ("file", "channel", "word")] == [
        uneven.text(name) for name in ("file", "channel", "word")
    ]
    assert even["line"].tolist() == uneven["line"].tolist() == [1, 2, 3]


def test_ctm_confidence_outside_its_range_is_counted() -> None:
    read = ctm("f 1 0 1 a 1.5\nf 1 1 1 b -0.1\nf 1 2 1 c 1\n")
    [finding] = read.findings
    assert (finding.code, finding.where) == ("confidence_out_of_range", "a.ctm:1")
    assert "2 times" in finding.message


def test_ctm_names_every_bad_line() -> None:
    assert refused(ctm, "f 1 0 1\nf 1 a 1 w\nf 1 0 1 w 0.5 x y z\nf 1 0 1 w high\n") == [
        ("field_count", "a.ctm:1"),
        ("field_count", "a.ctm:3"),
        ("not_a_number", "a.ctm:2"),
        ("not_a_number", "a.ctm:4"),
    ]
    assert refused(ctm, "f 1 * 1 w\n") == [("no_time", "a.ctm:1")]


def test_a_systems_rttm_is_read_as_words() -> None:
    read = ctm(
        "SPEAKER f 1 0 9 <NA> <NA> s <NA>\n"
        "lexeme f A 0.1 0.2 hallo lex s 1e-5 ;; comment\n"
        "LEXEME f A 12.34* 0.2 um fp s 0.5\n"
        "LEXEME f A 0.5 0.2 du lex s <NA> <NA>\n"
    )
    assert read.words.text("word") == ["hallo", "du"]
    assert read.words["confidence"].tolist()[0] == 1e-5
    assert math.isnan(read.words["confidence"][1])
    assert [finding.code for finding in read.findings] == ["subtype_not_scored"]


def test_trn_takes_the_last_brackets_as_the_utterance() -> None:
    table = read_trn(io.BytesIO(b"a (b) { c / @ } (spk-1)\n (spk-2)\n;; no\n"), "a.trn").utterances
    assert table.text("utterance") == ["spk-1", "spk-2"]
    assert table.text("text") == ["a (b) { c / @ }", ""]


def test_trn_parts_words_at_ascii_white_space_alone() -> None:
    text = "a\u00a0b\tc\u3000 (u-1)\n ;; d (u-2)\n** no (u-3)\n;;no (u-4)\n"
    table = read_trn(io.BytesIO(text.encode()), "a.trn").utterances
    assert table.text("utterance") == ["u-1", "u-2"]
    assert table.text("text") == ["a\u00a0b c\u3000", ";; d"]


def test_trn_refuses_lines_without_utterance_and_repetitions() -> None:
    with pytest.raises(InputError) as caught:
        read_trn(io.BytesIO(b"a b\nx (u)\ny (u)\n"), "a.trn")
    assert [(f.code, f.where) for f in caught.value.findings] == [
        ("no_utterance", "a.trn:1"),
        ("duplicate_utterance", "a.trn:3"),
    ]


def test_lexicon_with_and_without_romanisation() -> None:
    text = "好\thou2\th o:w _2\n人\tjan4\tj 6 n _4 . a\tj i\n好\thou3\tx y\n"
    entries = read_lexicon(io.BytesIO(text.encode()), "l").entries
    assert entries["好"] == ((("h", "o:w", "_2"),), (("x", "y"),))
    assert entries["人"] == ((("j", "6", "n", "_4"), ("a",)), (("j", "i"),))
    plain = read_lexicon(io.BytesIO(b"a\tx y # z\n\nb\tq\n"), "l").entries
    assert plain == {"a": ((("x", "y"), ("z",)),), "b": ((("q",),),)}


def test_lexicon_names_rows_without_a_pronunciation() -> None:
    with pytest.raises(InputError) as caught:
        read_lexicon(io.BytesIO(b"a\tx y\nb\n\tq\n; no\nc\t\n"), "l")
    assert [finding.where for finding in caught.value.findings] == ["l:2", "l:3", "l:5"]
