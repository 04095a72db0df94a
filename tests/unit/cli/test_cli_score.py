from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kws_files import ATWV, KWLIST, OUTPUT, UNIT_COSTS, write_cell

from pipeline.cli import main

HEAVY = ("xarray", "zarr", "dask", "distributed", "s3fs", "prefect", "pandas", "pydantic", "rich")


def no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def scored(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert main(["score", "--protocol", "openkws13", "--json", *argv]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=no_constant)
    return document


def test_the_document_of_a_worked_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = scored(capsys, *write_cell(tmp_path), *UNIT_COSTS)
    assert list(document)[:7] == ["protocol", "edition", "mode", "signature", "facts", "measures", "blocks"]
    assert (document["protocol"], document["edition"], document["mode"]) == ("openkws13", 2, "official")
    assert document["facts"]["t_audio_s"] == 100
    assert document["facts"]["n_queries_scored"] == 2
    atwv = document["measures"]["atwv"]
    assert (atwv["value"], atwv["unit"], atwv["reason"]) == (pytest.approx(ATWV, abs=1e-15), "1", None)
    assert document["measures"]["isf"]["value"] is None
    assert document["measures"]["isf"]["reason"]
    assert [(b["id"], b["n_target"], b["n_hit"], b["n_miss"], b["n_fa"]) for b in document["blocks"]] == [
        ("K1", 2, 1, 1, 1),
        ("K2", 1, 1, 0, 0),
        ("K3", 0, 0, 0, 0),
    ]
    assert document["blocks"][2]["p_miss"] is None
    assert "curve" not in document


def test_the_curve_comes_where_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curve = scored(capsys, *write_cell(tmp_path), *UNIT_COSTS, "--curve")["curve"]
    assert [point["threshold"] for point in curve[:3]] == [0.7, 0.8, 0.9]
    assert {"threshold", "p_miss", "p_fa", "twv"} <= set(curve[0])


def test_only_the_measures_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything = scored(capsys, *write_cell(tmp_path), *UNIT_COSTS, "--set", "condition=oov")
    some = scored(capsys, *write_cell(tmp_path), *UNIT_COSTS, "--set", "condition=oov", "--measures", "mtwv, atwv")
    assert list(some["measures"]) == ["atwv", "mtwv"]
    assert some["measures"] == {name: everything["measures"][name] for name in some["measures"]}
    assert [list(part["measures"]) for part in some["conditions"].values()] == [
        ["atwv", "mtwv"] for _ in everything["conditions"]
    ]
    assert (some["blocks"], some["facts"], some["warnings"]) == ([], everything["facts"], everything["warnings"])
    assert some["signature"] == everything["signature"]
    assert not {"calibration", "ape", "pav", "curve"} & some.keys()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--measures", "atwv,mtvw"], "openkws13 has no measure mtvw (allowed: atwv, mtwv, mtwv_threshold,"),
        (["--measures", ","], "--measures names none"),
        (["--measures", "atwv", "--curve"], "--measures leaves out what --curve would show"),
        (["--measures", "atwv", "--bsum", "b.csv"], "--measures leaves out what --bsum would show"),
    ],
)
def test_measures_that_cannot_be(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "--protocol", "openkws13", *write_cell(tmp_path), *words]) == 2
    assert told in capsys.readouterr().err


def test_a_silent_system_scores_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    silent = '<kwslist kwlist_filename="k" language="x" system_id="s"></kwslist>'
    measures = scored(capsys, *write_cell(tmp_path, output=silent))["measures"]
    assert measures["atwv"]["value"] == 0
    assert measures["mtwv_threshold"]["value"] is None
    assert measures["mtwv_threshold"]["reason"] in {"no_scores", "reject_all"}


def test_settings_reach_the_figures_in_any_spelling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = write_cell(tmp_path)
    by_set = scored(capsys, *cell, "--set", "c_fa=1", "--set", "c_miss=1.0", "--set", "p_target=5e-1")
    assert by_set["measures"]["atwv"]["value"] == pytest.approx(ATWV, abs=1e-15)
    with_silent = [
        scored(capsys, *cell, *UNIT_COSTS, "--set", f"include_no_targets={yes}")["measures"]["atwv"]["value"]
        for yes in ("true", "True", "TRUE")
    ]
    assert len(set(with_silent)) == 1
    assert with_silent[0] != by_set["measures"]["atwv"]["value"]


