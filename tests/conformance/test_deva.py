"""Cases with DEVA's own figures at full precision, through the command line: rates at 2e-14, thresholds at 1 ulp."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deva_cases import arguments, read_case

from pipeline.cli import main

TOLERANCE = 2e-14
EVENTS = [
    *(("golden", name) for name in ("mtest1", "mtest2", "mtest2d", "mtest2m", "mtest2m13", "mtest2m13a")),
    *(
        ("generated", name)
        for name in "g01_basic g02_ties g04_missing g06_messy g07_edges g11_med15 g14_digits17 g15_filter_duration "
        "g16_rare g17_med13_edges".split()
    ),
]
AVERAGES = [("golden", "mtest3"), ("generated", "g12_blockavg")]
RATES = {"miss": "p_md", "fa": "p_fa", "comb": "ndc"}


def _score(options: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["score", *options, "--json", "--curve"]) == 0
    return json.loads(capsys.readouterr().out)


def _close(seen: float | None, expected: float | None, name: str) -> None:
    if expected is None:
        assert seen is None, name
    else:
        assert seen is not None, f"{name}: expected {expected}, found null"
        assert math.isclose(seen, expected, rel_tol=TOLERANCE, abs_tol=1e-16), (name, seen, expected)


def _same_threshold(seen: float | None, expected: float, name: str, *, printed: bool) -> None:
    """Within 1 ulp (SQLite's conversion of text is inexact); printed thresholds have 15 digits."""
    assert seen is not None, name
    allowed = abs(expected) * 5.001e-15 if printed else math.ulp(expected)
    assert abs(seen - expected) <= allowed, (name, seen, expected)


@pytest.mark.parametrize(("family", "name"), EVENTS)
def test_every_figure_of_every_event(
    conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], family: str, name: str
) -> None:
    case, expected, folder = read_case(conformance, family, name)
    options = arguments(case, folder, tmp_path)
    seen = _score(options, capsys)
    part = seen["conditions"]["short"] if "conditions" in seen else seen
    blocks = {block["id"]: block for block in part["blocks"]}
    for curve in expected["curves"]:
        block = blocks[curve["title"]]
        points = [point for point in part["curve"] if point["event"] == curve["title"]]
        _check_counts(block, curve["blocks"][0])
        if "decisions=file" not in options:  # else DEVA makes up a threshold from the decisions
            _same_threshold(block["threshold"], curve["act"]["threshold"], "submitted threshold", printed=True)
        if curve["metric"] == "MetricRo":
            _check_ro(block, curve)
        else:
            _check_ndc(block, curve, points)
        _check_precision(block, curve["global"])
        assert len(points) == curve["n_points"]
        for point, wanted in zip(points, curve["points"] or (), strict=bool(curve["points"])):
            _same_threshold(point["threshold"], wanted[0], "curve threshold", printed=False)
    evaluated = {curve["title"] for curve in expected["curves"]}
    assert all(block["p_md"] is None for event, block in blocks.items() if event not in evaluated)


def _check_counts(block: dict[str, Any], wanted: dict[str, Any]) -> None:
    counts = {
        "n_target": wanted["n_targ"],
        "n_nontarget": wanted["n_nontarg"],
        "n_hit": wanted["yes_targ"],
        "n_miss": wanted["no_targ"] + wanted["omitted_targ"],
        "n_omitted": wanted["omitted_targ"],
        "n_fa": wanted["yes_nontarg"],
        "n_correct_rejection": wanted["no_nontarg"],
    }
    assert {name: block[name] for name in counts} == counts


