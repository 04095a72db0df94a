"""The fault of finite scores near the largest double: its files, and the same with other huge scores."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main

HUGE = ("9e307", "1e300", "1e308", "1.7976931348623157e308")
OF_VALUES = {"mtwv_threshold", "twv_bayes", "cxe", "cnxe", "cxe_submitted", "min_cnxe_affine", "calibration_loss"}
N_FALSE = 158
"""Trials that are no targets: 160 s of audio, two occurrences."""


def document(
    folder: Path, scores: tuple[str, ...], place: Path, capsys: pytest.CaptureFixture[str], *more: str
) -> dict[str, Any]:
    """The document of the folder's evaluation with other scores in the output."""
    text = (folder / "s.xml").read_text()
    assert text.count('score="9e307"') == len(scores) == 3
    for value in scores:
        text = text.replace('score="9e307"', f'score="{value}" ', 1)
    (place / "s.xml").write_text(text)
    files = ["-e", "sorted.ecf.xml", "-r", "r.rttm", "-t", "k.tlist.xml"]
    paths = [name if name.startswith("-") else str(folder / name) for name in files]
    code = main(["score", "--protocol", "openkws13", *paths, "-s", str(place / "s.xml"), "--json", *more])
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    found: dict[str, Any] = json.loads(said.out)
    return found


@pytest.mark.parametrize("mode", ["official", "plan"])
@pytest.mark.parametrize("second", [*HUGE, "-1e308", "-1.7976931348623157e308", "5e-324", "2.5"])
@pytest.mark.parametrize("first", HUGE)
def test_huge_scores(
    faults: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str, second: str, mode: str
) -> None:
    folder = faults / "13-huge-scores"
    scores = (first, second, first)
    usual = ("2", "2", "2") if first == second else ("2", "3" if float(second) > float(first) else "1", "2")
    huge, ordinary = (document(folder, own, tmp_path, capsys, "--mode", mode) for own in (scores, usual))
    for name, figure in huge["measures"].items():
        assert (figure["value"] is None) == (figure["reason"] is not None)
        expected = ordinary["measures"][name]["value"]
        if name not in OF_VALUES:
            assert figure["value"] == (expected if expected is None else pytest.approx(expected, rel=1e-12)), name


def test_the_cost_of_the_files_as_they_are(faults: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(faults / "13-huge-scores", ("9e307",) * 3, tmp_path, capsys)
    measures, prior = found["measures"], found["facts"]["p_target_effective"]
    # The omitted targets have the lowest score too, which is right; all others cost as much as their score says.
    assert measures["cxe"]["value"] == pytest.approx((1 - prior) * (9e307 / math.log(2)), rel=1e-12)
    assert measures["cnxe"]["value"] == measures["calibration_loss"]["value"] == "inf"  # 9e307 / 0.0079
    assert measures["min_cnxe_affine"]["status"] == "gamma_zero"


def test_a_mean_below_the_largest_double_is_finite(
    faults: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    largest = repr(sys.float_info.max)
    found = document(faults / "13-huge-scores", ("-8", largest, largest), tmp_path, capsys)["measures"]
    prior = 0.0009991008092716555
    nats = (1 - prior) * (sys.float_info.max / N_FALSE * 2)
    assert found["cxe"]["value"] == pytest.approx(nats / math.log(2), rel=1e-12)
    assert found["cnxe"]["value"] == "inf"  # more than a hundred times that
