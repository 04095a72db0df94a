"""Cases with KWSEval's own figures at full precision, through the command line, at relative 1e-11."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main

TOLERANCE = 1e-11
CASES = [
    *(("generated", name) for name in ("base", "ties", "collar", "duplicates", "dense_minmax", "sws2013", "medium")),
    *(("f4de", name) for name in ("test3", "bn_cts_mtg")),
]
SETTINGS = {
    "align_tol": "tolerance_s",
    "find_gap": "word_gap_s",
    "cost": "c_fa",
    "value": "c_miss",
    "p_term": "p_target",
    "trials_per_sec": "trials_per_s",
    "include_no_targets": "include_no_targets",
}
ROLES = {"ecf": "-e", "rttm": "-r", "kwlist": "-t", "kwslist": "-s"}


def _case(conformance: Path, family: str, name: str) -> dict[str, Any]:
    index = json.loads((conformance / "kws" / family / "index.json").read_text())
    [case] = [case for case in index["cases"] if case["case"] == name]
    return case


def _arguments(conformance: Path, family: str, case: dict[str, Any]) -> list[str]:
    arguments = ["--protocol", "openkws13"]
    for role, option in ROLES.items():
        arguments += [option, str(conformance / "kws" / family / case["files"][role])]
    for option, setting in SETTINGS.items():
        arguments += ["--set", f"{setting}={case['options'][option]}"]
    return arguments


def _close(seen: float | None, expected: float | None, name: str) -> None:
    if expected is None:
        assert seen is None, name
    else:
        assert seen is not None, f"{name}: expected {expected}, found null"
        assert math.isclose(seen, expected, rel_tol=TOLERANCE, abs_tol=1e-15), (name, seen, expected)


@pytest.mark.parametrize(("family", "name"), CASES)
def test_figures_thresholds_and_keywords(
    conformance: Path, capsys: pytest.CaptureFixture[str], family: str, name: str
) -> None:
    case = _case(conformance, family, name)
    assert main(["score", *_arguments(conformance, family, case), "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    expected = case["expected"]["main"]
    assert seen["facts"]["n_trials"] == expected["trial_params"]["TotTrials"]
    _close(seen["facts"]["t_audio_s"], expected["trial_params"]["TotDur"], "TotDur")
    _close(seen["facts"]["beta"], expected["metric_params"]["BETA"], "BETA")
    measures = {measure: entry["value"] for measure, entry in seen["measures"].items()}
    actual, maximum = expected["actual"], expected["maximum"]
    for measure, value in (("atwv", actual["twv"]), ("p_miss", actual["pmiss"]), ("p_fa", actual["pfa"])):
        _close(measures[measure], value, measure)
    _close(measures["mtwv"], maximum["twv"], "mtwv")
    assert measures["mtwv_threshold"] == maximum["thresh"]
    for companion, value in (("p_miss", maximum["pmiss"]), ("p_fa", maximum["pfa"])):
        _close(seen["measures"]["mtwv"][companion], value, f"mtwv {companion}")
    blocks = {block["id"]: block for block in seen["blocks"]}
    assert set(blocks) == set(expected["keywords"])
    for keyword, wanted in expected["keywords"].items():
        block = blocks[keyword]
        if wanted["evaluated"]:
            counts = {"n_target": "n_targ", "n_hit": "n_corr", "n_miss": "n_miss", "n_fa": "n_fa"}
            assert {ours: block[ours] for ours in counts} == {ours: wanted[k] for ours, k in counts.items()}, keyword
            for ours, k in (("twv", "twv"), ("p_fa", "pfa"), ("p_miss", "pmiss")):
                _close(block[ours], wanted[k], f"{keyword} {ours}")
        else:
            assert block["twv"] is None, keyword


def test_a_case_in_a_process_of_its_own(conformance: Path) -> None:
    case = _case(conformance, "generated", "base")
    command = [sys.executable, "-m", "pipeline.cli", "score", *_arguments(conformance, "generated", case), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)["measures"]["atwv"]["value"]
    _close(seen, case["expected"]["main"]["actual"]["twv"], "atwv")
