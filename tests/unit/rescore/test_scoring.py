"""Scoring from Python: any input, settings beside roles, refusals as of the command line."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest

import rescore
from pipeline.engine.score import read_all, score_files
from pipeline.protocols import find
from tests.unit.cli.kws_files import write_cell


@pytest.fixture
def files(tmp_path):
    write_cell(tmp_path)
    return {role: str(tmp_path / f"{role}.xml") for role in ("ecf", "rttm", "kwlist", "output")}


def test_paths_bytes_open_files_and_frames_have_the_same_figures(files):
    expected = score_files(find("openkws13"), files).figures
    forms = {"ecf": "ecf", "rttm": "rttm", "kwlist": "kwlist", "output": "kwslist"}
    for inputs in (
        files,
        {role: Path(path) for role, path in files.items()},
        {role: Path(path).read_bytes() for role, path in files.items()},
        {role: io.StringIO(Path(path).read_text(encoding="utf-8")) for role, path in files.items()},
        {role: rescore.io.read(forms[role], path) for role, path in files.items()},
    ):
        assert repr(rescore.score("openkws13", **inputs).scored.figures) == repr(expected)


def test_an_open_file_is_read_and_left_open(files):
    with Path(files["output"]).open("rb") as stream:
        rescore.score("openkws13", **{**files, "output": stream})
        assert not stream.closed


def test_settings_stand_beside_roles(files):
    result = rescore.score("openkws13", **files, p_target=0.01, c_fa=1.0)
    assert result.protocol.settings.p_target == 0.01
    assert "p_target:0.01" in result.signature
    with pytest.raises(rescore.UsageError, match="p_targets"):
        rescore.score("openkws13", **files, p_targets=0.01)


def test_output_and_key_stand_for_the_roles_of_any_protocol():
    key = {"segment": ["a", "b"], "label": ["Basque", "OOS"]}
    scores = {"segment": ["a", "b"], "task": "Plenty", "set": "Open"}
    scores |= {name: [1.0, 0.0] for name in ("Basque", "Catalan", "English", "Galician", "Portuguese", "Spanish")}
    result = rescore.score("albayzin-lre12", key=key, output={**scores, "OOS": [0.0, 2.0]})
    assert result.scored.sources[0].role == "key"
    detections = {"TrialID": ["t1", "t2"], "Score": [0.5, 0.25]}
    result = rescore.score(
        "med11",
        output=detections,
        threshold={"EventID": ["E"], "DetectionThreshold": [0.3], "DetectionTPT": [1.0], "EAGTPT": [1.0]},
        key={"TrialID": ["t1", "t2"], "Targ": ["y", "n"]},
        index={"TrialID": ["t1", "t2"], "ClipID": ["c1", "c2"], "EventID": ["E", "E"]},
    )
    assert result["p_md"] == 0.0


def test_an_input_given_twice_is_refused(files):
    with pytest.raises(rescore.UsageError, match="rttm is given twice"):
        rescore.score("openkws13", **files, key=files["rttm"])


def test_figures_by_name(files):
    result = rescore.score("openkws13", **files)
    assert math.isfinite(result["atwv"])
    assert "atwv" in list(result)
    with pytest.raises(KeyError, match="allowed: "):
        result["nothing"]


def test_stored_trials_are_an_output(files):
    protocol = find("openkws13")
    tables, _ = read_all(protocol, files)
    family = protocol.family
    timeline = family.refer(protocol, tables).timeline
    trials, _ = family.lay_out(protocol, tables, timeline)
    stored = family.kind.to_dataset(trials.whole(), timeline, {"title": "trials", "sha256": "0"})
    again = rescore.score("openkws13", **{**files, "output": stored})
    assert repr(again.scored.figures) == repr(score_files(protocol, files).figures)
    assert not [one for one in again.scored.findings if one.code == "unknown_column"]


def test_validate_says_what_scoring_would(files):
    broken = rescore.io.read("kwslist", files["output"]).assign(score=float("nan"))
    assert (
        rescore.validate("openkws13", ecf=files["ecf"], kwlist=files["kwlist"], output=files["output"]).problems == ()
    )
    refused = rescore.validate("openkws13", ecf=files["ecf"], kwlist=files["kwlist"], output=broken)
    assert {one.code for one in refused.problems} == {"nan_score"}
    assert refused.problems[0].where == "output, row 0"


def test_warnings_of_scoring_name_rows(files):
    frame = rescore.io.read("kwslist", files["output"])
    frame.loc[len(frame)] = {**frame.iloc[0], "duration": -1.0}
    found = rescore.score("openkws13", **{**files, "output": frame}).scored.findings
    assert [one.where for one in found if one.code == "negative_duration"] == [f"output, row {len(frame) - 1}"]


def test_protocols_tell_the_columns_of_their_roles():
    assert "sws2013" in rescore.protocols()
    roles = {role["name"]: role for role in rescore.protocols("sws2013")["roles"]}
    assert [one["name"] for one in roles["output"]["columns"]][:3] == ["query", "file", "channel"]
    with pytest.raises(rescore.UsageError, match="unknown protocol"):
        rescore.protocols("nothing")


def test_files_are_written_as_they_are_read(files, tmp_path):
    for role, form in {"ecf": "ecf", "rttm": "rttm", "kwlist": "kwlist", "output": "kwslist"}.items():
        path = tmp_path / "again"
        rescore.io.write(form, rescore.io.read(form, files[role]), path)
        assert rescore.io.read(form, path).equals(rescore.io.read(form, files[role]))
    with pytest.raises(rescore.InputError, match="row 0"):
        rescore.io.write("ecf", {"file": ["a"], "begin": [-1.0], "duration": [1.0]}, tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
