"""Scores as written, kept only where text sorts differently from numbers."""

from __future__ import annotations

from array import array

import pytest

from pipeline.formats.kws.scoretexts import ScoreTexts


def _texts(*chunks: list[str]) -> list[str] | None:
    gathered, before = ScoreTexts(), array("d")
    for chunk in chunks:
        gathered.extend(chunk, before)
        before.extend(map(float, chunk))
    if gathered.column is None:
        return None
    names = list(gathered.column.vocabulary)
    return [names[code] for code in gathered.column.codes]


def test_plain_decimals_are_not_kept():
    assert _texts(["0.5", "0.125"], ["0.000000000000001"]) is None


@pytest.mark.parametrize("odd", ["0.50", "1", "-0.5", "1e-3", ".5", "0.1234567890123456", "10.5", "0"])
def test_the_first_odd_text_brings_back_all_before_it(odd: str):
    chunks = (["0.5", "0.123456789012345"], ["0.01", odd], ["0.7"])
    assert _texts(*chunks) == ["0.5", "0.123456789012345", "0.01", odd, "0.7"]


def test_decimals_of_one_length_are_not_kept():
    assert _texts(["0.500", "3.125"], ["0.000", "9.990"]) is None


@pytest.mark.parametrize("odd", ["0.50", "10.500", "-0.500", "0.5000"])
def test_a_text_of_another_length_brings_back_all_before_it(odd: str):
    assert _texts(["0.500", "3.125"], ["0.120", odd]) == ["0.500", "3.125", "0.120", odd]
