"""Albayzin 2012 LRE through the command line: every case with all its pairs, refused files, and names of files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lre_cases import NAMES, folder_of, inputs_of, number, scored, unequal

from pipeline.cli import main
from pipeline.formats.lre.names import read_name

CASES = "c01 c02 c03 c05 c06 c07 c09 c10 c11 c12 c13 c16".split()
EMPTY_CLASS = "c12"
REFUSED = {
    "x01": ("not_finite", 1),
    "x02": ("not_finite", 1),
    "x03": ("not_finite", 1),
    "x04": ("not_a_number", 1),
    "x05": ("not_a_number", 1),
    "x06": ("missing_segment", 4),
    "x07": ("duplicate_segment", 6),
    "x08": ("field_count", 2),
    "x09": ("field_count", 2),
    "x10": ("bad_task", 4),
    "x11": ("mixed_codes", 4),
    "x12": ("mixed_codes", 4),
    "x13": ("unknown_segment", 6),
    "x14": ("blank_line", 3),
    "x15": ("empty_file", 1),
}


@pytest.mark.parametrize("prefix", [case for case in CASES if case != EMPTY_CLASS])
def test_multiclass_figures(conformance: Path, capsys: pytest.CaptureFixture[str], prefix: str) -> None:
    folder, expected = folder_of(conformance, prefix)
    document = scored(folder, capsys)
    figures, want = document["measures"], expected["multiclass"]
    assert not unequal({name: entry["value"] for name, entry in figures.items()}, want)
    minimum, recalibration = figures["c_min"], want["recalibration"]
    assert minimum["status"] == recalibration["status"]
    if recalibration["status"] == "overlap":
        assert minimum["scale"] == pytest.approx(float(recalibration["alpha"]), rel=1e-9)
        offsets = [block["offset"] for block in document["blocks"]]
        assert offsets == pytest.approx(list(map(float, recalibration["beta_sum_zero"])), rel=1e-9, abs=1e-9)
    assert [block["n_segments"] for block in document["blocks"]] == want["counts"]
    assert [block["id"] for block in document["blocks"]] == expected["classes"]
    assert document["facts"]["n_segments_scored"] == expected["segments_scored"]


@pytest.mark.parametrize("prefix", CASES)
def test_all_pairs(conformance: Path, capsys: pytest.CaptureFixture[str], prefix: str) -> None:
    folder, expected = folder_of(conformance, prefix)
    document = scored(folder, capsys)
    pairs = {row["id"]: row for row in document["pairs"]}
    assert list(pairs) == list(expected["pairs"])
    for name, want in expected["pairs"].items():
        row, condition = pairs[name], document["conditions"][name]["measures"]
        assert [row["n_first"], row["n_second"]] == want["counts"]
        if "error" in want:
            assert row["reason"] == condition["f_act"]["reason"] == "class_without_segments"
            assert row["c_mce"] is None
        else:
            assert not unequal(row, want), name
            assert row["status"] == condition["c_min"]["status"] == want["recalibration"]["status"]
            assert row["f_act"] == condition["f_act"]["value"]


def test_a_class_without_segments(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, expected = folder_of(conformance, EMPTY_CLASS)
    document = scored(folder, capsys)
    for name in NAMES:
        assert document["measures"][name.lower()]["value"] is None
        assert document["measures"][name.lower()]["reason"] == "class_without_segments"
    assert [warning["code"] for warning in document["warnings"]] == ["class_without_segments"]
    assert "Galician" in document["warnings"][0]["message"]
    assert sum(row["reason"] is None for row in document["pairs"]) == len(expected["pairs"]) - 5
    restricted = scored(folder, capsys, "--set", "empty_classes=leave_out")
    want = expected["restricted_to_present_classes"]
    assert not unequal({name: entry["value"] for name, entry in restricted["measures"].items()}, want)
    assert [block["id"] for block in restricted["blocks"]] == want["classes"]


def test_constants_of_segments_change_no_bit(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    documents = [scored(folder_of(conformance, prefix)[0], capsys) for prefix in ("c09", "c10")]
    assert documents[0]["measures"] == documents[1]["measures"]
    assert documents[0]["pairs"] == documents[1]["pairs"]


def test_overflow_has_a_logarithm(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = scored(folder_of(conformance, "c07")[0], capsys)
    assert document["measures"]["f_act"]["value"] == "inf"
    assert 700 < number(document["measures"]["ln_f_act"]["value"]) < 1e6


@pytest.mark.parametrize("command", ["score", "validate"])
@pytest.mark.parametrize("prefix", REFUSED)
def test_refused_outputs(conformance: Path, capsys: pytest.CaptureFixture[str], prefix: str, command: str) -> None:
    [output] = (conformance / "lre" / "invalid").glob(f"{prefix}_*")
    inputs = ["--input", f"key={output.parent / 'key.txt'}", "--input", f"output={output}"]
    assert main([command, "--protocol", "albayzin-lre12", *inputs, "--json"]) == 1
    errors = json.loads(capsys.readouterr().out)["errors"]
    code, line = REFUSED[prefix]
    assert [(error["code"], Path(error["where"]).name) for error in errors] == [(code, f"{output.name}:{line}")]


def test_the_valid_output_is_accepted(conformance: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    invalid = conformance / "lre" / "invalid"
    inputs = ["--protocol", "albayzin-lre12", "--input", f"key={invalid / 'key.txt'}"]
    given = f"output={invalid / 'v00_valid_EO_pri.out'}"
    for command in ("score", "validate"):
        assert main([command, *inputs, "--input", given, "--json"]) == 0
        capsys.readouterr()
    wrong = shutil.copy(invalid / "v00_valid_EO_pri.out", tmp_path / "GTTS_PC_pri.out")
    assert main(["score", *inputs, "--input", f"output={wrong}", "--json"]) == 1
    [error] = json.loads(capsys.readouterr().out)["errors"]
    assert error["code"] == "name_mismatch"


def test_names_of_files(conformance: Path) -> None:
    expected = json.loads((conformance / "lre" / "invalid" / "expected.json").read_text())["file_names"]
    for name, parts in expected.items():
        read = read_name(name)
        assert (None if read is None else [read.group, read.track, read.system]) == parts, name


def test_the_command_by_itself(conformance: Path) -> None:
    folder, expected = folder_of(conformance, "c16")
    command = [sys.executable, "-m", "pipeline.cli", "score", *inputs_of(folder), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout)["measures"]
    assert not unequal({name: entry["value"] for name, entry in figures.items()}, expected["multiclass"])
    assert figures["c_min"]["status"] == "quasi"
    assert figures["c_min"]["scale"] == "inf"
