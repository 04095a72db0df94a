"""Folders of Kaldi: ``text``, ``segments``, ``utt2spk``, ``reco2file_and_channel`` and a CTM by utterance."""

from __future__ import annotations

from decimal import Decimal

from pipeline.errors import Problems
from pipeline.formats import numbers
from pipeline.formats.convert import Conversion, Given, Made
from pipeline.formats.convert.values import Segment, chosen, ctm, seconds, segments_of, stm, words_of
from pipeline.formats.findings import quoted

_FIELDS = {"segments": 4, "utt2spk": 2, "reco2file_and_channel": 3}

Spans = dict[str, tuple[str, str, float, float, int]]
"""File, channel, begin, end and line of each utterance."""


def _rows(given: Given, part: str) -> dict[str, tuple[list[str], int]]:
    """The fields behind the name that begins each line of a file, with its line; none where there is no such file.

    Raises ``InputError`` for a wrong number of fields and for a name given twice.
    """
    problems, found = Problems(given.where(part)), dict[str, tuple[list[str], int]]()
    for number, line in enumerate(given.files.get(part, b"").decode().splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != _FIELDS.get(part, len(fields)):
            what = f"the row has {len(fields)} fields (allowed: {_FIELDS[part]})"
            problems.add("field_count", number, what, "Write one row a line, without blanks inside fields.")
        if fields[0] in found:
            problems.add("duplicate", number, f"{quoted(fields[0])} is given twice", "Keep one of them.")
        found[fields[0]] = (fields[1:], number)
    problems.raise_if_any()
    return found


def _spans(given: Given) -> Spans:
    """Where utterances lie. Without ``reco2file_and_channel`` recordings are files, and the channel must be told."""
    if "segments" not in given.files:
        problems = Problems(given.name)
        problems.add("no_segments", None, "the folder has no file segments: times would be made up", "Add it.")
        problems.raise_if_any()
    problems = Problems(given.where("segments"))
    places = {name: (file, channel) for name, ([file, channel], _) in _rows(given, "reco2file_and_channel").items()}
    channel = given.channel if places else chosen(given, "channel", problems, "segments of Kaldi name no channel")
    spans: Spans = {}
    for utterance, ([recording, begin, end], line) in _rows(given, "segments").items():
        if places and recording not in places:
            what = f"recording {quoted(recording)} is not in reco2file_and_channel"
            problems.add("unknown_recording", line, what, "Add it there.")
        begin_s, end_s = (
            numbers.decimal(text, what, line, problems) for text, what in ((begin, "begin"), (end, "end"))
        )
        spans[utterance] = (*places.get(recording, (recording, channel)), begin_s, end_s, line)
    problems.raise_if_any()
    return spans


def to_stm(given: Given) -> Made:
    """Every utterance of ``text`` as a segment of its speaker."""
    problems = Problems(given.where("text"))
    spans, texts, speakers = _spans(given), _rows(given, "text"), _rows(given, "utt2spk")
    segments = []
    for utterance, (words, line) in texts.items():
        if utterance not in spans:
            problems.add("no_times", line, f"utterance {quoted(utterance)} is not in segments", "Add its times.")
            continue
        if utterance not in speakers and not given.speaker:
            what = f"utterance {quoted(utterance)} has no speaker in utt2spk"
            problems.add("no_speaker", line, what, "Add it, or say who speaks with --speaker.")
        speaker = speakers[utterance][0][0] if utterance in speakers else given.speaker
        file, channel, begin_s, end_s, _ = spans[utterance]
        segments.append(Segment(file, channel, speaker, begin_s, end_s, "", " ".join(words), line))
    silent = [line for name, (*_, line) in spans.items() if name not in texts]
    if silent:
        what = f"{len(silent)} utterances of segments have no text (first in line {silent[0]})"
        problems.add("no_text", None, what, "Add them to text, empty where nothing is said.")
    problems.raise_if_any()
    return Made.text(stm(segments))


def to_ctm(given: Given) -> Made:
    """Words whose times count from the begin of their utterance, as times of the recording. Needs ``segments``."""
    spans = _spans(given)
    problems = Problems(given.where("ctm"))
    if "ctm" not in given.files:
        problems.add("no_ctm", None, "the folder has no file ctm: words of text have no times", "Add it.")
        problems.raise_if_any()
    words = []
    for word in words_of(given, "ctm"):
        if word.file not in spans:
            what = f"utterance {quoted(word.file)} is not in segments"
            problems.add("no_times", word.line, what, "Add its times, or give a CTM by recording as it is.")
            continue
        file, channel, begin_s, *_ = spans[word.file]
        words.append(word._replace(file=file, channel=channel, begin_s=_sum(begin_s, word.begin_s)))
    problems.raise_if_any()
    return Made.text(ctm(words))


def _sum(*times_s: float) -> float:
    """The sum of times as decimals."""
    return float(sum(Decimal(repr(time_s)) for time_s in times_s))


def of_stm(given: Given) -> Made:
    """A folder whose utterances are named by speaker, file, channel and times in milliseconds."""
    problems = Problems(given.name)
    files: dict[str, dict[str, str]] = {name: {} for name in ("text", "segments", "utt2spk", "reco2file_and_channel")}
    segments = segments_of(given)
    for one in segments:
        begin_ms, end_ms = (round(1000 * time_s) for time_s in (one.begin_s, one.end_s))
        recording = f"{one.file}_{one.channel}"
        utterance = f"{one.speaker}-{recording}-{begin_ms:07d}-{end_ms:07d}"
        if utterance in files["text"]:
            problems.add("duplicate", one.line, f"two segments would be {quoted(utterance)}", "Keep one of them.")
        times = f"{seconds(one.begin_s)} {seconds(one.end_s)}"
        files["text"][utterance] = one.text
        files["segments"][utterance] = f"{recording} {times}"
        files["utt2spk"][utterance] = one.speaker
        place = files["reco2file_and_channel"].setdefault(recording, f"{one.file} {one.channel}")
        if place != f"{one.file} {one.channel}":
            what = f"recording {quoted(recording)} would be two: {place}, and {one.file} {one.channel}"
            problems.add("ambiguous_recording", one.line, what, "Rename one of the files.")
    problems.raise_if_any()
    lost = ("labels of segments are left out: Kaldi has none",) if any(one.label for one in segments) else ()
    contents = {
        name: "".join(f"{key} {value}".rstrip() + "\n" for key, value in sorted(rows.items())).encode()
        for name, rows in files.items()
    }
    return Made(contents, lost)


CONVERSIONS = (
    Conversion("kaldi", "stm", "text, segments and utt2spk become segments", to_stm),
    Conversion("kaldi", "ctm", "ctm by utterance and segments become words of recordings", to_ctm),
    Conversion("stm", "kaldi", "a folder with text, segments, utt2spk, reco2file_and_channel; no audio", of_stm),
)
