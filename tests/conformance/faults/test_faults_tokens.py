"""Words that once were read otherwise than by sclite, each with the figures of sclite -D -F."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main

COUNTS = ("n_ref", "corr", "sub", "del", "ins")


def _score(capsys: pytest.CaptureFixture[str], protocol: str, reference: Path, output: Path, *options: str) -> Any:
    inputs = ["--input", f"stm={reference}", "--input", f"ctm={output}"]
    chosen = [word for option in options for word in ("--set", option)]
    assert main(["score", "--protocol", protocol, *inputs, *chosen, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def _counts(document: Any) -> tuple[int, ...]:
    return tuple(document["measures"][name]["value"] for name in COUNTS)


def test_a_dash_matches_only_a_dash(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = faults / "01-dash-token"
    timed = _score(capsys, "stt13", place / "ref.stm", place / "hyp.ctm")
    assert _counts(timed) == (5, 1, 4, 0, 0)
    assert timed["measures"]["wer"]["value"] == 0.8
    plain = _score(capsys, "stt-trn", place / "ref.trn", place / "hyp.trn")
    assert _counts(plain) == (2, 0, 2, 0, 0)
    assert plain["measures"]["wer"]["value"] == 1.0


@pytest.mark.parametrize("dash", ["-", "(-)", "-;", r"\-"])
def test_a_dash_however_it_is_spelled_and_on_either_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dash: str
) -> None:
    reference, output = tmp_path / "ref.trn", tmp_path / "hyp.trn"
    for spoken, heard, expected in (
        ("hello world", f"{dash} {dash}", (2, 0, 2, 0, 0)),
        (f"{dash} {dash}", "hello world", (2, 0, 2, 0, 0)),
        (f"hello {dash}", f"hello {dash}", (2, 2, 0, 0, 0)),
    ):
        reference.write_text(f"{spoken} (s1-001)\n")
        output.write_text(f"{heard} (s1-001)\n")
        assert _counts(_score(capsys, "stt-trn", reference, output)) == expected


def test_a_run_of_ascii_that_stays_whole_keeps_its_mark(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = faults / "15-fragments-in-ascii"
    options = ("variant=cer", "keep_ascii=true", "drop_hyphens=false")
    document = _score(capsys, "stt13", place / "ref.stm", place / "hyp.ctm", *options)
    assert _counts(document) == (3, 3, 0, 0, 0)
    assert document["measures"]["wer"]["value"] == 0.0


def test_a_word_of_tags_alone_is_a_word(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = faults / "08-odd-tokens" / "stt_semicolon_word"
    document = _score(capsys, "stt13", place / "ref.stm", place / "hyp.ctm")
    assert _counts(document) == (5, 3, 1, 1, 0)


@pytest.mark.parametrize(
    ("reference", "output", "expected"),
    [
        ("a b", "a ; b", (2, 2, 0, 0, 1)),
        ("a b", "a \\ b", (2, 2, 0, 0, 1)),
        ("a \\ b", "a b", (3, 2, 0, 1, 0)),
        ("a (@) b", "a b", (3, 3, 0, 0, 0)),
        ("a ;;w b", "a \\ b", (3, 3, 0, 0, 0)),
        ("a @ b", "a (@) b", (3, 3, 0, 0, 0)),
        ("a () b", "a ; b", (3, 3, 0, 0, 0)),
    ],
)
def test_words_without_letters_are_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reference: str, output: str, expected: tuple[int, ...]
) -> None:
    stm, ctm = tmp_path / "ref.stm", tmp_path / "hyp.ctm"
    stm.write_text(f"f 1 s 0 10 <o> {reference}\n")
    ctm.write_text("".join(f"f 1 {at} 0.5 {word} 0.5\n" for at, word in enumerate(output.split(), 1)))
    assert _counts(_score(capsys, "stt13", stm, ctm)) == expected


def test_a_word_that_is_read_as_a_label_is_named(faults: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = faults / "06-word-like-label"
    document = _score(capsys, "stt13", place / "ref.stm", place / "hyp.ctm")
    assert document["facts"]["n_ref_max"] == 4
    [warning] = [warning for warning in document["warnings"] if warning["code"] == "tag_read_as_label"]
    assert "'<rAdp'" in warning["message"]
    assert warning["where"].endswith("ref.stm:1")
