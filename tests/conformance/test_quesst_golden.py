"""Golden QUESST cases through the command line, at 1e-12."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from quesst_cases import write_document_case

from pipeline.cli import main

CASES = "d01 d02 d04 d05".split()
MEASURES = {
    "act_twv": "atwv",
    "max_twv": "mtwv",
    "max_twv_theta_ge": "mtwv_threshold",
    **{name: name for name in ("cxe", "cxe_prior", "cnxe", "min_cnxe_affine", "min_cnxe_pav")},
    "min_cnxe_pav_input_order": "min_cnxe_pav_input_order",
}
FACTS = {
    "prior": "p_target_effective",
    "beta": "beta",
    "n_queries_scored": "n_queries_scored",
    "n_docs": "n_documents",
    "n_trials": "n_pairs",
    "n_default": "n_default",
    "n_target": "n_target",
}


def _case(conformance: Path, prefix: str) -> dict[str, Any]:
    [path] = (conformance / "sws").glob(f"{prefix}_*.json")
    return json.loads(path.read_text())


def _close(seen: Any, expected: Any, name: str) -> None:
    assert seen is not None, f"{name}: expected {expected}, found null"
    assert math.isclose(float(seen), float(expected), rel_tol=1e-12, abs_tol=1e-12), (name, seen, expected)


@pytest.mark.parametrize("prefix", CASES)
@pytest.mark.parametrize("mode", ["official", "plan"])
def test_every_figure_of_a_golden_case(
    conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], prefix: str, mode: str
) -> None:
    case = _case(conformance, prefix)
    expected = case["expected"]
    arguments = ["score", *write_document_case(case, tmp_path), "--mode", mode, "--json"]
    assert main(arguments) == 0
    seen = json.loads(capsys.readouterr().out)
    measures = seen["measures"]
    for name, measure in MEASURES.items():
        _close(measures[measure]["value"], expected[name], name)
    for name, fact in FACTS.items():
        _close(seen["facts"][fact], expected[name], name)
    _close(measures["mtwv_threshold"]["jar_threshold"], expected["jar_threshold"], "jar_threshold")
    assert measures["min_cnxe_affine"]["status"] == expected["min_cnxe_affine_status"]
    for name in ("gamma", "delta"):
        _close(measures["min_cnxe_affine"][name], expected[name], name)
    blocks = {block["id"]: block for block in seen["blocks"]}
    for query, counts in expected["per_query"].items():
        for name, value in counts.items():
            _close(blocks[query]["n_target" if name == "n_true" else name], value, f"{query}.{name}")


@pytest.mark.parametrize("prefix", CASES)
def test_the_organisers_tool_prints_the_same(
    conformance: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], prefix: str
) -> None:
    case = _case(conformance, prefix)
    assert main(["score", *write_document_case(case, tmp_path), "--json"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    official = case["official"]
    for printed, measure in (
        ("actTWV", "atwv"),
        ("maxTWV", "mtwv"),
        ("actCnxe", "cnxe"),
        ("minCnxe", "min_cnxe_pav_input_order"),
    ):
        assert measures[measure]["value"] == pytest.approx(float(official[printed]), abs=1e-7)
    assert measures["mtwv_threshold"]["jar_threshold"] == pytest.approx(float(official["Threshold"]), rel=1e-7)


def test_a_golden_case_in_a_process_of_its_own(conformance: Path, tmp_path: Path) -> None:
    case = _case(conformance, "d04")
    command = [sys.executable, "-m", "pipeline.cli", "score", *write_document_case(case, tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["measures"]["min_cnxe_pav_input_order"]
    _close(found["value"], case["expected"]["min_cnxe_pav_input_order"], "min_cnxe_pav_input_order")
