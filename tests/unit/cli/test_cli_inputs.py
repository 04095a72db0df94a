from __future__ import annotations

import argparse

import pytest

from pipeline.cli import MaskingParser
from pipeline.cli.inputs import add_inputs, add_settings, roles_of, settings_of
from pipeline.errors import UsageError
from pipeline.protocols import find


def parsed(*argv: str) -> argparse.Namespace:
    parser = MaskingParser(exit_on_error=False)
    parser.add_argument("--protocol", default="sws2013")
    add_inputs(parser)
    add_settings(parser)
    return parser.parse_args(argv)


def test_short_and_long_forms_name_the_same_roles() -> None:
    short = parsed("-e", "E", "-r", "R", "-t", "T", "-s", "S")
    long = parsed("--input", "ecf=E", "--input", "rttm=R", "--input", "kwlist=T", "--input", "output=S")
    expected = {"ecf": "E", "rttm": "R", "kwlist": "T", "output": "S"}
    assert roles_of(short, find("sws2013")) == roles_of(long, find("sws2013")) == expected


def test_a_url_may_hold_an_equals_sign() -> None:
    assert roles_of(parsed("--input", "ecf=s3://b/a=b"), find("sws2013")) == {"ecf": "s3://b/a=b"}


def test_the_organisers_options_for_settings() -> None:
    given = parsed(*["-S", "1", "-F", "0.5", "-k", "2", "-K", "3", "-p", "0.1", "-n", "1", "--set", "t_audio=header"])
    assert settings_of(given)[0] == {
        "tolerance_s": "1",
        "word_gap_s": "0.5",
        "c_fa": "2",
        "c_miss": "3",
        "p_target": "0.1",
        "trials_per_s": "1",
        "t_audio": "header",
    }


def test_nothing_is_given_twice() -> None:
    with pytest.raises(UsageError, match="input ecf is given twice"):
        roles_of(parsed("-e", "a", "--input", "ecf=b"), find("sws2013"))
    with pytest.raises(UsageError, match="setting tolerance_s is given twice"):
        settings_of(parsed("-S", "1", "--set", "tolerance_s=1"))


def test_unknown_roles_are_refused_with_the_known_ones() -> None:
    known = "ecf, rttm, kwlist, output, scoring_ecf, queries, resources"
    with pytest.raises(UsageError, match=rf"no input keys \(allowed: {known}\)"):
        roles_of(parsed("--input", "keys=a"), find("sws2013"))


@pytest.mark.parametrize("text", ["ecf", "=a", "ecf="])
def test_pairs_are_pairs(text: str) -> None:
    with pytest.raises(argparse.ArgumentError, match="NAME=VALUE"):
        parsed("--input", text)
