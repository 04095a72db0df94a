from __future__ import annotations

import math

import pytest

from pipeline.report.words import exact, fact, label, printable, reason_text, short, unit_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.51234999, "0.5123"),
        (-0.5, "−0.5000"),
        (0.0, "0.0000"),
        (1.0, "1.0000"),
        (0.001, "0.0010"),
        (0.0000321, "3.21×10⁻⁵"),
        (-0.0000321, "−3.21×10⁻⁵"),
        (123456.0, "123456.0000"),
        (2.5e7, "2.50×10⁷"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "—"),
    ],
)
def test_short_numbers(value, text):
    assert short(value) == text


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-300, -7.25, math.inf, -math.inf])
def test_exact_numbers_read_back(value):
    assert float(exact(value)) == value


@pytest.mark.parametrize(
    ("value", "text"), [(495, "495"), (203099.0, "203 099"), (-3, "−3"), (19.955, "19.9550"), ("yes", "yes")]
)
def test_facts_show_counts_as_counts(value, text):
    assert fact(value).replace("\N{NARROW NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize("bad", ["\x1b", "\n", "\x00", "\u202e", "\u2066", "\ud800", "\u2028", "\x9b"])
def test_characters_that_steer_a_display_are_replaced(bad):
    assert printable(f"a{bad}b") == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize("name", ["gtts", "Telefónica", "हिन्दी", "می\u200cخواهم", "中文", "😀"])
def test_names_in_any_script_stay_as_they_are(name):
    assert printable(name) == name


def test_labels_units_and_reasons_that_are_not_known_are_still_readable():
    assert str(label("p_miss")) == "P_miss"
    assert str(label("my_new_measure")) == "my new measure"
    assert reason_text("no_such_code") == "no such code"
    assert unit_text("1") == ""
    assert unit_text("GB") == "GB"
