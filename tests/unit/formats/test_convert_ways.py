"""Every way of ``rescore convert``: its rules, and what it refuses since it would be made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.cli import main
from pipeline.errors import InputError, UsageError
from pipeline.formats.convert import Given, Made, conversions, find


def convert(source: str, target: str, text: str | dict[str, str], **options: str) -> Made:
    files = {"": text} if isinstance(text, str) else text
    given = Given("talks/t.x", {name: part.encode() for name, part in files.items()}, **options)
    return find(source, target).convert(given)


def text(made: Made) -> str:
    return made.files[""].decode()


def refused(*given: object, **options: str) -> list[tuple[str, str]]:
    with pytest.raises(InputError) as caught:
        convert(*given, **options)  # type: ignore[arg-type]
    return [(finding.code, finding.where) for finding in caught.value.findings]


BABEL = """\
[0.000]
<no-speech>
[1.5]
hello *there* <hes> th- -ing <laugh> <foreign> b_c
[2.5]
what (()) was <sta>
[3]
<overlap> a
[4.25]
"""


def test_a_babel_transcript_becomes_segments_by_the_plans_rules() -> None:
    assert text(convert("babel", "stm", BABEL, channel="1")) == (
        ";;t 1 Aggregated 2.5 3.0 what (()) was\n"
        ";;t 1 Aggregated 3.0 4.25 a\n"
        "t 1 Aggregated 0.0 1.5\n"
        "t 1 Aggregated 1.5 2.5 hello there (<hes>) (th-) (-ing) (<foreign>) b_c\n"
        "t 1 Aggregated 2.5 3.0 IGNORE_TIME_SEGMENT_IN_SCORING\n"
        "t 1 Aggregated 3.0 4.25 IGNORE_TIME_SEGMENT_IN_SCORING\n"
    )


def test_babel_transcripts_that_do_not_say_when_are_refused() -> None:
    assert refused("babel", "stm", BABEL) == [("no_channel", "talks/t.x")]
    assert refused("babel", "stm", "hello\n[1]\n", channel="1") == [("no_time", "talks/t.x:1")]
    assert refused("babel", "stm", "[1]\nhello\n", channel="1") == [("no_end", "talks/t.x:1")]
    assert refused("babel", "stm", "[1]\nhello\n[0]\n", channel="1") == [("negative_duration", "talks/t.x:3")]


RTTM = """\
SPEAKER f 1 0.0 2.0 <NA> <NA> ann <NA>
SPEAKER f 1 2.0 2.0 <NA> <NA> bob <NA>
LEXEME f 1 0.1 0.2 one lex ann 0.5
LEXEME f 1 0.4 0.2 <hes> fp ann <NA>
NON-LEX f 1 0.6 0.2 <NA> breath ann <NA>
NON-SPEECH f 1 0.7 0.2 <NA> noise <NA> <NA>
LEXEME f 1 0.8 0.2 th- frag ann <NA>
LEXEME f 1 2.1 0.2 two lex bob <NA>
NON-SPEECH f 1 2.5 0.2 <overlap> other <NA> <NA>
"""


def test_words_of_rttm_become_segments_of_their_speakers() -> None:
    assert text(convert("rttm", "stm", RTTM)) == (
        "f 1 ann 0.0 2.0 one (<hes>) (th-)\nf 1 bob 2.0 4.0 IGNORE_TIME_SEGMENT_IN_SCORING\n"
    )
    assert text(convert("rttm", "ctm", RTTM)) == "f 1 0.1 0.2 one 0.5\nf 1 2.1 0.2 two\n"
    assert refused("rttm", "stm", "LEXEME f 1 0 1 a lex s <NA>\n") == [("no_segment", "talks/t.x:1")]
    noise = RTTM.replace("<overlap>", "<NA>")
    assert refused("rttm", "stm", noise) == [("unknown_noise", "talks/t.x:9")]


def test_words_of_a_ctm_become_records() -> None:
    assert text(convert("ctm", "rttm", "f 1 0.5 0.25 one 0.5\nf 1 1 1 two\n")) == (
        "LEXEME f 1 0.5 0.25 one lex <NA> 0.5\nLEXEME f 1 1.0 1.0 two lex <NA> <NA>\n"
    )
    alternatives = "f 1 * * <ALT_BEGIN>\nf 1 0 1 a\nf 1 * * <ALT_END>\n"
    assert refused("ctm", "rttm", alternatives)[0] == ("alternatives", "talks/t.x:1")


KALDI = {
    "text": "ann-1 one two\nbob-1 three\n",
    "segments": "ann-1 r1 0.5 2.0\nbob-1 r1 2.0 3.25\n",
    "utt2spk": "ann-1 ann\nbob-1 bob\n",
    "ctm": "ann-1 1 0.1 0.2 one 0.5\nbob-1 1 0.2 0.3 three\n",
}
PLACES = {"reco2file_and_channel": "r1 f A\n"}


def test_a_folder_of_kaldi_becomes_segments_and_words_of_recordings() -> None:
    assert text(convert("kaldi", "stm", KALDI | PLACES)) == "f A ann 0.5 2.0 one two\nf A bob 2.0 3.25 three\n"
    assert text(convert("kaldi", "stm", KALDI, channel="1")).startswith("r1 1 ann 0.5 2.0 one two\n")
    assert text(convert("kaldi", "ctm", KALDI | PLACES)) == "f A 0.6 0.2 one 0.5\nf A 2.2 0.3 three\n"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"segments": None}, ("no_segments", "talks/t.x")),
        ({"segments": "ann-1 r1 0.5 2.0\n"}, ("no_times", "talks/t.x/text:2")),
        ({"utt2spk": "ann-1 ann\n"}, ("no_speaker", "talks/t.x/text:2")),
        ({"text": "ann-1 one\n"}, ("no_text", "talks/t.x/text")),
        ({"segments": "ann-1 r1 0.5\n"}, ("field_count", "talks/t.x/segments:1")),
        ({"segments": "ann-1 r2 0 1\nbob-1 r1 0 1\n"}, ("unknown_recording", "talks/t.x/segments:1")),
        ({"text": "ann-1 one\nann-1 two\n"}, ("duplicate", "talks/t.x/text:2")),
    ],
)
def test_a_folder_of_kaldi_that_lacks_something_is_refused(
    change: dict[str, str | None], told: tuple[str, str]
) -> None:
    files = {name: part for name, part in {**KALDI, **PLACES, **change}.items() if part is not None}
    assert refused("kaldi", "stm", files) == [told]


def test_folders_of_kaldi_without_a_channel_or_a_ctm_are_refused() -> None:
    assert refused("kaldi", "stm", KALDI) == [("no_channel", "talks/t.x/segments")]
    silent = {name: part for name, part in {**KALDI, **PLACES}.items() if name != "ctm"}
    assert refused("kaldi", "ctm", silent) == [("no_ctm", "talks/t.x/ctm")]


def whisper(*words: dict[str, object]) -> str:
    return json.dumps({"segments": [{"text": "x", "words": list(words)}]})


def test_words_of_whisper_have_their_times_and_probabilities() -> None:
    given = whisper(
        {"word": " one", "start": 0.1, "end": 0.4, "probability": 0.5}, {"text": "two", "start": 1, "end": 2}
    )
    assert text(convert("whisper", "ctm", given, channel="1")) == "t 1 0.1 0.3 one 0.5\nt 1 1.0 1.0 two\n"
    assert text(convert("whisper", "ctm", given, channel="A", file="f")).startswith("f A 0.1")


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("{", "not_json"),
        ("[]", "no_segments"),
        (json.dumps({"segments": [{"text": "one two"}]}), "no_words"),
        (whisper({"word": "one"}), "no_time"),
        (whisper({"word": "one", "start": 2, "end": 1}), "no_time"),
        (whisper({"word": "one two", "start": 1, "end": 2}), "not_a_word"),
        (whisper({"word": True, "start": 1, "end": 2}), "not_a_word"),
        ("[" * 100_000, "not_json"),
    ],
)
def test_a_document_of_whisper_without_times_of_words_is_refused(document: str, code: str) -> None:
    assert refused("whisper", "ctm", document, channel="1") == [(code, "talks/t.x")]


VTT = "WEBVTT - talk\n\nNOTE by hand\n\n1\n00:01.000 --> 00:02.500 align:start\n<v Ann B>one <i>two</i>\n&amp; three\n"


def test_numbers_beyond_all_bounds_are_refused_as_what_they_are() -> None:
    """Whole numbers that no double holds, and more digits than Python reads."""
    late = whisper({"word": "a", "start": 0, "end": 10**400})
    assert refused("whisper", "ctm", late, channel="1") == [("no_time", "talks/t.x")]
    cue = f"1\n{'9' * 5000}:00:00,000 --> 00:00:01,000\nx\n"
    assert refused("srt", "stm", cue, channel="1", speaker="s") == [("bad_time", "talks/t.x:2")]
    endless = f"[0]\na\n[{'9' * 400}]\n"
    assert ("no_end", "talks/t.x:1") in refused("babel", "stm", endless, channel="1")


def test_cues_become_segments_of_their_voices() -> None:
    assert text(convert("vtt", "stm", VTT, channel="1")) == "t 1 Ann_B 1.0 2.5 one two & three\n"
    srt = "1\n00:00:01,000 --> 00:00:02,500\none\ntwo\n\n2\n00:00:03,000 --> 00:00:04,000\nthree\n"
    assert text(convert("srt", "stm", srt, channel="1", speaker="s")) == "t 1 s 1.0 2.5 one two\nt 1 s 3.0 4.0 three\n"
    assert refused("srt", "stm", srt, channel="1")[0] == ("no_speaker", "talks/t.x:2")
    assert refused("srt", "stm", "1\n00:01 --> x\na\n", channel="1", speaker="s") == [("bad_time", "talks/t.x:2")]
    assert refused("srt", "stm", "hello\n", channel="1", speaker="s") == [("no_times", "talks/t.x:1")]


def test_segments_of_one_recording_become_cues() -> None:
    stm = "f 1 ann 1.0 2.5 <o> a < b\nf 1 bob 3661 3662.0004 c\n"
    made = convert("stm", "vtt", stm)
    assert text(made) == (
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\n<v ann>a &lt; b\n\n01:01:01.000 --> 01:01:02.000\n<v bob>c\n"
    )
    assert made.notes == ("labels of segments are left out", "times are rounded to milliseconds")
    assert text(convert("stm", "srt", stm)).startswith("1\n00:00:01,000 --> 00:00:02,500\na < b\n")
    assert refused("stm", "srt", stm + "g 1 s 0 1 d\n") == [("recordings", "talks/t.x")]
    assert "d" in text(convert("stm", "srt", stm + "g 1 s 0 1 d\n", file="g"))


@pytest.mark.parametrize(("source", "target"), [("stm", "ctm"), ("babel", "ctm"), ("babel", "rttm"), ("srt", "ctm")])
def test_there_is_no_way_that_makes_times_of_words_up(source: str, target: str) -> None:
    with pytest.raises(UsageError, match="without making things up"):
        find(source, target)


def test_the_command_lists_the_ways_and_writes_files_and_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{source} to {target}" in listed for source, target in conversions())
    (tmp_path / "r.stm").write_text("f A ann 0.5 2.0 one two\n")
    assert main(["convert", "stm", "kaldi", str(tmp_path / "r.stm"), "-o", str(tmp_path / "k")]) == 0
    assert main(["convert", "kaldi", "stm", str(tmp_path / "k")]) == 0
    assert capsys.readouterr().out == "f A ann 0.5 2.0 one two\n"
    assert main(["convert", "stm", "kaldi", str(tmp_path / "r.stm"), "-o", str(tmp_path / "k")]) == 2
    assert main(["convert", "stm", "kaldi", str(tmp_path / "r.stm")]) == 2
    assert main(["convert", "stm", "ctm", str(tmp_path / "r.stm")]) == 2
    (tmp_path / "r.stm").write_bytes(b"f A ann 0.5 2.0 \xff\n")
    assert main(["convert", "stm", "vtt", str(tmp_path / "r.stm")]) == 1
    assert "r.stm:1" in capsys.readouterr().err


def test_a_folder_of_kaldi_gives_an_error_rate_in_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    for name, part in KALDI.items():
        (tmp_path / "data" / name).write_text(part)
    inputs = [f"stm=kaldi:{tmp_path}/data?channel=1", f"ctm=kaldi:{tmp_path}/data?channel=1"]
    chosen = [word for one in inputs for word in ("--input", one)]
    assert main(["score", "--protocol", "stt13", *chosen, "--json"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    assert (measures["wer"]["value"], measures["del"]["value"], measures["n_ref"]["value"]) == (1 / 3, 1, 3)
    wrong = f"stm=kaldi:{tmp_path}/data?kanal=1"
    assert main(["score", "--protocol", "stt13", "--input", wrong, *chosen[2:], "--json"]) == 2
