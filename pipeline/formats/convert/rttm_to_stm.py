"""RTTM → STM: words by the SPEAKER records that they lie in (plan 004, sections 4.3 and 4.4 and appendix C)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pipeline.errors import Problems
from pipeline.formats import numbers
from pipeline.formats.convert import Conversion, Given, Made
from pipeline.formats.convert.babel_to_stm import IGNORED
from pipeline.formats.convert.values import Segment, stm
from pipeline.formats.findings import quoted
from pipeline.formats.stt.tags import OF_SEGMENTS

OPTIONAL = frozenset({"fp", "frag", "for-lex"})
_NA = "<NA>"
_TYPES = frozenset({"LEXEME", "SPEAKER", "NON-SPEECH", "NON-LEX"})


class Record(NamedTuple):
    """One record, upper-case ``kind``, lower-case ``subtype``."""

    kind: str
    file: str
    channel: str
    begin_s: float
    dur_s: float
    text: str
    subtype: str
    speaker: str
    line: int

    @property
    def mid_s(self) -> float:
        """The mid point, in seconds."""
        return self.begin_s + self.dur_s / 2


def convert(given: Given) -> Made:
    """A segment for each SPEAKER record, with the words of its speaker whose mid points lie in it."""
    problems = Problems(given.name)
    records = list(_records(given.files[""].decode(), problems))
    problems.raise_if_any()
    turns = [record for record in records if record.kind == "SPEAKER"]
    spoken: dict[int, list[Record]] = {turn.line: [] for turn in turns}
    by_place: dict[tuple[str, str], list[Record]] = {}
    for turn in turns:
        by_place.setdefault((turn.file, turn.channel), []).append(turn)
    for record in records:
        if record.kind in ("SPEAKER", "NON-LEX"):
            continue
        if record.kind == "NON-SPEECH" and record.text.lower() not in OF_SEGMENTS:
            if record.text == _NA and record.subtype == "other":
                what = "the record does not say which of <prompt>, <overlap>, <click>, <ring>, <dtmf>, <int> it is"
                problems.add("unknown_noise", record.line, what, "Write the tag as its orthography.")
            continue
        own = [turn for turn in by_place.get((record.file, record.channel), ()) if _is_in(record, turn)]
        if not own:
            what = f"{quoted(record.text)} lies in no SPEAKER record of its speaker: its segment would be made up"
            problems.add("no_segment", record.line, what, "Add the record, or give the reference as STM.")
        for turn in own[:1]:
            spoken[turn.line].append(record)
    problems.raise_if_any()
    return Made.text(stm(_segment(turn, spoken[turn.line]) for turn in turns))


def _records(text: str, problems: Problems) -> Iterator[Record]:
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.partition(";;")[0].split()
        if not fields or fields[0].upper() not in _TYPES:
            continue
        if len(fields) not in (9, 10):
            what = f"the record has {len(fields)} fields (allowed: 9, or 10 with the signal look-ahead time)"
            problems.add("field_count", number, what, "Write <NA> for what does not apply.")
            continue
        begin_s, dur_s = (
            numbers.decimal(field.rstrip("*"), what, number, problems)
            for field, what in zip(fields[3:5], ("begin", "duration"), strict=True)
        )
        kind, file, channel = fields[0].upper(), *fields[1:3]
        yield Record(kind, file, channel, begin_s, dur_s, fields[5], fields[6].lower(), fields[7], number)


def _is_in(record: Record, turn: Record) -> bool:
    same = _NA in (record.speaker, turn.speaker) or record.speaker == turn.speaker
    return same and turn.begin_s <= record.mid_s <= turn.begin_s + turn.dur_s


def _segment(turn: Record, spoken: list[Record]) -> Segment:
    words = sorted(spoken, key=lambda record: record.begin_s)
    unscored = any(record.text.lower() in OF_SEGMENTS for record in words)
    texts = [f"({one.text})" if one.subtype in OPTIONAL else one.text for one in words if one.kind == "LEXEME"]
    end_s = round(turn.begin_s + turn.dur_s, 6)
    text = IGNORED if unscored else " ".join(texts)
    return Segment(turn.file, turn.channel, turn.speaker, turn.begin_s, end_s, "", text, turn.line)


CONVERSIONS = (
    Conversion("rttm", "stm", "words by SPEAKER records; fp, frag and for-lex in brackets; needs SPEAKER", convert),
)
