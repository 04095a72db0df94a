"""Words and segments as conversions pass them on, read from and written to CTM and STM."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from pipeline.errors import Problems
from pipeline.formats.convert import Given
from pipeline.formats.stt.ctm import MARKS, read_ctm
from pipeline.formats.stt.stm import read_stm


class TimedWord(NamedTuple):
    """A word of an output; ``confidence`` is NaN where there is none."""

    file: str
    channel: str
    begin_s: float
    dur_s: float
    word: str
    confidence: float
    line: int


class Segment(NamedTuple):
    """A segment of a reference; ``label`` is empty where there is none."""

    file: str
    channel: str
    speaker: str
    begin_s: float
    end_s: float
    label: str
    text: str
    line: int


def seconds(time_s: float) -> str:
    """A time in full, without an exponent."""
    return format(Decimal(repr(time_s)), "f")


def words_of(given: Given, part: str = "") -> list[TimedWord]:
    """The words of a CTM. Raises ``InputError`` for alternatives, which few formats have."""
    where = given.where(part)
    table = read_ctm(io.BytesIO(given.files[part]), where).words
    texts = [table.text(name) for name in ("file", "channel")]
    times = [table[name].tolist() for name in ("begin_s", "dur_s")]
    rest = (table.text("word"), table["confidence"].tolist(), table["line"].tolist())
    words = [TimedWord(*row) for row in zip(*texts, *times, *rest, strict=True)]
    problems = Problems(where)
    for word in words:
        if word.word in MARKS.values():
            problems.add("alternatives", word.line, "alternatives have no counterpart there", "Choose one of them.")
    problems.raise_if_any()
    return words


def segments_of(given: Given) -> list[Segment]:
    """The segments of an STM. Raises ``InputError`` for segments without times."""
    table = read_stm(io.BytesIO(given.files[""]), given.name).segments
    names = [table.text(name) for name in ("file", "channel", "speaker")]
    times = [table[name].tolist() for name in ("begin_s", "end_s")]
    rest = (table.text("label"), table.text("text"), table["line"].tolist())
    segments = [Segment(*row) for row in zip(*names, *times, *rest, strict=True)]
    problems = Problems(given.name)
    for segment in segments:
        if math.isnan(segment.begin_s) or math.isnan(segment.end_s):
            problems.add("no_time", segment.line, "the segment has no times", "Give its begin and end in seconds.")
    problems.raise_if_any()
    return segments


def ctm(words: Iterable[TimedWord]) -> str:
    """Words as a CTM by file, channel and time; a confidence only where there is one."""
    return "".join(f"{' '.join(row)}\n" for row in map(_row, sorted(words, key=_place)))


def _place(word: TimedWord) -> tuple[str, str, float]:
    return word.file, word.channel, word.begin_s


def _row(word: TimedWord) -> Iterator[str]:
    yield from (word.file, word.channel, seconds(word.begin_s), seconds(word.dur_s), word.word)
    if not math.isnan(word.confidence):
        yield seconds(word.confidence)


def stm(segments: Iterable[Segment]) -> str:
    """Segments as an STM by file, channel and time. One whose text starts with ``<`` gets the label ``<o>``."""
    rows = []
    for one in sorted(segments, key=lambda segment: (segment.file, segment.channel, segment.begin_s)):
        label = one.label or ("<o>" if one.text.startswith("<") else "")
        fields = (one.file, one.channel, one.speaker, seconds(one.begin_s), seconds(one.end_s), label, one.text)
        rows.append(f"{' '.join(filter(None, fields))}\n")
    return "".join(rows)


def chosen(given: Given, name: str, problems: Problems, what: str) -> str:
    """``--file``, ``--channel`` or ``--speaker``; notes a problem where it is needed and not given."""
    value = str(getattr(given, name))
    if not value:
        problems.add(f"no_{name}", None, f"{what} (there is none in the file)", f"Say which with --{name}.")
    return value
