"""What the OpenKWS13 plan's appendices allow or get wrong: search times, file endings, identifiers, speakers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kws_inputs import codes, ecf, kwlist, kwslist, lexeme, score, write

from pipeline.cli import main
from pipeline.protocols.kws.identifiers import identifier_slips, identify

BETA = 999.9
ID = "KWS13_IBM_babel101b-v0.4c_conv-eval_BaEval_KWS_FullLP_BaseLR_NTAR_p-one_2"
HIT = ("f", "1", 10.0, 1.0, 0.9, "YES")
FALSE = ("g", "1", 50.0, 1.0, 0.8, "YES")


def _inputs(folder: Path, rttm: str = "") -> dict[str, str]:
    """Two recordings of 100 s; K occurs once in each, is found in f, and g has a false alarm."""
    return write(
        folder,
        ecf=ecf(("f.sph", "1", 0, 100), ("g.sph", "1", 0, 100)),
        rttm=rttm + lexeme("a", 10) + lexeme("a", 10, place="g 1", who="t"),
        kwlist=kwlist(K="a"),
        output=kwslist(("K", [HIT, FALSE])),
    )


@pytest.mark.parametrize("mode", ["official", "plan"])
def test_search_time_may_be_left_out(tmp_path: Path, mode: str) -> None:
    """A.5 says it is optional; the organisers' schema requires it."""
    inputs = _inputs(tmp_path)
    with_time = score(inputs, mode=mode)
    output = Path(inputs["output"])
    output.write_text(output.read_text().replace(' search_time="1"', ""))
    without = score(inputs, mode=mode)
    assert "search_time" not in output.read_text()
    assert without.figures["atwv"] == with_time.figures["atwv"]
    assert (without.blocks, without.findings) == (with_time.blocks, with_time.findings)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (f"{ID}.kwslst.xml", [".kwslst.xml, a slip", f"Rename it to {ID}.kwslist.xml"]),
        (f"{ID}.xml", ["ends in '.xml' (allowed: .kwslist.xml, .ctm)"]),
        (ID.replace("babel101b-v0.4c", "CORPUS"), ["CORPUSID is 'CORPUS'", "babel101b-v0.4c", "they are one field"]),
        (ID.replace("babel101b-v0.4c", "CORPUSID"), ["CORPUSID is 'CORPUSID'", "Write the corpus id"]),
        (ID.replace("babel101b-v0.4c", "<CORPUS>"), ["CORPUSID is '<CORPUS>'", "<CORPUS> in its pattern"]),
        (ID.replace("_babel101b-v0.4c", ""), ["9 fields behind KWS13 (allowed: 10", "<CORPUSID>"]),
        (ID.replace("FullLP", "fullLP"), ["LP is 'fullLP' (allowed: FullLP|LimitedLP)"]),
    ],
)
def test_slips_of_identifiers_are_named_with_how_to_mend_them(name: str, said: list[str]) -> None:
    [finding] = identifier_slips(name)
    assert finding.code == "identifier_slip"
    for part in said:
        assert part in finding.message


@pytest.mark.parametrize("name", [ID, f"{ID}.kwslist.xml", f"{ID}.ctm", "demo.kwslst.xml"])
def test_other_names_are_none_of_its_business(name: str) -> None:
    assert identifier_slips(name) == ()


def test_the_ending_of_b4_still_finds_its_board() -> None:
    assert identify(f"{ID}.kwslst.xml") == identify(ID) != {}


def test_a_slip_in_a_files_name_is_told_by_score_and_validate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = _inputs(tmp_path)
    slipped = Path(inputs["output"]).rename(tmp_path / f"{ID}.kwslst.xml")
    assert "identifier_slip" in codes(score({**inputs, "output": str(slipped)}))
    assert main(["validate", "-s", str(slipped), "--json"]) == 0
    [warning] = json.loads(capsys.readouterr().out)["warnings"]
    assert (warning["code"], warning["where"]) == ("identifier_slip", str(slipped))


SPEAKERS = (
    "SPKR-INFO f 1 <NA> <NA> <NA> adult_female ann <NA>\n"
    "SPKR-INFO g 1 <NA> <NA> <NA> adult_male bob <NA>\n"
    "SPKR-INFO g 1 <NA> <NA> <NA> child carl <NA>\n"
)


def test_conditions_by_speaker(tmp_path: Path) -> None:
    conditions = "speaker female:adult_female\nspeaker male:adult_male\nspeaker not_female:adult_male,child"
    result = score(_inputs(tmp_path, SPEAKERS), condition=conditions)
    female, male, others = (result.conditions[name] for name in ("female", "male", "not_female"))
    # f alone: K found, no false alarm in 100 - 1 trials.
    assert (female.facts["t_audio_s"], female.figures["atwv"].value) == (100.0, 1.0)
    # g is shared by a man and a child: in the condition of both, in that of neither.
    assert male.figures["atwv"].reason == "no_targets"
    assert others.figures["atwv"].value == pytest.approx(1 - (1 + BETA / 99), rel=1e-14)
    [warning] = [finding for finding in result.findings if finding.code == "no_such_speakers"]
    assert "'male' is empty" in warning.message
    assert "adult_female, adult_male, child" in warning.message


def test_segments_by_speaker(tmp_path: Path) -> None:
    speech = "SPEAKER f 1 5 20 <NA> <NA> s <NA>\nSPEAKER g 1 5 20 <NA> <NA> t <NA>\n"
    inputs = _inputs(tmp_path, SPEAKERS + speech)
    result = score(inputs, "openkws13-segments", condition="speaker female:adult_female")
    part = result.conditions["female"]
    # Each recording is silence, speech, silence.
    assert (result.facts["n_trials"], part.facts["n_trials"], part.figures["stwv"].value) == (6, 3, 1.0)
