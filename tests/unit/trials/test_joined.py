"""Names that one side alone has, as people are told of them."""

from __future__ import annotations

import pytest

from pipeline.trials.joined import Join, PlacedRows, channel_finding, file_finding, query_finding, silent_finding

ROWS = PlacedRows("the output", "output", "detections", "they are not scored")


def told(own: list[str], other: list[str]) -> str:
    return Join("the output", own, "the ECF", other).told()


@pytest.mark.parametrize(
    ("own", "other", "why"),
    [
        ("f1", "F1", "case"),
        ("F1.wav", "F1", "the extension"),
        ("audio/F1", "F1", "the folder"),
        ("F01", "F1", "leading zeros"),
        ("F1 A", "F1 1", "letter or number of the channel"),
        ("F1 2", "F1 B", "letter or number of the channel"),
        ("A", "1", "letter or number of the channel"),
        ("F1  x", "F1 x", "Unicode form or blanks"),
        ("f01.WAV", "F1", "case and the extension and leading zeros"),
    ],
)
def test_a_guess_says_what_tells_the_names_apart(own: str, other: str, why: str) -> None:
    assert told([own, "F2"], [other, "F2"]) == (
        f"the output alone has {own!r}; the ECF alone has {other!r} ({own!r} may mean {other!r}: they differ in {why})"
    )


def test_names_that_look_the_same_are_shown_by_their_characters() -> None:
    assert "('e\\u0301' may mean '\\xe9': they differ in Unicode form or blanks)" in told(["e\u0301"], ["\u00e9"])


@pytest.mark.parametrize(("own", "other"), [("F1", "G1"), ("F1", "F2"), ("F1 A", "F1 2"), ("10", "1")])
def test_other_names_are_no_guess(own: str, other: str) -> None:
    assert told([own], [other]) == f"the output alone has {own!r}; the ECF alone has {other!r}"


def test_five_names_of_each_side_are_shown_those_with_a_guess_first() -> None:
    own, other = [f"a{n}" for n in range(9)] + ["zz.wav"], [f"b{n}" for n in range(7)] + ["zz"]
    assert told(own, other) == (
        "the output alone has 'zz.wav', 'a0', 'a1', 'a2', 'a3' and 5 more; the ECF alone has 'zz', 'b0', 'b1', 'b2', "
        "'b3' and 3 more ('zz.wav' may mean 'zz': they differ in the extension)"
    )


def test_a_name_of_both_sides_may_be_meant_as_well() -> None:
    assert told(["F1", "f1"], ["F1"]) == (
        "the output alone has 'f1'; the ECF alone has no other ('f1' may mean 'F1': they differ in case)"
    )


def test_nothing_is_said_where_names_agree() -> None:
    join = Join("the output", ["a"], "the ECF", ["a"])
    assert file_finding(ROWS, 0, join) == silent_finding(ROWS, join) == ()
    assert channel_finding(ROWS, {("a", "1"): 3}, [("a", "1")], "the ECF") == ()
    assert query_finding(["q"], ["q", "r"], "") == ()


def test_findings_have_counts_names_effect_and_role() -> None:
    join = Join("the output", ["x", "b"], "the ECF", ["a", "b"])
    [unknown] = file_finding(ROWS, 7, join)
    assert (unknown.code, unknown.where) == ("unknown_file", "output")
    assert unknown.message == (
        "7 detections name recordings that the ECF lacks; they are not scored: the output alone has 'x'; the ECF alone "
        "has 'a'. Compare the spelling, case and extension."
    )
    [silent] = silent_finding(ROWS, join)
    assert silent.code == "missing_file"
    assert silent.message.startswith("1 of 2 recordings of the ECF have no detections in the output; they are not")
    [channel] = channel_finding(ROWS, {("b", "01"): 2}, [("a", "1"), ("b", "1")], "the ECF")
    assert channel.code == "unknown_channel"
    assert "2 detections name a channel that the ECF lacks for their recording" in channel.message
    assert "the output alone has 'b 01'; the ECF has 'b 1' ('b 01' may mean 'b 1'" in channel.message
    [query] = query_finding(["q01"], ["q1"], "They are kept.")
    assert query.message == (
        "1 queries of the output are not in the query list: the output alone has 'q01'; the query list alone has 'q1' "
        "('q01' may mean 'q1': they differ in leading zeros). They are kept."
    )