def _check_ndc(block: dict[str, Any], curve: dict[str, Any], points: list[dict[str, Any]]) -> None:
    for theirs, ours in RATES.items():
        _close(block[ours], curve["act"][theirs], f"actual {ours}")
    _close(block["min_ndc"], curve["best"]["comb"], "min_ndc")
    if curve["best"]["comb"] is not None:  # else DEVA prints a threshold of a minimum that does not exist
        _close(block["min_ndc_p_md"], curve["best"]["miss"], "miss at the minimum")
        _close(block["min_ndc_p_fa"], curve["best"]["fa"], "fa at the minimum")
        _same_threshold(block["min_ndc_threshold"], curve["best"]["score"], "best threshold", printed=True)
    ter = curve["iso"].get("12.4875", {"comb": None})
    _close(block["ndc_at_ter"], ter["comb"], "ndc_at_ter")
    if ter["comb"] is not None:
        _close(block["p_md_at_ter"], ter["miss"], "miss at TER")
        _close(block["ndc_at_ter_p_fa"], ter["fa"], "fa at TER")
        _same_threshold(block["ndc_at_ter_threshold"], ter["score"], "threshold at TER", printed=True)
    undefined = not block["n_nontarget"]  # DEVA's file has 0 for a false-alarm rate that its report calls NA
    for point, wanted in zip(points, curve["points"] or (), strict=bool(curve["points"])):
        for ours, value in zip(("p_miss", "p_fa", "ndc"), wanted[1:], strict=True):
            _close(point[ours], None if undefined and ours != "p_miss" else value, f"curve {ours} at {wanted[0]}")


def _check_ro(block: dict[str, Any], curve: dict[str, Any]) -> None:
    _close(block["ro"], curve["act"]["comb"], "ro")
    _close(100 * block["n_hit"] / block["n_target"], curve["act"]["miss"], "recall")
    _close(block["max_ro"], curve["best"]["comb"], "max_ro")
    _same_threshold(block["max_ro_threshold"], curve["best"]["score"], "max_ro threshold", printed=True)


def _check_precision(block: dict[str, Any], wanted: dict[str, Any]) -> None:
    for theirs, ours in (("APpct", "ap"), ("APPpct", "ap_prime")):
        if theirs in wanted:
            _close(block[ours], wanted[theirs]["value"], ours)


@pytest.mark.parametrize(("family", "name"), AVERAGES)
def test_the_block_average(
    conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], family: str, name: str
) -> None:
    case, expected, folder = read_case(conformance, family, name)
    seen = _score(arguments(case, folder, tmp_path), capsys)
    [curve] = expected["curves"]
    measures = seen["measures"]
    for theirs, ours in (("miss", "p_md"), ("fa", "p_fa")):
        _close(measures[ours]["value"], curve["act"][theirs], ours)
    _close(measures["ndc"]["value"], curve["act"]["comb"], "ndc of the mean rates")
    best, ter = curve["best"], curve["iso"]["12.4875"]
    for theirs, ours in (("comb", "value"), ("miss", "average_p_md"), ("fa", "average_p_fa")):
        _close(measures["min_ndc"][ours], best[theirs], f"minimum {theirs}")
    _same_threshold(measures["min_ndc_threshold"]["value"], best["score"], "threshold of the mean", printed=True)
    _close(measures["ndc_at_ter"]["value"], ter["comb"], "ndc_at_ter")
    _close(measures["p_md_at_ter"]["value"], ter["miss"], "p_md_at_ter")
    _same_threshold(measures["ndc_at_ter"]["average_threshold"], ter["score"], "threshold at TER", printed=True)
    mean = [point for point in seen["curve"] if point["event"] == ""]
    assert len(mean) == curve["n_points"]
    assert len(seen["blocks"]) == len(curve["blocks"])
    # The means of what each event has by itself go by names of their own.
    for measure in ("min_ndc", "ndc_at_ter", "p_md_at_ter"):
        own = [block[measure] for block in seen["blocks"] if block[measure] is not None]
        _close(measures[f"mean_{measure}"]["value"], math.fsum(own) / len(own), measure)
        assert measures[f"mean_{measure}"]["value"] != pytest.approx(measures[measure]["value"], rel=1e-3)


def test_one_case_in_a_process_of_its_own(conformance: Path, tmp_path: Path) -> None:
    case, expected, folder = read_case(conformance, "generated", "g01_basic")
    command = [sys.executable, "-m", "pipeline.cli", "score", *arguments(case, folder, tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    wanted = [curve["act"]["comb"] for curve in expected["curves"]]
    for block, value in zip(json.loads(done.stdout)["blocks"], wanted, strict=True):
        _close(block["ndc"], value, block["id"])
