"""Multiclass cases and all their pairs in the K-class core: costs at 1e-12, minima at 1e-11, statuses equal."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.metrics.multiclass.figures import multiclass_figures
from tests.plain_entropies import calibrate

CASES = "c01 c02 c03 c05 c06 c07 c09 c10 c11 c12 c13 c16".split()
CLASSES = {
    "Plenty": "Basque Catalan English Galician Portuguese Spanish OOS".split(),
    "Empty": "French German Greek Italian OOS".split(),
}
FIGURES = "C_mce C_def C_min F_mce F_def F_min F_act F_dis".split()


def _rows(folder: Path) -> tuple[list[str], bool, np.ndarray, list[str]]:
    """Classes, whether the set is closed, scores and true labels, in the order of the file."""
    key = dict(line.split() for line in (folder / "key.txt").read_text().splitlines())
    [path] = folder.glob("*.out")
    fields = [line.split() for line in path.read_text().splitlines()]
    scores = np.array([[float(score) for score in row[3:]] for row in fields])
    return CLASSES[fields[0][0]], fields[0][1] == "Closed", scores, [key[row[2]] for row in fields]


def _check(expected: dict[str, Any], classes: list[str], columns: list[str], scores: Any, labels: list[str]) -> None:
    known = np.array([label in classes for label in labels])
    llh = scores[known][:, [columns.index(name) for name in classes]]
    truth = np.array([classes.index(label) for label in labels if label in classes])
    prior = [float(Fraction(p)) for p in expected.get("prior", ())] or [1 / len(classes)] * len(classes)
    found, first = calibrate(llh, truth, prior)
    figures = multiclass_figures(first, found, prior)
    for name in FIGURES:
        want, seen = float(expected[name]), figures[name.lower()].value
        tolerance = 1e-11 if name in ("C_min", "F_min", "F_dis") else 1e-12
        assert math.isclose(seen, want, rel_tol=tolerance, abs_tol=1e-290), (classes, name, seen, want)
    assert found.status == expected["recalibration"]["status"]
    if found.status == "overlap":
        assert found.scale == pytest.approx(float(expected["recalibration"]["alpha"]), rel=1e-9)
        offsets = [float(beta) for beta in expected["recalibration"]["beta_sum_zero"]]
        assert found.offsets == pytest.approx(offsets, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("prefix", CASES)
def test_minimum_status_scale_and_offsets(conformance: Path, prefix: str) -> None:
    [folder] = (conformance / "lre").glob(f"{prefix}_*")
    expected = json.loads((folder / "expected.json").read_text())
    columns, closed, scores, labels = _rows(folder)
    parts = {"|".join(columns[:-1] if closed else columns): expected["multiclass"], **expected["pairs"]}
    checked = 0
    for name, figures in parts.items():
        if "error" not in figures:
            _check(figures, name.split("|"), columns, scores, labels)
            checked += 1
    assert checked >= len(expected["pairs"]) - 5
