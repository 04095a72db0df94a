from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from flows.rescore import RunSummary
from pipeline.cli import main


def test_a_refused_evaluation_file_is_told_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "e.yaml"
    path.write_text("name: x\nprotocol: sws2013\nsystems: {}\n")
    assert main(["run", str(path), "--store", str(tmp_path / "store"), "--json"]) == 1
    printed = capsys.readouterr()
    errors = json.loads(printed.out)["errors"]
    assert {(error["code"], error["where"]) for error in errors} == {("missing_field", f"{path}:1")}
    assert "`datasets` is missing" in printed.err


RUNNING = (["run", "e.yaml"], ["watch", "e.yaml"], ["demo"])


@pytest.mark.parametrize("command", RUNNING, ids=" ".join)
@pytest.mark.parametrize("workers", ["0", "-1", "two", "1.5"])
def test_workers_are_a_count(command: list[str], workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, f"--workers={workers}"]) == 2
    assert "at least 1" in capsys.readouterr().err


@pytest.mark.parametrize("command", RUNNING, ids=" ".join)
def test_a_store_in_memory_is_refused_before_anything_starts(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--store", "memory://x"]) == 2
    assert "lives in one process" in capsys.readouterr().err


def test_the_options_reach_the_flow_and_the_summary_is_strict_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: dict[str, Any] = {}
    board = ({"system": "a", "atwv": 0.5, "cnxe": math.inf}, {"system": "b", "atwv": math.nan, "cnxe": None})

    def instead(evaluation: str, **options: Any) -> RunSummary:
        asked.update(options, evaluation=evaluation)
        return RunSummary("r1", "s3://ID:HUSH@b", 1, 1, 0, {"page": "s3://ID:HUSH@b/index.html"}, board)

    monkeypatch.setattr("flows.rescore.run_evaluation", instead)
    assert (
        main(
            [
                "run",
                "e.yaml",
                "--store",
                "s3://b",
                "--cluster",
                "tcp://h:1",
                "--workers",
                "3",
                "--json",
                "--det",
                "svg,PDF",
            ]
        )
        == 0
    )
    said = {"evaluation": "e.yaml", "store": "s3://b", "cluster": "tcp://h:1", "workers": 3}
    assert asked == {**said, "quiet": True, "alignments": False, "det": ("svg", "pdf"), "own_process": True}
    assert json.loads(capsys.readouterr().out) == {
        "run_id": "r1",
        "store": "s3://***@b",
        "n_scored": 1,
        "n_failed": 1,
        "waits": [],
        "warnings": [],
        "n_reused": 0,
        "work": {},
        "paths": {"page": "s3://***@b/index.html"},
        "board": [{"system": "a", "atwv": 0.5, "cnxe": "inf"}, {"system": "b", "atwv": None, "cnxe": None}],
    }
