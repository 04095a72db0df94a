"""Installed scorers are called as their manuals say, on inputs that this project accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bench import peers
from bench.installed import ALL, JAR, KALDI, command
from bench.measured import measure, run
from bench.table import Group, lines_of
from pipeline.engine.score import score_files
from pipeline.protocols import find

STAND_IN = """#!/usr/bin/env python3
import json, os, sys
hashing = os.environ.get("PERL_HASH_SEED"), os.environ.get("PERL_PERTURB_KEYS")
json.dump([sys.argv[1:], hashing], open("../called", "w"))
"""


def stand_in(folder: Path, name: str, text: str = STAND_IN) -> Path:
    """A program that writes down how it was called; no scorer at all."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def called(make: Callable[..., Group], tmp_path: Path, rows: int) -> tuple[str, list[str]]:
    """The arguments of a program, without the folder of its inputs."""
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    group = make(inputs, rows, str(stand_in(tmp_path, "program")))
    assert not run(group.ways[1], inputs).failed
    words, hashing = json.loads((inputs / "called").read_text())
    assert hashing == ["0", "0"]
    return group.ways[1].name, [word.replace(f"{inputs}/", "") for word in words]


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        (peers.kws, "KWSEval",
         "-e key.ecf.xml -r key.rttm -t key.kwlist.xml -s out.kwslist.xml -c -o -b -d -f out"),
        (peers.std, "STDEval",
         ("-s a.stdlist.xml -e a.ecf.xml -r a.rttm -t a.tlist.xml -number-trials-per-sec=1 -A -o out.occ.txt "
          "-a out.ali.txt -d out.det -S 0.5 -F 0.5 -k 0.01 -K 1 -p 0.00015")),
        (peers.med, "DEVA",
         "-o . -p MED11 -r ref.csv -s detection.csv:detection -s threshold.csv:threshold index.csv:TrialIndex"),
        (peers.jar, "JAR", "a.stdlist.xml a.rttm a.ecf.xml a.tlist.xml 0.0741289"),
        (peers.kaldi, "Kaldi", "270000 ark:ref.list ark:hyp.list"),
    ],
)  # fmt: skip
def test_a_given_program_is_run_with_the_documented_arguments(make, name, words, tmp_path):
    assert called(make, tmp_path, 200) == (name, words.split())


def test_a_perl_script_is_run_by_perl_with_its_own_modules(tmp_path):
    script = stand_in(tmp_path, "STDEval-0.7/src/STDEval.pl")
    for number, given in enumerate((script, tmp_path / "STDEval-0.7")):
        place = tmp_path / str(number)
        place.mkdir()
        peer = peers.std(place, 200, str(given)).ways[1]
        assert peer.command[:5] == ("perl", "-x", "-I", str(script.parent), str(script))


def test_a_failing_or_absent_program_is_a_line(tmp_path):
    failing = stand_in(tmp_path, "program", "#!/bin/sh\necho 'no such profile' >&2\nexit 2\n")
    group = peers.med(tmp_path, 200, str(failing))
    [line] = lines_of(group, measure(group.ways, tmp_path, 1))
    assert line.cells["times less than the peer"] == "DEVA ended with 2: no such profile"
    assert float(line.cells["CPU s"]) > 0
    assert not line.wrong
    assert peers.med(tmp_path, 200, None).comparisons[0].absent == "not given (--deva PATH or RESCORE_DEVA)"
    assert peers.med(tmp_path, 200, str(tmp_path / "no")).comparisons[0].absent == "not found where --deva says"


@pytest.mark.parametrize("make", [peers.kws, peers.std, peers.med, peers.jar])
def test_inputs_of_peers_are_scored_here(make, tmp_path):
    words = list(make(tmp_path, 400, None).ways[0].command)
    pairs = [words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--input"]
    result = score_files(find(words[words.index("--protocol") + 1]), dict(pairs))
    assert result.failed is None
    assert result.facts["n_target"] > 0


def test_a_jar_is_run_by_java(tmp_path):
    jar = stand_in(tmp_path, "MediaEvalQUESST2015.jar")
    for given in (jar, tmp_path):
        assert command(JAR, str(given)) == ("java", "-Xmx2g", "-jar", str(jar))


def test_a_variable_gives_a_path_and_an_option_wins(tmp_path):
    one, other = stand_in(tmp_path, "one"), stand_in(tmp_path, "other")
    assert command(KALDI, None, {"RESCORE_KALDI": str(one)}) == (str(one),)
    assert command(KALDI, str(other), {"RESCORE_KALDI": str(one)}) == (str(other),)
    assert command(KALDI, None, {"RESCORE_KALDI": "/no"}) == "not found where RESCORE_KALDI says"
    assert [tool.variable for tool in ALL] == [
        *("RESCORE_KWSEVAL", "RESCORE_STDEVAL", "RESCORE_DEVA", "RESCORE_KALDI", "RESCORE_JAR")
    ]


def test_stdeval_finds_the_attributes_that_it_asks_for(tmp_path):
    peers.std(tmp_path, 200, None)
    [line, *_] = [line for line in (tmp_path / "a.ecf.xml").read_text().splitlines() if "<excerpt" in line]
    names = ("audio_filename", "channel", "tbeg", "dur", "language", "source_type")
    assert all(f'{name}="' in line for name in names)


def test_lists_for_kaldi_hold_every_row(tmp_path):
    peers.kaldi(tmp_path, 500, None)
    rows = (tmp_path / "hyp.list").read_text().splitlines()
    assert len(rows) == 500
    assert all(re.fullmatch(r"KW-\d{5} \d+ \d+ \d+ [01]\.\d{6}", row) for row in rows)
    references = (tmp_path / "ref.list").read_text().splitlines()
    assert len(references) == len((tmp_path / "key.rttm").read_text().splitlines())
    assert all(re.fullmatch(r"KW-\d{5} \d+ \d+ \d+ 1\.0", row) for row in references)
