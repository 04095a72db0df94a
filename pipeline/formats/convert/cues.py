"""Subtitles, SubRip and WebVTT, ↔ STM: cues and segments are the same; words of cues have no times, so no CTM."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import partial

from pipeline.errors import Problems
from pipeline.formats.convert import Conversion, Given, Made
from pipeline.formats.convert.values import Segment, chosen, segments_of, stm
from pipeline.formats.findings import quoted

_CLOCK = r"(?:(\d{1,9}):)?(\d\d):(\d\d)[.,](\d{3})"
_ARROW = re.compile(rf"{_CLOCK}\s+-->\s+{_CLOCK}(?:\s.*)?")
_VOICE, _TAG = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]+)>"), re.compile(r"</?[a-z][^>]*>|<\d[^>]*>", re.IGNORECASE)
_PASSED_OVER = ("WEBVTT", "NOTE", "STYLE", "REGION")


def to_stm(given: Given, *, voices: bool) -> Made:
    """Cues as segments. Speakers are those of voice tags (WebVTT), or the one that is told; so is the channel."""
    problems = Problems(given.name)
    channel = chosen(given, "channel", problems, "an STM names the channel")
    file = given.file or re.sub(r"\.[^.]*$", "", given.name.split("/")[-1])
    segments = []
    for begin_s, end_s, raw, line in _cues(given.files[""].decode(), problems):
        voice = _VOICE.search(raw) if voices else None
        speaker = "_".join(voice[1].split()) if voice else given.speaker
        if not speaker:
            problems.add("no_speaker", line, "the cue does not say who speaks", "Say who with --speaker.")
        text = html.unescape(_TAG.sub("", _VOICE.sub("", raw))) if voices else _TAG.sub("", raw)
        segments.append(Segment(file, channel, speaker, begin_s, end_s, "", " ".join(text.split()), line))
    problems.raise_if_any()
    return Made.text(stm(segments))


def _cues(text: str, problems: Problems) -> Iterator[tuple[float, float, str, int]]:
    """Begin, end, text and line of each cue; blocks without times are headers, notes and styles."""
    lines = text.removeprefix("\ufeff").splitlines()
    at = 0
    while at < len(lines):
        block = at
        while at < len(lines) and lines[at].strip():
            at += 1
        rows = lines[block:at]
        place = next((row for row, line in enumerate(rows[:2]) if "-->" in line), None)
        if place is None:
            if rows and not rows[0].startswith(_PASSED_OVER):
                problems.add("no_times", block + 1, f"{quoted(rows[0])} begins no cue", "Put its times before it.")
        elif (found := _ARROW.fullmatch(rows[place].strip())) is None:
            what = f"{quoted(rows[place])} are no times (allowed: 00:01:02.345 --> 00:01:04.000)"
            problems.add("bad_time", block + place + 1, what, "Write hours, minutes, seconds and thousandths.")
        else:
            begin_s, end_s = _seconds(*found.groups()[:4]), _seconds(*found.groups()[4:])
            if end_s < begin_s:
                problems.add(
                    "negative_duration", block + place + 1, "the cue ends before it begins", "Correct its times."
                )
            yield begin_s, end_s, " ".join(rows[place + 1 :]), block + place + 1
        at += 1


def _seconds(hours: str | None, minutes: str, seconds: str, thousandths: str) -> float:
    whole = 3600 * int(hours or 0) + 60 * int(minutes) + int(seconds)
    return float(Decimal(whole) + Decimal(int(thousandths)) / 1000)


def of_stm(given: Given, *, voices: bool) -> Made:
    """Segments of one recording as cues. Times are rounded to milliseconds; SubRip has no speakers."""
    segments = segments_of(given)
    places = sorted({(one.file, one.channel) for one in segments})
    if given.file or given.channel:
        places = [place for place in places if given.file in ("", place[0]) and given.channel in ("", place[1])]
    if len(places) != 1:
        shown = ", ".join(f"{file} {channel}" for file, channel in places[:5]) or "none"
        problems = Problems(given.name)
        problems.add("recordings", None, f"cues are of one recording (seen: {shown})", "Use --file and --channel.")
        problems.raise_if_any()
    own = [one for one in segments if [(one.file, one.channel)] == places]
    cues = [_cue(at, one, voices=voices) for at, one in enumerate(own, 1)]
    lost = "" if voices else "speakers are left out: SubRip has none"
    labels = "labels of segments are left out" if any(one.label for one in own) else ""
    fine = any(round(1000 * time) / 1000 != time for one in own for time in (one.begin_s, one.end_s))
    notes = filter(None, (lost, labels, "times are rounded to milliseconds" if fine else ""))
    return Made.text(("WEBVTT\n\n" if voices else "") + "\n".join(cues), *notes)


def _cue(number: int, one: Segment, *, voices: bool) -> str:
    point = "." if voices else ","
    times = f"{_clock(one.begin_s, point)} --> {_clock(one.end_s, point)}"
    if not voices:
        return f"{number}\n{times}\n{one.text}\n"
    text = one.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"{times}\n<v {one.speaker}>{text}\n"


def _clock(time_s: float, point: str) -> str:
    thousandths = round(1000 * time_s)
    minutes, thousandths = divmod(thousandths, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{thousandths // 1000:02d}{point}{thousandths % 1000:03d}"


CONVERSIONS = (
    Conversion("srt", "stm", "cues become segments; needs --channel and --speaker", partial(to_stm, voices=False)),
    Conversion("vtt", "stm", "cues become segments of their voices; needs --channel", partial(to_stm, voices=True)),
    Conversion("stm", "srt", "segments of one recording become cues", partial(of_stm, voices=False)),
    Conversion("stm", "vtt", "segments of one recording become cues with voices", partial(of_stm, voices=True)),
)
