"""DEVA's cases as command lines: MED profiles as they are, generic runs as a trial index and thresholds of our own."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SHORT = "short: ClipMD.DURATION < 100"


def read_case(conformance: Path, family: str, name: str) -> tuple[dict[str, Any], dict[str, Any], Path]:
    """A case, its figures at full precision, and its folder."""
    index = json.loads((conformance / "med" / family / "index.json").read_text())
    [case] = [case for case in index["cases"] if case["case"] == name]
    folder = conformance / "med" / family / name
    return case, json.loads((folder / "expected.json").read_text()), folder


def arguments(case: dict[str, Any], folder: Path, made: Path) -> list[str]:
    """The options of ``rescore score`` for a case; what DEVA took from SQL is written to ``made``."""
    files = {role: folder / name for role, name in case["files"].items()}
    options = ["--protocol", (case["profile"] or "med11").lower(), "--set", "missing_trials=drop"]
    if "index" not in files:
        options += _generic(case, files, made)
    elif case.get("threshold") is not None:
        files["threshold"] = _thresholds(files["index"], case["threshold"], made)
    if case["filter"].startswith("ClipMD"):
        options += ["--set", f"conditions={SHORT}"]
    for role in ("ref", "index", "detection", "threshold", "clipmd", "eventdb", "judgement"):
        if role in files:
            options += ["--input", f"{role}={files[role]}"]
    return options


def _generic(case: dict[str, Any], files: dict[str, Path], made: Path) -> list[str]:
    """DEVA without a profile: blocks come from a metadata table or there is one, decisions mostly from the file."""
    if "sys" in files:
        files["detection"] = files.pop("sys")
    rows = _rows(files.get("metadata") or files["detection"])
    block = {row["TrialID"]: row.get("Block", "BlockID") for row in rows}
    files["index"] = _write(
        made / "index.csv", "TrialID,ClipID,EventID", ((trial, trial, name) for trial, name in block.items())
    )
    options = ["--set", "score_range=any", "--set", "ter=12.4875"]
    if "threshold" not in files:
        options += ["--set", "columns=none", "--set", "decisions=file"]
        files["threshold"] = _write(
            made / "threshold.csv", "EventID", ((name,) for name in sorted(set(block.values())))
        )
    names = {"CostMiss": "c_miss", "CostFA": "c_fa", "Ptarg": "p_target"}
    for name, setting in names.items():
        options += ["--set", f"{setting}={case['params'][name]}"]
    return options


def _thresholds(index: Path, threshold: float, made: Path) -> Path:
    events = sorted({row["EventID"] for row in _rows(index)})
    return _write(
        made / "threshold.csv", "EventID,DetectionThreshold,DetectionTPT", ((e, threshold, 1) for e in events)
    )


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def _write(path: Path, header: str, rows: Iterable[tuple[Any, ...]]) -> Path:
    with path.open("w", newline="") as file:
        file.write(header + "\n")
        csv.writer(file, lineterminator="\n").writerows(rows)
    return path
