"""A result to look at: short, as frames, drawn, kept, explained."""

from __future__ import annotations

import io
import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import rescore
from pipeline.protocols import find, signature, signature_short
from tests.unit.cli.kws_files import ATWV, write_cell


@pytest.fixture
def files(tmp_path):
    write_cell(tmp_path)
    return {role: str(tmp_path / f"{role}.xml") for role in ("ecf", "rttm", "kwlist", "output")}


@pytest.fixture
def result(files):
    return rescore.score("openkws13", **files, c_miss=1, c_fa=1, p_target=0.5, trials_per_s=1)


def test_it_shows_itself_in_a_line(result):
    assert len(repr(result)) < 300
    assert repr(result).startswith("<Result output: atwv ")
    assert result.signature_short in repr(result)


def test_a_notebook_shows_figures_reasons_and_a_curve(result):
    shown = result._repr_html_()
    assert f"{result['atwv']:.4f}" in shown
    assert "the system declared no resources for this phase" in shown
    assert shown.count("<svg ") == 1
    assert len(shown) < 30_000


def test_everything_is_a_frame(result):
    measures = result.measures.set_index("measure")
    assert measures.loc["atwv", "value"] == result["atwv"] == ATWV
    assert measures.loc["pl", "reason"] == "no_resources"
    assert math.isnan(measures.loc["pl", "value"])
    assert result.blocks["id"].tolist() == ["K1", "K2", "K3"]
    assert result.curve["threshold"].tolist() == result.scored.curve["threshold"]
    assert dict(result.facts.itertuples(index=False))["n_target"] == 3
    assert result.warnings["code"].tolist() == [one.code for one in result.scored.findings]
    assert set(result.tables) == set(result.scored.tables)


def test_alignments_are_made_when_they_are_asked_for(result):
    assert sorted(result.alignment["outcome"]) == ["CORR", "CORR", "FA", "MISS"]
    assert sorted(result.explain("K1")["outcome"]) == ["CORR", "FA", "MISS"]
    assert result.explain("K3").empty
    with pytest.raises(rescore.UsageError, match="'K9' has no block"):
        result.explain("K9")


def test_alignments_of_what_was_open_are_made_from_what_was_read(files):
    opened = {role: io.BytesIO(Path(path).read_bytes()) for role, path in files.items()}
    assert len(rescore.score("openkws13", **opened).alignment) == 4


def test_other_protocols_explain_their_blocks():
    scores = {"segment": ["a", "b"], "task": "Plenty", "set": "Open", "OOS": [0.0, 2.0]}
    scores |= {name: [1.0, 0.0] for name in ("Basque", "Catalan", "English", "Galician", "Portuguese", "Spanish")}
    result = rescore.score("albayzin-lre12", output=scores, key={"segment": ["a", "b"], "label": ["Basque", "OOS"]})
    assert result.explain("Basque")["id"].tolist() == ["Basque"]
    with pytest.raises(rescore.UsageError, match="no DET curve"):
        result.plot_det()
    with pytest.raises(rescore.UsageError, match="no alignment"):
        _ = result.alignment


@pytest.mark.parametrize("name", ["plot_det", "plot_twv", "plot_calibration"])
def test_drawings_need_nothing_beside_them(result, name, tmp_path):
    picture = getattr(result, name)()
    root = ET.fromstring(picture._repr_svg_())  # noqa: S314  # ours
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in picture.svg
    assert list(root.iter("{http://www.w3.org/2000/svg}path"))
    assert picture.save(tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg
    assert len(repr(picture)) < 120


def test_it_is_kept_in_a_folder(result, tmp_path):
    folder = result.save(tmp_path / "a" / "b")
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert document["measures"]["atwv"]["value"] == ATWV
    assert document["signature"] == result.signature
    assert {path.name for path in folder.iterdir()} == {"result.json", "measures.csv", "blocks.csv", "det.svg"}


def test_short_signatures_tell_what_was_changed():
    usual, changed = find("openkws13"), find("openkws13", overrides={"tolerance_s": "0.25", "condition": "oov\n" * 30})
    assert signature_short(signature(usual, ())).rpartition("|")[0] == f"openkws13.{usual.edition}|official"
    short = signature_short(signature(changed, ()))
    assert "|tolerance_s:0.25|" in short
    assert len(short) < 120
    assert short.rpartition("#")[2] != signature_short(signature(usual, ())).rpartition("#")[2]
    assert signature_short("") == ""
    assert signature_short("s") == "s"
    assert signature_short("gone.1|official|a:1").startswith("gone.1|official|#")
