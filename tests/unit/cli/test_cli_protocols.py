from __future__ import annotations

import json

import pytest

from pipeline.cli import main
from pipeline.protocols import names


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocols"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(names())
    assert main(["protocols", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["protocols"]
    assert [entry["protocol"] for entry in listed] == list(names())
    assert all(entry["title"] and entry["edition"] >= 1 and entry["modes"] for entry in listed)


def test_one_protocol_lists_roles_settings_measures_and_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocols", "sws2013", "--mode", "plan", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    names = ["ecf", "rttm", "kwlist", "output", "scoring_ecf", "queries", "resources"]
    assert [role["name"] for role in described["roles"]] == names
    settings = {entry["name"]: entry for entry in described["settings"]}
    assert settings["c_miss"]["value"] == 100
    assert settings["p_target"]["value"] == 1.5e-4
    assert all(entry["meaning"] and entry["allowed"] and entry["source"] for entry in settings.values())
    measures = {entry["name"]: entry for entry in described["measures"]}
    assert {"atwv", "mtwv", "cnxe", "pl"} <= set(measures)
    assert all(entry["unit"] and entry["source"] for entry in measures.values())
    assert (measures["mtwv"]["bounds"], measures["atwv"]["bounds"]) == ("[0, 1]", "(-inf, 1]")


def test_one_protocol_as_text_holds_the_same_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocols", "openkws13"]) == 0
    text = capsys.readouterr().out
    for word in ("openkws13", "atwv", "tolerance_s", "-e", "optional", "0.0001", "(-inf, 1]"):
        assert word in text


def test_unknown_protocol_or_mode_is_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["protocols", "none"]) == 2
    assert "openkws13" in capsys.readouterr().err
    assert main(["protocols", "openkws13", "--mode", "x"]) == 2
