"""Figures of a protocol's edition never move: whoever moves them raises the edition."""

from __future__ import annotations

import json

import pytest
from golden import FROZEN, every_protocol, golden

STORED = json.loads(FROZEN.read_text())
HOW = "python tests/unit/protocols/golden.py"


@pytest.mark.parametrize("name", every_protocol())
def test_the_figures_are_those_of_the_edition(name: str) -> None:
    protocol = every_protocol()[name]
    assert name in STORED, f"{name} is not frozen yet: {HOW}"
    frozen, now = STORED[name], golden(protocol)
    assert now["edition"] >= frozen["edition"], "an edition is never taken back"
    if now["edition"] > frozen["edition"]:
        pytest.fail(f"{name} has the new edition {now['edition']}: freeze it ({HOW})")
    told = f"{name} gives other figures under edition {now['edition']}: raise it in the protocol, then {HOW}"
    assert now["figures"] == frozen["figures"], told
    assert now["digest"] == frozen["digest"], f"{told} (not a figure, but a block, a table, a curve or a fact moved)"


def test_nothing_is_frozen_that_no_longer_exists() -> None:
    assert STORED.keys() == every_protocol().keys()
