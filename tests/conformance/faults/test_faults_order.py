"""Faults found by trying: the order of rows. The right values are those of STDEval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline import protocols
from pipeline.engine.result import document
from pipeline.engine.score import score_files

CONDITION = {"condition": "source_type BN:bnews"}


def _scored(folder: Path, ecf: str, name: str, mode: str, **settings: str) -> dict[str, Any]:
    inputs = {"ecf": ecf, "rttm": "r.rttm", "kwlist": "k.tlist.xml", "output": "s.stdlist.xml"}
    protocol = protocols.find(name, mode=mode, overrides={**CONDITION, **settings})
    return document(score_files(protocol, {role: str(folder / file) for role, file in inputs.items()}), curve=True)


@pytest.mark.parametrize("excerpt_sum", ["kwseval", "channel_1", "sum"])
@pytest.mark.parametrize("mode", ["official", "plan"])
@pytest.mark.parametrize("name", ["std2006", "sws2011", "sws2012", "sws2013", "openkws13", "openkws13-segments"])
def test_the_rows_of_an_ecf_may_stand_in_any_order(faults: Path, name: str, mode: str, excerpt_sum: str) -> None:
    ecfs = ("chan1first.ecf.xml", "chan2first.ecf.xml")
    first, second = (_scored(faults / "11-ecf-order", ecf, name, mode, excerpt_sum=excerpt_sum) for ecf in ecfs)
    for scored in (first, second):
        t_audio_s = 180 if excerpt_sum == "sum" else 160
        assert scored["facts"]["t_audio_s"] == t_audio_s
        assert scored["conditions"]["BN"]["facts"]["t_audio_s"] == t_audio_s
    names = ("facts", "measures", "blocks", "curve", "conditions")
    assert {part: second[part] for part in names} == {part: first[part] for part in names}


@pytest.mark.parametrize("channel", [1, 2])
def test_atwv_whatever_the_order(faults: Path, channel: int) -> None:
    """1 - (1/2 + 999.9 / (160 - 1)) with the one false alarm that one of two occurrences is found with."""
    scored = _scored(faults / "11-ecf-order", f"chan{channel}first.ecf.xml", "std2006", "official")
    for part in (scored, scored["conditions"]["BN"]):
        assert part["measures"]["atwv"]["value"] == pytest.approx(-5.83, abs=0.005)
