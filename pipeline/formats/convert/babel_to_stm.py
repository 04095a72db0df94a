"""Transcripts of Babel language packs → STM (plan 004, sections 4.3 and 4.4, as F4DE's BabelTransParse does it)."""

from __future__ import annotations

import re

from pipeline.errors import Problems
from pipeline.formats.convert import Conversion, Given, Made
from pipeline.formats.convert.values import Segment, chosen, stm
from pipeline.formats.findings import quoted
from pipeline.formats.stt.tags import CODE_SWITCH, HESITATION, OF_SEGMENTS, TAGS

IGNORED = "IGNORE_TIME_SEGMENT_IN_SCORING"
SPEAKER = "Aggregated"
_TIME = re.compile(r"\[ *([0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+) *\]")
_STARRED = re.compile(r"\*(.+)\*")


def convert(given: Given) -> Made:
    """Segments between times. The channel and, of a single file, its name must be told."""
    problems = Problems(given.name)
    channel = chosen(given, "channel", problems, "an STM names the channel")
    problems.raise_if_any()
    segments, comments = list[Segment](), list[str]()
    for part, data in sorted(given.files.items()):
        problems = Problems(given.where(part))
        file = given.file if not part and given.file else re.sub(r"\.[^.]*$", "", (part or given.name).split("/")[-1])
        for begin_s, end_s, text, line in _spans(data.decode(), problems):
            words = text.split()
            row = Segment(file, channel, given.speaker or SPEAKER, begin_s, end_s, "", _scored(words), line)
            if OF_SEGMENTS.intersection(words):
                comments.append(f";;{stm([row])}")
                row = row._replace(text=IGNORED)
            segments.append(row)
        problems.raise_if_any()
    return Made.text("".join(comments) + stm(segments))


def _spans(text: str, problems: Problems) -> list[tuple[float, float, str, int]]:
    """Begin, end, text and line of what stands between two times."""
    times, texts, lines = list[float](), list[list[str]](), list[int]()
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if found := _TIME.fullmatch(line.strip()):
            times.append(float(found[1]))
            texts.append([])
            lines.append(number)
        elif line.strip() and texts:
            texts[-1].append(line.strip())
        elif line.strip():
            what = f"the transcript begins with {quoted(line.strip())} (allowed: a time such as [0.000])"
            problems.add("no_time", number, what, "Put the begin before it.")
    if texts and texts[-1]:
        problems.add("no_end", lines[-1], "the last text has no time after it", "Put its end behind it.")
    for begin_s, end_s, number in zip(times, times[1:], lines[1:], strict=False):
        if end_s < begin_s:
            problems.add("negative_duration", number, f"[{end_s}] lies before [{begin_s}]", "Put times in order.")
    return [
        (begin_s, end_s, " ".join(words), number)
        for begin_s, end_s, words, number in zip(times, times[1:], texts, lines, strict=False)
        if words
    ]


def _scored(words: list[str]) -> str:
    return " ".join(filter(None, map(_token, words)))


def _token(word: str) -> str:
    """The word as it is scored: hesitations, fragments and code switches in brackets, other tags left out."""
    if word in (HESITATION, CODE_SWITCH, "<untranscribed>"):
        return f"({word})"
    if word in TAGS:
        return word if word == "(())" else ""
    if starred := _STARRED.fullmatch(word):
        word = starred[1]
    is_fragment = len(word) > 1 and (word.endswith("-") or word.startswith("-"))
    return f"({word})" if is_fragment else word


CONVERSIONS = (
    Conversion("babel", "stm", "segments between times; needs --channel; words have no times, so no CTM", convert),
)
