"""Keyword search: faults found by trying, each with the figures of the official tools, seen on the live ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main

FILES = ("-e", "e.ecf.xml", "-r", "r.rttm", "-t", "k.kwlist.xml", "-s", "s.kwslist.xml")


def _scored(capsys: pytest.CaptureFixture[str], folder: Path, *options: str, protocol: str = "openkws13") -> Any:
    named = [str(folder / word) if word[0] != "-" else word for word in FILES]
    assert main(["score", "--protocol", protocol, *named, *options, "--json", "--curve"]) == 0
    return json.loads(capsys.readouterr().out)


def _block(part: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [block for block in part["blocks"] if block["id"] == name]
    return found


def _told(document: dict[str, Any]) -> dict[str, str]:
    """Where each warning says that something is, by code."""
    return {warning["code"]: warning["where"].rpartition("/")[2] for warning in document["warnings"]}


def test_with_segments_a_word_is_in_the_last_excerpt_that_holds_it(
    faults: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _scored(capsys, faults / "18-odd-excerpts/s3_1027", "-w", protocol="openkws13-segments")
    for part in (found, found["conditions"]["IV"]):
        block = _block(part, "K2")
        assert (block["n_target"], block["n_miss"]) == (2, 2)
    told = _told(found)
    assert told["overlapping_excerpts"] == "e.ecf.xml:3"
    assert told["repeated_excerpt"] == "e.ecf.xml:6"


@pytest.mark.parametrize(
    ("case", "options", "n_trials", "atwv", "p_fa", "mtwv", "keyword", "p_fa_of_keyword", "first"),
    [
        ("s3_346", ("-S", "0", "-F", "0", "-inc"), 96, -52.41387983399359, 0.05286361063950198, -52.41387983399359,
         "K3", 0.0967741935483871, (0.5, 0.05286361063950198)),
        ("s3_362", ("-q", "Len:regex=1"), 90, -34.0875, 0.03409090909090909, -11.3625,
         "K1", 0.03409090909090909, (0.08, 0.045454545454545456)),
        ("s3_783", (), 90, -11.763529411764706, 0.011764705882352941, -11.763529411764706,
         "K1", 0.011764705882352941, (0.34, 0.03529411764705882)),
    ],
)  # fmt: skip
def test_of_equal_spans_of_a_recording_the_last_of_the_ecf_is_counted(
    faults: Path,
    capsys: pytest.CaptureFixture[str],
    case: str,
    options: tuple[str, ...],
    n_trials: int,
    atwv: float,
    p_fa: float,
    mtwv: float,
    keyword: str,
    p_fa_of_keyword: float,
    first: tuple[float, float],
) -> None:
    found = _scored(capsys, faults / "18-odd-excerpts" / case, *options)
    seen = {name: found["measures"][name]["value"] for name in ("atwv", "p_fa", "mtwv")}
    assert found["facts"]["n_trials"] == n_trials
    assert seen == pytest.approx({"atwv": atwv, "p_fa": p_fa, "mtwv": mtwv}, rel=1e-12)
    assert _block(found, keyword)["p_fa"] == pytest.approx(p_fa_of_keyword, rel=1e-12)
    point = found["curve"][0]
    assert (point["threshold"], point["p_fa"]) == pytest.approx(first, rel=1e-12)
    assert "mixed_source_types" in _told(found)


TERMS = {"É": ("é", "É"), "ДОМ": ("дом",), "ΟΔΟΣ": ("οδοσ",)}


@pytest.mark.parametrize("protocol", ["std2006", "sws2011", "sws2012", "sws2013"])
@pytest.mark.parametrize(("search", "n_target"), [("stdeval", [2, 1, 1]), ("stdeval_0.6", [1, 0, 0])])
def test_stdeval_lowers_all_letters(
    faults: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str, search: str, n_target: list[int]
) -> None:
    assert "2 targets" in (faults / "12-unicode-terms/expected.md").read_text(encoding="utf-8")
    spoken = [token for tokens in TERMS.values() for token in tokens]
    terms = "".join(f'<term termid="T{at}"><termtext>{text}</termtext></term>' for at, text in enumerate(TERMS))
    texts = {
        "e.ecf.xml": '<ecf><excerpt audio_filename="a/f.sph" channel="1" tbeg="0" dur="60" source_type="bnews"/></ecf>',
        "r.rttm": "".join(f"LEXEME f 1 {at}.5 0.5 {token} lex s <NA>\n" for at, token in enumerate(spoken)),
        "k.kwlist.xml": f'<termlist ecf_filename="e" version="1" language="x">{terms}</termlist>',
        "s.kwslist.xml": '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">'
        '<detected_termlist termid="T0" term_search_time="1" oov_term_count="0">'
        '<term file="f" channel="1" tbeg="0.5" dur="0.5" score="0.5" decision="YES"/></detected_termlist></stdlist>',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = _scored(capsys, tmp_path, "--set", f"search={search}", protocol=protocol)
    assert [_block(found, f"T{at}")["n_target"] for at in range(len(TERMS))] == n_target


def test_a_key_row_given_twice_is_told(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = faults / "07-repeated-key-rows"
    found = _scored(capsys, folder)
    assert (found["facts"]["n_target"], found["measures"]["mtwv"]["value"]) == (6, 0.5)  # as KWSEval
    assert _told(found)["duplicate_record"] == "r.rttm:5"
    assert main(["validate", "-r", str(folder / "r.rttm"), "--json"]) == 0
    assert _told(json.loads(capsys.readouterr().out)) == {"duplicate_record": "r.rttm:5"}


def test_a_word_that_overlaps_itself_is_told(faults: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (faults / "07-repeated-key-rows/r.rttm").read_text()
    path = tmp_path / "near.rttm"
    path.write_text(text.replace("5.00 0.30 yes", "5.10 0.30 yes", 1))
    assert main(["validate", "-r", str(path), "--json"]) == 0
    assert _told(json.loads(capsys.readouterr().out))["overlapping_record"] == "near.rttm:4"


def test_entities_that_the_tool_leaves_undecoded_are_told(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = _scored(capsys, faults / "09-entities")
    assert found["facts"]["n_target"] == 5
    assert found["measures"]["atwv"]["value"] == pytest.approx(-2.5472, abs=5e-5)
    assert _told(found)["undecoded_entity"] == "k.kwlist.xml:5"


def test_a_time_that_does_not_apply_is_told_where_it_is_scored(
    faults: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = faults / "09-entities"
    for name in FILES[1::2]:
        text = (folder / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("F1 1 5.00", "F1 1 <NA>"), encoding="utf-8")
    assert _told(_scored(capsys, tmp_path))["time_not_applicable"] == "r.rttm:4"
