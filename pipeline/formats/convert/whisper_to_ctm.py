"""Transcripts as Whisper and its kin write them, JSON with times of words, → CTM."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from pipeline.errors import InputError, Problems
from pipeline.formats.convert import Conversion, Given, Made
from pipeline.formats.convert.values import TimedWord, chosen, ctm
from pipeline.formats.findings import quoted

_TEXTS, _CONFIDENCES = ("word", "text"), ("probability", "score", "confidence")


def convert(given: Given) -> Made:
    """The words of all segments. The file is named as the JSON unless told otherwise; the channel must be told."""
    problems = Problems(given.name)
    channel = chosen(given, "channel", problems, "a CTM names the channel")
    file = given.file or re.sub(r"\.[^.]*$", "", given.name.split("/")[-1])
    document = _document(given, problems)
    entries = enumerate(_entries(document, problems))
    words = [word for at, entry in entries for word in _word(file, channel, entry, at, problems)]
    problems.raise_if_any()
    return Made.text(ctm(words))


def _document(given: Given, problems: Problems) -> Any:
    try:
        return json.loads(given.files[""])
    except (ValueError, RecursionError) as error:
        problems.add("not_json", None, f"the file is not JSON ({type(error).__name__})", "Give the tool's JSON.")
        raise InputError(problems.findings, problems.count) from error


def _entries(document: Any, problems: Problems) -> Iterator[dict[str, Any]]:
    """The entries of words, below segments or at the top."""
    top = document if isinstance(document, dict) else {}
    segments = top.get("segments", [top] if "words" in top else None)
    if not isinstance(segments, list):
        problems.add("no_segments", None, "the document has no list segments and no list words", "Give Whisper's JSON.")
        return
    for at, segment in enumerate(segments):
        words = segment.get("words") if isinstance(segment, dict) else None
        if isinstance(words, list):
            yield from (word if isinstance(word, dict) else {} for word in words)
        elif not isinstance(segment, dict) or str(segment.get("text", "")).strip():
            what = f"segment {at} has no words with times: they would be made up"
            problems.add("no_words", None, what, "Let the recogniser write word timestamps.")


def _word(file: str, channel: str, entry: dict[str, Any], at: int, problems: Problems) -> Iterator[TimedWord]:
    text = next((entry[name] for name in _TEXTS if isinstance(entry.get(name), str)), "").strip()
    begin_s, end_s = (_number(entry.get(name)) for name in ("start", "end"))
    if not text or len(text.split()) != 1:
        what = f"word {at} is {quoted(text)} (allowed: one word without blanks)"
        problems.add("not_a_word", None, what, "Split it, with the times of each part.")
    elif math.isnan(begin_s) or math.isnan(end_s) or not 0.0 <= begin_s <= end_s:
        what = f"word {at}, {quoted(text)}, goes from {entry.get('start')} to {entry.get('end')} (allowed: seconds)"
        problems.add("no_time", None, what, "Align the words again: their times would be made up.")
    else:
        confidence = next((_number(entry[name]) for name in _CONFIDENCES if entry.get(name) is not None), math.nan)
        yield TimedWord(file, channel, begin_s, round(end_s - begin_s, 6), text, confidence, at)


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return math.nan
    try:
        return float(value) if math.isfinite(value) else math.nan
    except OverflowError:  # a whole number beyond doubles
        return math.nan


CONVERSIONS = (Conversion("whisper", "ctm", "words of segments with their times; needs --channel", convert),)
