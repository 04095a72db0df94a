"""There and back: what both formats can say comes back as it was."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.convert import Given, Made, find

NAMES = st.text("abcXYZ019éß下", min_size=1, max_size=5)
WORDS = st.text("abcß下-'<>&(){}/@*é", min_size=1, max_size=6).filter(lambda word: not word.upper().startswith("<ALT"))
THOUSANDTHS = st.integers(0, 10_000_000)


def seconds(thousandths: int) -> str:
    return str(float(thousandths) / 1000)


@st.composite
def ctms(draw: Any) -> str:
    """Words in order, of one or two recordings."""
    rows = []
    for file, channel in sorted(draw(st.sets(st.tuples(NAMES, st.sampled_from("12")), min_size=1, max_size=2))):
        for begin in sorted(draw(st.sets(THOUSANDTHS, min_size=1, max_size=6))):
            confidence = draw(st.sampled_from(["", " 0.5", " 0.125", " 1.0"]))
            dur = seconds(draw(st.integers(0, 5000)))
            rows.append(f"{file} {channel} {seconds(begin)} {dur} {draw(WORDS)}{confidence}")
    return "".join(f"{row}\n" for row in rows)


@st.composite
def stms(draw: Any, recordings: int = 2) -> str:
    """Segments in order, without labels, of recordings that no underscore makes alike."""
    rows = []
    for file, channel in sorted(
        draw(st.sets(st.tuples(NAMES, st.sampled_from("12")), min_size=1, max_size=recordings))
    ):
        for begin in sorted(draw(st.sets(THOUSANDTHS, min_size=1, max_size=5))):
            end = begin + draw(st.integers(0, 20_000))
            words = [word for word in draw(st.lists(WORDS, min_size=1, max_size=5)) if word]
            text = " ".join(["x", *words])  # a first word with < would be a label
            rows.append(f"{file} {channel} {draw(NAMES)} {seconds(begin)} {seconds(end)} {text}")
    return "".join(f"{row}\n" for row in rows)


def back(text: str, source: str, target: str, **options: str) -> str:
    """``text`` after the way to ``target`` and the way back."""
    there: Made = find(source, target).convert(Given("given", {"": text.encode()}))
    again: Made = find(target, source).convert(Given("given", there.files, **options))
    return again.files[""].decode()


@given(ctms())
def test_words_come_back_from_rttm(ctm: str) -> None:
    assert back(ctm, "ctm", "rttm") == ctm


@given(stms())
def test_segments_come_back_from_a_folder_of_kaldi(stm: str) -> None:
    assert sorted(back(stm, "stm", "kaldi").splitlines()) == sorted(stm.splitlines())


@given(stms(recordings=1))
def test_segments_of_a_recording_come_back_from_cues(stm: str) -> None:
    file, channel, *_ = stm.split(" ")
    assert back(stm, "stm", "vtt", file=file, channel=channel) == stm
    plain = "".join(" ".join([*line.split(" ")[:2], "s", *line.split(" ")[3:]]) + "\n" for line in stm.splitlines())
    if "<" not in plain:  # SubRip has marks of type, and no way to write what looks like one
        assert back(plain, "stm", "srt", file=file, channel=channel, speaker="s") == plain
