"""Outputs, keys and file names of language recognition: what is read, what is refused and with which line."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import PROBLEMS_AT_MOST, Finding, InputError
from pipeline.formats.lre.key import read_lre_key
from pipeline.formats.lre.names import FileName, read_name, submission_faults, track_of
from pipeline.formats.lre.out import read_lre_out

PLAN_EXAMPLE = """\
Plenty Closed xxyyffaa -0.5678 -0.0034 0.6723 1.4332 -7.0032 5.0065 0.0000
Plenty Closed gghhjjbb 0.3421 -0.9734 -1.5671 -3.0087 -9.3215 -3.7666 0.0000
Plenty Closed ppllkkaa -1.7608 0.4559 -0.3946 -0.0004 2.1444 -0.0342 0.0000
Plenty Closed qqttzzii 0.1799 -5.5911 -0.0795 0.1005 0.1871 -6.998 0.0000
"""
GOOD = "Empty Open aa 1 2 3 4 5\n"

Read = Callable[[str, str], Any]
Refused = Callable[[str, str], list[tuple[str, str]]]


def test_the_example_of_the_plan(read: Read) -> None:
    output = read("lre_out", PLAN_EXAMPLE)
    assert (output.task, output.chosen_set) == ("Plenty", "Closed")
    assert output.classes == ("Basque", "Catalan", "English", "Galician", "Portuguese", "Spanish", "OOS")
    assert output.segments.text("segment") == ["xxyyffaa", "gghhjjbb", "ppllkkaa", "qqttzzii"]
    assert output.scores.shape == (4, 7)
    assert output.scores[3].tolist() == [0.1799, -5.5911, -0.0795, 0.1005, 0.1871, -6.998, 0.0]
    assert (output.segments["line"].tolist(), output.n_lines) == ([1, 2, 3, 4], 4)


@pytest.mark.parametrize("text", [GOOD.replace("\n", "\r\n"), GOOD.replace(" ", "\t"), GOOD.rstrip(), f" {GOOD}"])
def test_blanks_and_line_ends_are_free(read: Read, text: str) -> None:
    assert read("lre_out", text).scores.tolist() == [[1, 2, 3, 4, 5]]


def test_every_problem_of_a_file_is_told_at_once(refused: Refused) -> None:
    text = (
        GOOD
        + "Empty Open bb 1 2 3 4 nan\nEmty Open cc 1 2 3 4 5\n\nEmpty Open aa 1 2 3 4 5\nEmpty Open dd 1,5 2 x 4 5\n"
    )
    assert refused("lre_out", text) == [
        ("f:3", "bad_task"),
        ("f:4", "blank_line"),
        ("f:5", "duplicate_segment"),
        ("f:2", "not_finite"),
        ("f:6", "not_a_number"),
        ("f:6", "not_a_number"),
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("Empty Open bb 1 2 3 4 -Infinity", "not_finite"),
        ("Empty Open bb 1 2 3 4 0x1p3", "not_a_number"),
        ("Empty Open bb 1 2 3 4 -1e309", "not_finite"),
        ("Empty open bb 1 2 3 4 5", "bad_set"),
        ("Empty", "field_count"),
        ("Empty Open", "field_count"),
        ("plenty Open bb 1 2 3 4 5 6 7", "bad_task"),
        ("Empty Closed bb 1 2 3 4 5", "mixed_codes"),
    ],
)
def test_lines_that_are_refused(refused: Refused, line: str, code: str) -> None:
    assert refused("lre_out", f"{GOOD}{line}\n") == [("f:2", code)]


def test_a_message_names_class_value_and_what_is_allowed() -> None:
    with pytest.raises(InputError, match=r"^a\.out:1: the score of Greek is '1_0' \(allowed: a decimal number"):
        read_lre_out(BytesIO(b"Empty Open aa 1 2 1_0 4 5\n"), "a.out")


@pytest.mark.parametrize("place", ["/data/GTTS_EC_pri.out", "s3://bucket/in/GTTS_EC_pri.out"])
def test_a_name_that_contradicts_the_codes(place: str) -> None:
    with pytest.raises(InputError, match="of track EO, and the file's name says EC"):
        read_lre_out(BytesIO(GOOD.encode()), place)
    assert read_lre_out(BytesIO(GOOD.encode()), place.replace("EC", "EO")).task == "Empty"


def test_keys_have_two_fields_and_known_labels(read: Read, refused: Refused) -> None:
    key = read("lre_key", "a Basque\nb OOS\nc -\nd Italian\n").segments
    assert key.text("label") == ["Basque", "OOS", "-", "Italian"]
    text = "a Basque\na Catalan\nb\n\nc russian\nd -\n"
    wanted = [("f:2", "duplicate_segment"), ("f:3", "field_count"), ("f:4", "field_count"), ("f:5", "bad_label")]
    assert refused("lre_key", text) == wanted
    assert refused("lre_key", "") == [("f:1", "empty_file")]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("L2F_UPV_EO_con12.out", FileName("L2F_UPV", "EO", "con12")),
        ("A_PC_B_PO_pri.out", FileName("A_PC_B", "PO", "pri")),
        ("GTTS_PC_con01.out", None),
        ("PC_pri.out", None),
        ("GTTS_PC_pri.out\n", None),
    ],
)
def test_names_are_read_from_the_right(name: str, read: FileName | None) -> None:
    assert read_name(name) == read


def test_each_group_has_one_primary_a_track_and_the_mandatory_one() -> None:
    fine = ["in/A_PC_pri.out", "in/A_PC_con1.out", "in/A_EO_pri.out", "in/B_PC_pri.out"]
    assert not list(submission_faults(fine))
    twice = [*fine, "again/A_PC_pri.out"]
    assert [fault.code for fault in submission_faults(twice)] == ["primary_systems"]
    wrong = ["B_EO_con1.out", "B_EC_pri.out", "notes.txt"]
    assert [fault.code for fault in submission_faults(wrong)] == ["bad_file_name", "primary_systems", "mandatory_track"]


def test_tracks_have_codes() -> None:
    assert [track_of(*codes) for codes in [("Plenty", "Closed"), ("Empty", "Open")]] == ["PC", "EO"]


@given(st.lists(st.sampled_from([GOOD, "Plenty Open ", "Closed", "1e999", "-inf", "\n", "\0", "é", "aa", " 7 ", "-"])))
def test_whatever_the_text_it_is_read_or_refused(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    for read in (read_lre_out, read_lre_key):
        findings: tuple[Finding, ...] = ()
        try:
            read(BytesIO(data), "f")
        except InputError as error:
            findings = error.findings
        assert all(finding.where.startswith("f") and finding.code for finding in findings)


def test_a_file_of_wrong_lines_takes_no_memory_of_its_size() -> None:
    data = b"Empty Open segment 1 2 3\n" * 200_000
    tracemalloc.start()
    with pytest.raises(InputError) as caught:
        read_lre_out(BytesIO(data), "f")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.count == PROBLEMS_AT_MOST
    assert peak < len(data) / 4


def test_rows_are_kept_in_eight_bytes_a_score() -> None:
    data = b"".join(b"Plenty Open s%06d 1.5 2.25 -3.125 4 5 6 7\n" % at for at in range(20_000))
    tracemalloc.start()
    output = read_lre_out(BytesIO(data), "f")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    names = 20_000 * 150  # a dictionary of names, for segments given twice
    assert peak < 2 * output.scores.nbytes + names + (1 << 20)
