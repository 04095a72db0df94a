from __future__ import annotations

import json
from pathlib import Path

import pytest
from kws_files import OUTPUT, write_cell

from pipeline.cli import main


def test_fine_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", *write_cell(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert [line.split()[0] for line in printed.out.splitlines()] == ["ecf", "rttm", "kwlist", "output"]
    assert all(line.endswith("fine") for line in printed.out.splitlines())
    assert printed.err == ""


def test_each_file_may_be_checked_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = write_cell(tmp_path)
    for index in range(0, len(cell), 2):
        assert main(["validate", *cell[index : index + 2]]) == 0
    capsys.readouterr()
    assert main(["validate"]) == 2
    assert "roles: ecf, rttm" in capsys.readouterr().err


def test_all_problems_of_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = write_cell(tmp_path, output=OUTPUT.replace('score="0.9"', 'score="high"'), ecf="<ecf>")
    assert main(["validate", *cell]) == 1
    printed = capsys.readouterr()
    assert "output.xml:3" in printed.err
    assert "ecf.xml" in printed.err
    assert [line.split()[2] for line in printed.out.splitlines()] == ["refused", "fine", "fine", "refused"]
    assert main(["validate", "--json", *cell]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["n_errors"] == len(document["errors"]) >= 2
    assert document["warnings"] == []
