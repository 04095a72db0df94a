"""Several outputs in one call are one board; an input may stand on standard input."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from kws_files import OUTPUT, write_cell

from pipeline.cli import main


@pytest.fixture
def options(tmp_path) -> list[str]:
    """The worked cell, and the same output with a miss more."""
    given = write_cell(tmp_path)
    (tmp_path / "worse.xml").write_text(OUTPUT.replace('score="0.7" decision="YES"', 'score="0.7" decision="NO"'))
    return ["score", "--protocol", "openkws13", *given, "-s", str(tmp_path / "worse.xml")]


def test_several_outputs_are_a_board_best_first(options, capsys):
    assert main(options) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["system", "output", "worse"]
    assert main([*options, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [one["system"] for one in made["results"]] == ["output", "worse"]
    alone = json.loads(_said([*options[:-2], "--json"], capsys))
    first = {name: part for name, part in made["results"][0].items() if name != "system"}
    assert first["measures"] == alone["measures"]
    assert first["signature"] == alone["signature"]


def _said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def test_with_intervals_they_are_compared(options, capsys):
    made = json.loads(_said([*options, "--ci", "0.9", "--json"], capsys))
    assert made["level"] == 0.9
    assert len(made["comparisons"]) == 1
    assert "not told apart" in _said([*options, "--ci"], capsys)


def test_one_that_is_refused_leaves_the_others(options, tmp_path, capsys):
    (tmp_path / "torn.xml").write_text(OUTPUT.replace('score="0.7"', 'score="nan"'))
    assert main([*options, "-s", str(tmp_path / "torn.xml"), "--json"]) == 1
    made = json.loads(capsys.readouterr().out)
    assert len(made["results"]) == 2
    assert [one["system"] for one in made["refused"]] == ["torn"]
    assert "torn.xml" in made["refused"][0]["errors"][0]


def test_what_is_of_one_output_is_refused_of_several(options, tmp_path, capsys):
    for more in (["--curve"], ["--det", str(tmp_path / "a.svg")], ["--measures", "atwv"]):
        assert main([*options, *more]) == 2
    assert "Give one output" in capsys.readouterr().err


def test_an_input_may_stand_on_standard_input(options, monkeypatch, capsys):
    single = options[:-2]
    expected = json.loads(_said([*single, "--json"], capsys))
    place = single.index("-s") + 1
    data = Path(single[place]).read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    single[place] = "-"
    assert json.loads(_said([*single, "--json"], capsys))["signature"] == expected["signature"]
    single[single.index("-e") + 1] = "-"
    assert main(single) == 2
