"""Golden SWS 2012, SWS 2013 and Processing Load cases through the command line, at 1e-12."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sws_cases import write_detection_case, write_load_case

from pipeline.cli import main

TOLERANCE = 1e-12
DETECTION = "g01 g02 g04 g06 g08 g09 g10 g12 g13 g15 g16 g18 g19 g21".split()
LOAD = "p01 p03".split()
MEASURES = {
    **{name: name for name in ("atwv", "p_miss", "p_fa", "mtwv", "cxe", "cxe_prior", "cnxe")},
    **{name: name for name in ("min_cnxe_affine", "min_cnxe_pav")},
}
FACTS = {
    "beta": "beta",
    "p_tar": "p_target_effective",
    "theta_min_cost": "threshold_bayes",
    "n_queries_scored": "n_queries_scored",
    "n_true": "n_target",
}


def _case(conformance: Path, prefix: str) -> dict[str, Any]:
    [path] = (conformance / "sws").glob(f"{prefix}_*.json")
    return json.loads(path.read_text())


def _score(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["score", *arguments, "--json", "--curve"]) == 0
    return json.loads(capsys.readouterr().out)


def _close(seen: Any, expected: Any, name: str) -> None:
    if expected in ("inf", "-inf"):
        assert seen == expected, name
    elif expected is None:
        assert seen is None, name
    else:
        assert seen is not None, f"{name}: expected {expected}, found null"
        assert math.isclose(float(seen), float(expected), rel_tol=TOLERANCE, abs_tol=TOLERANCE), (name, seen, expected)


@pytest.mark.parametrize("prefix", DETECTION)
def test_every_figure_of_a_golden_case(
    conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], prefix: str
) -> None:
    case = _case(conformance, prefix)
    expected = case["expected"]
    seen = _score(write_detection_case(case, tmp_path), capsys)
    measures = seen["measures"]
    for name, measure in MEASURES.items():
        _close(measures[measure]["value"], expected[name], name)
    for name, fact in FACTS.items():
        _close(seen["facts"][fact], expected[name], name)
    _close(measures["mtwv_threshold"]["value"], expected["mtwv_theta"], "mtwv_theta")
    if expected["mtwv_theta"] is None:
        assert measures["mtwv_threshold"]["reason"] in ("reject_all", "no_scores")
    for name in ("p_miss", "p_fa"):
        _close(measures["mtwv"][name], expected[f"mtwv_{name}"], f"mtwv_{name}")
    assert measures["min_cnxe_affine"]["status"] == expected["min_cnxe_affine_status"]
    for name in ("gamma", "delta"):
        if name in expected and expected[name] is not None:
            _close(measures["min_cnxe_affine"][name], expected[name], name)
    _check_queries(seen["blocks"], expected.get("per_query", {}))
    if "twv_curve" in expected:
        _check_curve(seen["curve"], expected["twv_curve"])


def _check_queries(blocks: list[dict[str, Any]], expected: dict[str, dict[str, Any]]) -> None:
    by_id = {block["id"]: block for block in blocks}
    for query, counts in expected.items():
        for name, value in counts.items():
            _close(by_id[query]["n_target" if name == "n_true" else name], value, f"{query}.{name}")


def _check_curve(curve: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    assert len(curve) == len(expected)
    for point, wanted in zip(curve, expected, strict=True):
        for name in ("p_miss", "p_fa", "twv"):
            _close(point[name], wanted[name], f"curve at {wanted['theta']}: {name}")
        _close(point["threshold"], wanted["theta"], "curve threshold")


@pytest.mark.parametrize("prefix", DETECTION)
def test_the_trial_set_of_the_cross_entropy(
    conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], prefix: str
) -> None:
    case = _case(conformance, prefix)
    expected = case["expected"]
    cxe = _score(write_detection_case(case, tmp_path), capsys)["measures"]["cxe"]
    for name in ("n_nontarget_trials", "n_censored_target", "n_censored_nontarget", "llr_min"):
        _close(cxe[name], expected[name], name)
    if "warning" in expected:
        assert cxe["status"] == "more_detections_than_trials"


@pytest.mark.parametrize("prefix", DETECTION)
def test_official_mode_gives_stdeval_figures(
    conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], prefix: str
) -> None:
    case = _case(conformance, prefix)
    official = case.get("official", {})
    arguments = write_detection_case(case, tmp_path)
    arguments[arguments.index("plan")] = "official"
    measures = _score(arguments, capsys)["measures"]
    if "atwv_3dp" in official:
        assert measures["atwv"]["value"] == pytest.approx(float(official["atwv_3dp"]), abs=5.001e-4)
    if "mtwv" in official:
        assert measures["mtwv"]["value"] == pytest.approx(float(official["mtwv"]), abs=2e-15, rel=1e-14)
    assert measures["mtwv"]["value"] >= 0


@pytest.mark.parametrize("prefix", LOAD)
def test_processing_load(conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], prefix: str) -> None:
    case = _case(conformance, prefix)
    expected = case["expected"]
    measures = _score(write_load_case(case, tmp_path), capsys)["measures"]
    _close(measures["isf"]["value"], expected["isf"], "isf")
    _close(measures["ssf"]["value"], expected["ssf_per_hour"], "ssf")
    _close(measures["ssf"]["ssf_per_s"], expected["ssf_per_second"], "ssf_per_s")
    _close(measures["pl"]["value"], expected["pl_ssf_per_hour"], "pl")
    assert measures["ssf"]["unit"] == "1/h"


def test_a_golden_case_in_a_process_of_its_own(conformance: Path, tmp_path: Path) -> None:
    case = _case(conformance, "g15")
    command = [sys.executable, "-m", "pipeline.cli", "score", *write_detection_case(case, tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    _close(json.loads(done.stdout)["measures"]["atwv"]["value"], case["expected"]["atwv"], "atwv")
