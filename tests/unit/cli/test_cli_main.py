from __future__ import annotations

import json
import subprocess
import sys

import pytest

from pipeline import cli


@pytest.fixture(autouse=True)
def _failing_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "COMMANDS", {**cli.COMMANDS, "fail": "raising_command"})


@pytest.mark.parametrize(
    ("kind", "code", "told"),
    [
        ("none", 0, ""),
        ("input", 1, "bucket/x.xml:3: not a number"),
        ("config", 1, "e.yaml:1: not a name"),
        ("usage", 2, "no such thing"),
        ("store", 3, "cannot write s3://***@bucket"),
        ("os", 3, "PermissionError"),
        ("bug", 3, "ZeroDivisionError: oh"),
        ("interrupt", 130, "interrupted"),
        ("pipe", 141, ""),
    ],
)
def test_exit_codes_and_diagnostics(
    kind: str, code: int, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_forget_stdout", lambda: None)  # it would close pytest's own
    assert cli.main(["fail", kind]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert "HUSH" not in printed.err


def test_refused_input_is_a_json_document_where_json_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fail", "input", "--json"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {
        "errors": [{"code": "bad_score", "message": "not a number", "where": "s3://***@bucket/x.xml:3"}],
        "n_errors": 7,
    }
    assert "and 6 more problems" in printed.err


@pytest.mark.parametrize("line", ["", "--help", "--version", "nonsense", "score", "fail else", "fail none -x"])
def test_argparse_leaves_by_return_not_by_exception(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = line in {"--help", "--version"}
    assert cli.main(line.split()) == (0 if asked else 2)
    printed = capsys.readouterr()
    assert bool(printed.out) is asked
    assert bool(printed.err) is not asked


def test_usage_messages_show_no_credentials(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fail", "none", "s3://ID:HUSH@bucket/a"]) == 2
    assert "HUSH" not in capsys.readouterr().err


def test_options_are_not_guessed_from_their_first_letters(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["protocols", "--js"]) == 2
    assert "--js" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = [sys.executable, "-m", "pipeline.cli", "protocols", "sws2013"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.close()
    _, err = child.communicate(timeout=60)
    assert err == b""
    assert child.returncode == 141