@pytest.mark.parametrize(
    ("extra", "told"),
    [
        (["--set", "tolerence_s=1"], "tolerance_s"),
        (["--set", "tolerance_s=much"], "tolerance_s"),
        (["--set", "include_no_targets=maybe"], "true | false"),
        (["--mode", "draft"], "official"),
        (["--input", "keys=x"], "allowed: ecf, rttm"),
    ],
)
def test_wrong_usage_names_what_is_allowed(
    extra: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "--protocol", "openkws13", *write_cell(tmp_path), *extra]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err


def test_unknown_protocol_and_missing_inputs_are_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = write_cell(tmp_path)
    assert main(["score", "--protocol", "openkws31", *cell]) == 2
    assert "openkws13" in capsys.readouterr().err
    assert main(["score", "--protocol", "openkws13", *cell[:4]]) == 2
    assert "kwlist, output" in capsys.readouterr().err


def test_refused_input_tells_every_problem_of_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = write_cell(
        tmp_path,
        output=OUTPUT.replace('score="0.9"', 'score="high"').replace('score="0.7"', 'score="NaN"'),
        rttm="LEXEME f1 1 ten 1.0 alpha lex spk <NA>\n",
    )
    assert main(["score", "--protocol", "openkws13", "--json", *cell]) == 1
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["n_errors"] == 3
    assert {error["where"].removeprefix(str(tmp_path)) for error in document["errors"]} == {
        "/rttm.xml:1",
        "/output.xml:3",
        "/output.xml:7",
    }
    assert all(error["code"] and error["message"] for error in document["errors"])
    assert "output.xml:3" in printed.err


def test_a_missing_file_is_refused_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = write_cell(tmp_path)
    assert main(["score", "--protocol", "openkws13", *cell[:-1], str(tmp_path / "none.xml")]) == 1
    assert "none.xml" in capsys.readouterr().err


def test_text_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--protocol", "openkws13", *write_cell(tmp_path), *UNIT_COSTS, "--per-query"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["atwv", f"{ATWV:.6g}"] in lines
    assert any(line[:3] == ["K1", "alpha", "2"] for line in lines)
    assert any(line[:1] == ["isf"] and "undefined:" in line for line in lines)


@pytest.mark.parametrize("command", [["score", "--protocol", "sws2013", "--json"], ["validate"]])
def test_small_commands_import_nothing_heavy(command: list[str], tmp_path: Path) -> None:
    code = (
        "import sys; from pipeline.cli import main; code = main(sys.argv[1:]); "
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr); sys.exit(code)"
    )
    argv = [sys.executable, "-c", code, *command, *write_cell(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]")


@pytest.mark.parametrize(
    ("words", "n_target"),
    [
        (["--protocol", "std2006"], [2, 1, 4]),
        (["--protocol", "std2006", "--set", "repeated_texts=once"], [2, 1, 2]),
        (["--protocol", "std2006", "--mode", "plan"], [2, 1, 2]),
        (["--protocol", "openkws13"], [2, 1, 2]),
    ],
)
def test_a_text_that_is_listed_twice_counts_again_in_stdeval(
    words: list[str], n_target: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = write_cell(tmp_path, kwlist=KWLIST.replace("gamma", "alpha"))
    assert main(["score", *words, "--json", *cell]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [block["n_target"] for block in document["blocks"]] == n_target
    told = [warning["message"] for warning in document["warnings"] if warning["code"] == "repeated_text"]
    assert [message.split(" have ")[0] for message in told] == (["K3"] if n_target[2] == 4 else [])


def test_text_shows_the_short_signature_unless_told_otherwise(tmp_path, capsys):
    options = ["score", "--protocol", "openkws13", *write_cell(tmp_path)]
    assert main(options) == 0
    assert capsys.readouterr().out.rstrip().splitlines()[-1].strip().startswith("openkws13.")
    assert main([*options, "--signature", "long"]) == 0
    long = capsys.readouterr().out.rstrip().splitlines()[-1]
    assert "|tolerance_s:" in long
    assert "|rescore:" in long
