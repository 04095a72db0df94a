from __future__ import annotations

import math

import pytest

from pipeline.cli.output import columns, number
from pipeline.cli.score import text_of
from pipeline.engine.result import Result
from pipeline.errors import Finding
from pipeline.terms import Figure


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456789, "0.123457"),
        (3.0, "3"),
        (12, "12"),
        (math.nan, "-"),
        (None, "-"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (1e300, "1e+300"),
        (-0.0, "0"),
        ("yes", "yes"),
    ],
)
def test_numbers_for_people(value: float | str | None, text: str) -> None:
    assert number(value) == text


def test_columns_are_aligned_and_steer_no_terminal() -> None:
    assert columns([("a", "1"), ("bb\x1b[2J", "10")], indent="", right=frozenset({1})) == (
        "a           1\nbb\\x1b[2J  10"
    )
    assert columns([]) == ""


def test_a_cell_as_text() -> None:
    result = Result(
        protocol="sws2013",
        edition=1,
        mode="plan",
        signature="sws2013.1|plan",
        primary="atwv",
        facts={"t_audio_s": 100.0, "prior_empirical": math.nan},
        figures={
            "atwv": Figure(0.25, detail={"p_miss": 0.75}),
            "cnxe": Figure.undefined("no_scores"),
            "min_cnxe_affine": Figure(1.0, status="gamma_zero", detail={"gamma": 0.0}),
            "ssf": Figure(0.64),
        },
        units={"ssf": "1/h"},
        blocks=({"id": "K1", "n_target": 2, "p_miss": 0.5}, {"id": "K2", "n_target": 0, "p_miss": math.nan}),
        curve={"threshold": [0.5, math.nan], "twv": [0.25, 0.0]},
        findings=(Finding("w", "odd", "s3://ID:HUSH@b/x:3"),),
        n_findings=1,
    )
    assert (
        text_of(result, curve=True, per_query=True)
        == """\
sws2013 edition 1, plan

facts
  t_audio_s        100
  prior_empirical    -

measures
  atwv             0.25
  cnxe                -       undefined: no_scores
  min_cnxe_affine     1       gamma_zero, gamma 0
  ssf              0.64  1/h

queries (2)
  id  n_target  p_miss
  K1         2     0.5
  K2         0       -

curve (2)
  threshold   twv
        0.5  0.25
          -     0

warnings (1)
  s3://***@b/x:3: odd

signature
  sws2013.1|plan|#3e1b255c"""
    )
    assert "queries" not in text_of(result)
