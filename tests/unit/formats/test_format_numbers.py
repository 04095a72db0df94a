from __future__ import annotations

import math

import pytest

from pipeline.errors import Problems
from pipeline.formats.numbers import decimal, decimals, score, scores


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.5", 12.5),
        ("010.0", 10.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("+0.5", 0.5),
        ("-3.2", -3.2),
        ("1e-3", 0.001),
        ("1E+2", 100.0),
        (" 0.5\t", 0.5),
        ("0.50000000000000000001", 0.5),
        ("0.1", 0.1),
        ("1e-400", 0.0),
    ],
)
def test_decimals_and_scores_share_one_grammar(text: str, value: float) -> None:
    problems = Problems("f")
    assert decimal(text, "x", 1, problems) == value
    assert score(text, "x", 1, problems) == value
    assert problems.count == 0


@pytest.mark.parametrize(
    "text", ["", " ", ".", "+", "e5", "1e", "1_0", "0x10", "1 2", "1,5", "10.0;", "--1", "1.2.3", "١", "1\u00a0", "ten"]
)
def test_what_is_no_number_is_refused_with_what_is_allowed(text: str) -> None:
    problems = Problems("f")
    assert math.isnan(decimal(text, "tbeg", 7, problems))
    assert math.isnan(score(text, "score", 8, problems))
    assert [finding.code for finding in problems.findings] == ["not_a_number", "not_a_number"]
    assert str(problems.findings[0]).startswith("f:7: tbeg is ")
    assert "allowed: a decimal number" in problems.findings[0].message


@pytest.mark.parametrize(
    ("text", "value"),
    [("inf", math.inf), ("-INF", -math.inf), ("+Infinity", math.inf), (" -inf ", -math.inf)],
)
def test_infinite_scores_are_numbers_and_infinite_times_are_not(text: str, value: float) -> None:
    problems = Problems("f")
    assert score(text, "score", 1, problems) == value
    assert problems.count == 0
    assert math.isnan(decimal(text, "dur", 1, problems))
    assert problems.findings[0].code in {"not_a_number", "not_finite"}


@pytest.mark.parametrize("text", ["1e400", "-1e400", "9" * 400])
def test_a_score_beyond_every_double_is_no_infinity(text: str) -> None:
    problems = Problems("f")
    assert math.isnan(score(text, "score", 7, problems))
    assert math.isnan(scores(["1", text], "score", [6, 7], problems)[1])
    assert [(finding.code, finding.where) for finding in problems.findings] == [("not_finite", "f:7")] * 2
    assert "Write inf or -inf" in problems.findings[0].message


@pytest.mark.parametrize("text", ["NaN", "nan", "-nan", " NAN "])
def test_nan_scores_are_refused_with_a_message_of_their_own(text: str) -> None:
    problems = Problems("f")
    assert math.isnan(score(text, "score", 1, problems))
    assert problems.findings[0].code == "nan_score"
    assert "leave the row out" in problems.findings[0].message


def test_overlong_digits_are_refused_before_conversion() -> None:
    problems = Problems("f")
    assert math.isnan(decimal("1" * 1_000_000, "dur", 1, problems))
    assert len(problems.findings[0].message) < 300


def test_a_column_names_the_line_of_each_bad_value() -> None:
    problems = Problems("f")
    values = decimals(["1", "x", "3", "1e400"], "dur", [10, 20, 30, 40], problems)
    assert [finding.where for finding in problems.findings] == ["f:20", "f:40"]
    assert values[0] == 1.0
    assert values[2] == 3.0
    assert len(values) == 4


def test_a_column_of_scores_mixes_plain_blank_and_infinite_values() -> None:
    problems = Problems("f")
    assert list(scores([" 1 ", "-inf", "2e1", "inf"], "score", [1, 2, 3, 4], problems)) == [
        1.0,
        -math.inf,
        20.0,
        math.inf,
    ]
    assert problems.count == 0


def test_line_breaks_inside_a_value_do_not_split_it() -> None:
    problems = Problems("f")
    decimals(["1\n2"], "dur", [5], problems)
    assert [finding.where for finding in problems.findings] == ["f:5"]
