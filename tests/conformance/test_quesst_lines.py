"""The lines that recipes parse of MediaEval's QUESST tool, and the tool's own figures in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from quesst_cases import write_document_case

from pipeline.cli import main
from pipeline.cli.quesst_lines import printed

NAMES = ("actTWV", "maxTWV", "Threshold", "actCnxe", "minCnxe")
TWV = re.compile(r"^actTWV: (\S+)  maxTWV: (\S+)  Threshold: (\S+)$", re.MULTILINE)
CNXE = re.compile(r"^actCnxe: (\S+)  minCnxe: (\S+)$", re.MULTILINE)


@pytest.mark.parametrize("prefix", ["d01", "d02", "d04", "d05"])
def test_the_lines_have_the_tool_s_figures(conformance, tmp_path, capsys, prefix):
    [path] = (conformance / "sws").glob(f"{prefix}_*.json")
    case = json.loads(Path(path).read_text())
    arguments = write_document_case(case, tmp_path)
    assert arguments[:2] == ["--protocol", "quesst"]
    assert main(["quesst-lines", *arguments[2:]]) == 0
    said = capsys.readouterr().out
    [twv], [cnxe] = TWV.findall(said), CNXE.findall(said)
    for name, text in zip(NAMES, (*twv, *cnxe), strict=True):
        assert float(text) == pytest.approx(float(case["official"][name]), rel=3e-6, abs=1e-7), name


def test_default_and_prior_are_settings(conformance, tmp_path, capsys):
    [path] = (conformance / "sws").glob("d05_*.json")
    case = json.loads(Path(path).read_text())
    arguments = write_document_case(case, tmp_path)[2:10]
    score = case["default_score"] if case["default_score"] is not None else -10
    assert main(["quesst-lines", *arguments, f"--default={score}", "--prior=0.5"]) == 0
    assert TWV.search(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.75, "0.75"),
        (0.0, "0.0"),
        (5.2125, "5.2125"),
        (12.0, "12.0"),
        (0.58333333333, "0.5833333"),
        (-7.993606e-15, "-7.993606E-15"),
        (1e7, "1.0E7"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_numbers_are_printed_as_java_prints_them(value, text):
    assert printed(value) == text
