"""Minima that were missed: the right value was found by two independent optimisers."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main


@pytest.mark.parametrize(
    ("case", "value", "gamma", "delta"),
    [
        ("ordinary", 0.7226874485314462891, 2.0143, 7.8048),
        ("wide", 0.79882290713047535129, 7.8e-15, -0.2875),
    ],
)
def test_the_affine_minimum_is_reached(
    faults: Path, capsys: Any, monkeypatch: Any, case: str, value: float, gamma: float, delta: float
) -> None:
    folder = faults / "14-missed-minimum" / case
    monkeypatch.chdir(folder)
    assert main(shlex.split((folder / "command.txt").read_text())[1:]) == 0
    found = json.loads(capsys.readouterr().out)["measures"]["min_cnxe_affine"]
    assert found["status"] == "ok"
    assert found["value"] == pytest.approx(value, abs=1e-12)
    assert (found["gamma"], found["delta"]) == pytest.approx((gamma, delta), rel=1e-2)
