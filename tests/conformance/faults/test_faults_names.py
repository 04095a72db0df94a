"""Names that do not agree are named on both sides, wherever they are looked at; figures stay KWSEval's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main

E_R_T_S = ("-e", "e.ecf.xml", "-r", "r.rttm", "-t", "k.kwlist.xml", "-s", "s.kwslist.xml")
NO_KEY = (*E_R_T_S[:2], *E_R_T_S[4:])


def _said(capsys: pytest.CaptureFixture[str], command: str, folder: Path, *words: str, code: int = 0) -> Any:
    named = [str(folder / word) if not word.startswith("-") else word for word in words]
    assert main([command, "--protocol", "openkws13", *named, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def _by_code(document: Any, where: str) -> dict[str, str]:
    found = [one for one in document["warnings"] if one["where"].partition(":")[0].endswith(where)]
    assert len({one["code"] for one in found}) == len(found)
    return {one["code"]: one["message"] for one in found}


def test_a_key_that_spells_a_recording_differently(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = faults / "03-key-against-ecf/k_rttmfile"
    scored = _said(capsys, "score", folder, *E_R_T_S)
    assert scored["measures"]["atwv"]["value"] == pytest.approx(-9.1, abs=5e-5)
    for document in (scored, _said(capsys, "validate", folder, *E_R_T_S[:4])):
        told = _by_code(document, "r.rttm")
        for code in ("unknown_file", "missing_file"):
            assert "the key alone has 'X1'; the ECF alone has 'F1'" in told[code]
        assert told["unknown_file"].startswith("5 words name recordings that the ECF lacks")
    assert _by_code(scored, "r.rttm")["targets_lost"].startswith("3 of the key's 5 targets are lost")


def test_a_key_that_spells_every_channel_differently(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = faults / "03-key-against-ecf/k_chA"
    scored = _said(capsys, "score", folder, *E_R_T_S)
    assert scored["measures"]["atwv"]["reason"] == "no_targets"
    for document in (scored, _said(capsys, "validate", folder, *E_R_T_S[:4])):
        message = _by_code(document, "r.rttm")["unknown_channel"]
        assert message.startswith("7 words name a channel that the ECF lacks")
        assert "the key alone has 'F1 A', 'F2 A'; the ECF has 'F1 1', 'F2 1' ('F1 A' may mean 'F1 1'" in message


@pytest.fixture
def sound(faults: Path, tmp_path: Path) -> Path:
    """The first case with its key as it was meant."""
    folder = tmp_path / "sound"
    shutil.copytree(faults / "03-key-against-ecf/k_rttmfile", folder)
    folder.chmod(0o755)
    key = folder / "r.rttm"
    key.chmod(0o644)
    key.write_text(key.read_text().replace("X1", "F1"))
    return folder


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda text: text, None, ""),
        (
            lambda text: text + "LEXEME F3 1 1.00 0.30 yes lex s3 <NA>\n",
            "unknown_file",
            "1 words name recordings that the ECF lacks",
        ),
        (
            lambda text: text + "LEXEME F2 1 77.00 0.30 so lex s3 <NA>\n",
            "outside_ecf",
            "1 words lie outside the ECF's excerpts of their recording and channel",
        ),
        (
            lambda text: "".join(row for row in text.splitlines(keepends=True) if " F2 " not in row),
            "missing_file",
            "1 of 2 recordings of the ECF have no words in the key; every detection there is a false alarm: the key",
        ),
    ],
)
def test_rows_beyond_recordings_without_and_beyond_the_end(
    sound: Path, capsys: pytest.CaptureFixture[str], change: Any, code: str | None, said: str
) -> None:
    key = sound / "r.rttm"
    key.write_text(change(key.read_text()))
    scored = _said(capsys, "score", sound, *E_R_T_S)
    for document in (scored, _said(capsys, "validate", sound, *E_R_T_S[:4])):
        told = _by_code(document, "r.rttm")
        assert {one for one in told if one != "targets_lost"} == ({code} if code else set())
        assert code is None or told[code].startswith(said)
    if code is None:
        assert scored["measures"]["atwv"]["value"] == pytest.approx(-2.5472, abs=5e-5)


def test_an_output_that_spells_a_recording_differently(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = faults / "04-output-against-ecf"
    for document in (_said(capsys, "score", folder, *E_R_T_S), _said(capsys, "validate", folder, *NO_KEY)):
        message = _by_code(document, "s.kwslist.xml")["unknown_file"]
        assert message.startswith("4 detections name recordings that the ECF lacks")
        assert "the output alone has 'f1'; the ECF alone has 'F1'" in message


def test_every_recording_with_an_extension_and_a_key_in_another_case(
    faults: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = faults / "17-names"
    output = ("-e", "test6.ecf.xml", "-t", "test6.kwlist.xml", "-s", "all-recordings-wrong.kwslist.xml")
    both = "the output alone has 'FILE01.wav', 'FILE02.wav'; the ECF alone has 'FILE01', 'FILE02'"
    message = _by_code(_said(capsys, "validate", folder, *output), "wrong.kwslist.xml")["unknown_file"]
    assert both in message
    assert "they differ in the extension" in message
    scored = _said(capsys, "score", folder, *output, "-r", "key-other-case.rttm")
    assert scored["measures"]["atwv"]["value"] == 0
    assert both in _by_code(scored, "wrong.kwslist.xml")["unknown_file"]
    told = _by_code(scored, "key-other-case.rttm")
    assert "the key alone has 'file01'; the ECF alone has 'FILE01' ('file01' may mean 'FILE01'" in told["unknown_file"]
    assert told["targets_lost"].startswith("25 of the key's 35 targets are lost")
    evaluation = tmp_path / "evaluation.yaml"
    evaluation.write_text(
        f"""\
name: names
protocol: openkws13
datasets: {{d: {{ecf: {folder}/test6.ecf.xml, rttm: {folder}/key-other-case.rttm}}}}
query_sets: {{q: {{kwlist: {folder}/test6.kwlist.xml}}}}
systems: {{s: {{outputs: {{q/d: {folder}/all-recordings-wrong.kwslist.xml}}}}}}
"""
    )
    store = tmp_path / "store"
    assert main(["run", str(evaluation), "--store", str(store), "--cluster", "none", "--json"]) == 1
    refused = json.loads(capsys.readouterr().out)["errors"]
    assert [one["code"] for one in refused] == ["key_loses_targets", "unknown_file", "missing_file"]
    assert (
        "q/d: the dataset has no place for 25 of the key's 35 targets (71.4%, allowed: 50.0%)" in refused[0]["message"]
    )
    assert all(one["where"].endswith("key-other-case.rttm") for one in refused[1:])
    assert not list(store.glob("results/*"))
    assert main(["plan", str(evaluation), "--store", str(store)]) == 1
    evaluation.write_text(evaluation.read_text() + "max_targets_lost: 0.8\n")
    capsys.readouterr()
    assert main(["run", str(evaluation), "--store", str(store), "--cluster", "none", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_scored"] == 1
    assert {one["code"] for one in found["warnings"]} == {"unknown_file", "missing_file", "targets_lost"}
    [page] = [path for name, path in found["paths"].items() if name == "index.html"]
    text = Path(page).read_text()
    assert "FILE01.wav" in text
    assert "file01" in text
    assert main(["plan", str(evaluation), "--store", str(store)]) == 0
    assert "the key alone has 'file01'" in capsys.readouterr().out
