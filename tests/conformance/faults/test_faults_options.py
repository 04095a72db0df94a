"""KWSEval's options alone and together: what the tool ignores is ignored, and a warning says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main

ALONE, SPLIT = -4.32079037800687, -2.5472
"""KWSEval's ATWV without -x charsplit (or with notASCII), and split with hyphens as blanks."""


def _scored(faults: Path, capsys: pytest.CaptureFixture[str], *options: str, name: str = "openkws13") -> dict[str, Any]:
    folder = faults / "05-charsplit-options"
    files = {"-e": "e.ecf.xml", "-r": "r.rttm", "-t": "k.kwlist.xml", "-s": "s.kwslist.xml"}
    named = [word for option, file in files.items() for word in (option, str(folder / file))]
    assert main(["score", "--protocol", name, *named, *options, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def _told(document: dict[str, Any]) -> list[str]:
    return [w["message"] for w in document["warnings"] if w["code"] in ("ignored_option", "ignored_setting")]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-x", "deleteHyphens"], ["delete_hyphens"]),
        (["-x", "notASCII"], ["-x notASCII"]),
        (["-x", "notASCII", "-x", "deleteHyphens"], ["-x notASCII", "delete_hyphens"]),
        (["--set", "delete_hyphens=true"], ["delete_hyphens"]),
        (["--set", "delete_hyphens=true", "--mode", "plan"], ["delete_hyphens"]),
        ([], []),
    ],
)
def test_text_filters_do_nothing_without_charsplit(
    faults: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: list[str]
) -> None:
    document = _scored(faults, capsys, *options)
    assert document["facts"]["n_target"] == 4
    if "plan" not in options:
        assert document["measures"]["atwv"]["value"] == pytest.approx(ALONE, rel=1e-12)
    assert [message.split(" has no effect")[0].split("=")[0] for message in _told(document)] == told


def test_with_charsplit_they_have_their_effect(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split = _scored(faults, capsys, "-x", "charsplit", "-x", "deleteHyphens")
    kept = _scored(faults, capsys, "-x", "deleteHyphens", "-x", "charsplit", "-x", "notASCII")
    assert _told(split) == _told(kept) == []
    assert (split["facts"]["n_target"], kept["facts"]["n_target"]) == (5, 4)
    assert split["measures"]["atwv"]["value"] == pytest.approx(SPLIT, abs=5e-5)
    assert kept["measures"]["atwv"]["value"] == pytest.approx(ALONE, rel=1e-12)


def test_conditions_are_scored_by_query_where_the_whole_is_pooled(
    faults: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pooled = _scored(faults, capsys, "-P", "-Y", "A:cts")
    assert pooled["measures"]["atwv"]["value"] == pytest.approx(-20.08125, rel=1e-12)
    part = pooled["conditions"]["A"]
    assert [block["id"] for block in part["blocks"]] == ["K1", "K3"]
    assert part["measures"]["atwv"]["value"] == pytest.approx(1 - 999.9 / 39 / 2, rel=1e-12)


def test_segments_ignore_what_counts_seconds(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = _scored(faults, capsys, name="openkws13-segments")
    told = _scored(faults, capsys, "-g", "-S", "3", "-n", "2", "-E", "-j", name="openkws13-segments")
    assert told["measures"] == plain["measures"]
    assert sorted(message.split("=")[0] for message in _told(told)) == [
        "ecf_filter",
        "just_system_terms",
        "tolerance_s",
        "trials_per_s",
    ]
    assert _told(plain) == []
