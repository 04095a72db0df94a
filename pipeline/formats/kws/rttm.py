"""RTTM transcripts: time-marked words, speakers and regions (plan 004, appendix C)."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np

from pipeline.errors import Finding, Problems
from pipeline.formats import numbers
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.kws.rttm_patterns import NA, note_pattern
from pipeline.formats.table import Array, Table
from pipeline.formats.textlines import Lines, line_groups

KINDS = ("LEXEME", "SPEAKER", "NOSCORE", "SEGMENT")
"""The types that some scorer reads."""
PASSED_OVER = frozenset(
    {
        *("NO_RT_METADATA", "NON-LEX", "NONLEX", "NON-SPEECH", "NONSPEECH", "NOEVAL"),
        *("A/P", "SU", "CB", "IP", "EDIT", "FILLER"),
    }
)
"""Types of the RTTM family that no scorer here reads."""
SPEAKER_INFO = "SPKR-INFO"
"""The type that says what kind of person a speaker is."""
NOT_APPLICABLE = "<NA>"
N_FIELDS = 9
_FIELDS = ("kind", "file", "channel", "tbeg", "tdur", "token", "subtype", "speaker")
"""The first eight, by name."""
_KEPT = frozenset(kind.encode() for kind in KINDS)
_SPEAKER_INFO = SPEAKER_INFO.encode()
_UNKNOWN_AT_MOST = 5


class _Speakers:
    """The SPKR-INFO records read so far."""

    def __init__(self) -> None:
        self.texts = {name: TextColumn() for name in ("file", "channel", "subtype", "speaker")}
        self.lines = array("q")

    def add(self, fields: list[bytes], line: int) -> None:
        for name, text in self.texts.items():
            text.append(fields[_FIELDS.index(name)].decode())
        self.lines.append(line)

    def table(self) -> Table:
        return table({**self.texts, "line": self.lines})


@dataclass(frozen=True)
class Rttm:
    """One transcript: its records of the four ``KINDS``, in file order."""

    records: Table
    """Columns kind* (upper case), file*, channel*, begin_s, dur_s (float64, seconds), token*, subtype*, speaker*,
    line."""
    findings: tuple[Finding, ...] = ()
    speakers: Table = field(default_factory=lambda: _Speakers().table())
    """The SPKR-INFO records, in file order: columns file*, channel*, subtype* (adult_female, …), speaker*, line."""


def read_rttm(stream: BinaryIO, where: str) -> Rttm:
    """An RTTM from a binary stream; ``where`` names it in messages.

    Fields stand between ASCII white space; ``;;`` begins a comment. Names and tokens are kept as spelled. Times that
    are ``<NA>`` read as 0 and ``12.34*`` as 12.34, as the official tool does, with a warning. So are
    records that break the field pattern of their type (``rttm_patterns``) and words given twice (``note_repeats``).
    Raises ``InputError`` with every problem:
    text that is not UTF-8, a wrong number of fields, times that are no finite numbers.
    """
    problems, notices = Problems(where), Notices(where)
    reading = _RttmReading(problems, notices)
    for lines in line_groups(stream, problems, notices):
        reading.take(lines)
    problems.raise_if_any()
    reading.note_unknown()
    records = reading.table()
    note_repeats(records, notices)
    return Rttm(records, notices.findings(), reading.speakers.table())


class _RttmReading:
    def __init__(self, problems: Problems, notices: Notices) -> None:
        self.problems, self.notices = problems, notices
        self.texts = {name: TextColumn() for name in ("kind", "file", "channel", "token", "subtype", "speaker")}
        self.begin_s, self.dur_s, self.lines = array("d"), array("d"), array("q")
        self.speakers = _Speakers()
        self.unknown: Counter[str] = Counter()
        self.unknown_line: int | None = None

    def take(self, lines: Lines) -> None:
        """Read a group of lines."""
        records, numbers_of_lines = [], []
        for number, line in lines:
            fields = (line.partition(b";;")[0] if b";;" in line else line).split()
            if not fields or (len(fields) != N_FIELDS and not self._has_slat(fields, number)):
                continue
            kind = fields[0].upper()
            if kind != b"LEXEME" or NA in fields[6:8]:
                note_pattern(kind, fields, number, self.notices)
            if kind in _KEPT:
                records.append(fields)
                numbers_of_lines.append(number)
            elif kind == _SPEAKER_INFO:
                self.speakers.add(fields, number)
            else:
                self._pass_over(kind.decode(), number)
        if records:
            self._extend(records, numbers_of_lines)

    def _extend(self, records: list[list[bytes]], lines: list[int]) -> None:
        fields = {
            name: b"\n".join(column).decode().split("\n")
            for name, column in zip(_FIELDS, zip(*records, strict=False), strict=False)
        }
        self.texts["kind"].extend(map(str.upper, fields["kind"]))
        for name in ("file", "channel", "token", "subtype", "speaker"):
            self.texts[name].extend(fields[name])
        self.begin_s.extend(numbers.decimals(self._plain(fields["tbeg"], lines), "tbeg", lines, self.problems))
        dur_s = numbers.decimals(self._plain(fields["tdur"], lines), "tdur", lines, self.problems)
        self.dur_s.extend(dur_s)
        self.lines.extend(lines)
        if min(dur_s) < 0:
            below = [line for line, value in zip(lines, dur_s, strict=True) if value < 0]
            self.notices.add("negative_duration", below[0], "the record ends before it begins", len(below))

    def _plain(self, times: list[str], lines: list[int]) -> list[str]:
        """The times without the marks that RTTM allows: a trailing ``*`` (not an actual time) and ``<NA>`` (none)."""
        joined = "".join(times)
        if "*" not in joined and "<" not in joined:
            return times
        return [self._without_mark(time, line) for time, line in zip(times, lines, strict=True)]

    def _without_mark(self, time: str, line: int) -> str:
        if time == NOT_APPLICABLE:
            self.notices.add("time_not_applicable", line, f"a time is {NOT_APPLICABLE}; it is read as 0")
            return "0"
        if time.endswith("*"):
            message = f"the time {quoted(time)} is marked as not actual; it is read as {time[:-1]}"
            self.notices.add("time_not_actual", line, message)
            return time[:-1]
        return time

    def _has_slat(self, fields: list[bytes], number: int) -> bool:
        """Whether the record has the tenth field of plan 004 (signal look-ahead time); if not, its length is wrong."""
        if len(fields) == N_FIELDS + 1:
            message = "the record has 10 fields, as plan 004 says; the official tool takes 9 and refuses others"
            self.notices.add("ten_fields", number, message)
            return True
        what = f"the record has {len(fields)} fields (allowed: 9, or 10 with the signal look-ahead time)"
        self.problems.add("field_count", number, what, "Write <NA> for what does not apply; no blanks inside a field.")
        return False

    def _pass_over(self, kind: str, number: int) -> None:
        if kind in PASSED_OVER:
            return
        if self.unknown_line is None:
            self.unknown_line = number
        if kind in self.unknown or len(self.unknown) < _UNKNOWN_AT_MOST:
            self.unknown[kind] += 1
        else:
            self.unknown["others"] += 1

    def note_unknown(self) -> None:
        """Warn of records whose type no RTTM description knows."""
        if self.unknown:
            kinds = ", ".join(f"{quoted(kind)}: {count}" for kind, count in self.unknown.items())
            message = f"records of unknown types are passed over ({kinds}); scored types: {', '.join(KINDS)}"
            self.notices.add("unknown_type", self.unknown_line, message)

    def table(self) -> Table:
        """The records so far."""
        texts = self.texts
        return table(
            {
                "kind": texts["kind"],
                "file": texts["file"],
                "channel": texts["channel"],
                "begin_s": self.begin_s,
                "dur_s": self.dur_s,
                "token": texts["token"],
                "subtype": texts["subtype"],
                "speaker": texts["speaker"],
                "line": self.lines,
            }
        )


def note_repeats(records: Table, notices: Notices) -> None:
    """Warn of LEXEME records that say what another one says, and of a speaker's words that overlap themselves.

    ``records`` has the columns of an ``Rttm``. Words are compared without case; a record given twice is one of the same
    recording, channel, begin, duration and word, whoever speaks.
    """
    kinds = records.vocabularies["kind"]
    table = records.take(np.flatnonzero(records["kind"] == (kinds.index("LEXEME") if "LEXEME" in kinds else -1)))
    word = _folded(table)
    place = (table["channel"], table["file"])
    order = np.lexsort((table["line"], table["dur_s"], table["begin_s"], word, *place))
    same = _equal(order, word, *place, table["begin_s"], table["dur_s"])
    _note(table, order, same, "duplicate_record", "is given twice", notices)
    again = np.zeros(len(table), np.bool_)
    again[order[same]] = True
    own = (word, table["speaker"], *place)
    order = np.lexsort((table["line"], table["begin_s"], *own))
    order = order[~again[order]]
    with np.errstate(over="ignore", invalid="ignore"):  # times near the end of doubles overlap nothing that counts
        begin_s, end_s = table["begin_s"][order], np.round(table["begin_s"] + table["dur_s"], 4)[order]
    rows = _equal(order, *own)
    _note(table, order, rows[begin_s[rows] < end_s[rows - 1]], "overlapping_record", "overlaps itself", notices)


def _folded(table: Table) -> Array:
    """For each row a number that its word has in any case."""
    codes: dict[str, int] = {}
    of = [codes.setdefault(token.casefold(), len(codes)) for token in table.vocabularies["token"]]
    return np.array([*of, -1], np.int64)[table["token"]]


def _equal(order: Array, *columns: Array) -> Array:
    """Positions in ``order`` whose row has the values of the row before it."""
    same = np.ones(max(order.size - 1, 0), np.bool_)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    return np.flatnonzero(same) + 1


def _note(table: Table, order: Array, found: Array, code: str, what: str, notices: Notices) -> None:
    """One notice: its first line, and how many."""
    if not found.size:
        return
    line = table["line"][order]
    first = found[np.argmin(line[found])]
    row = order[first]
    word, file, channel = (table.vocabularies[name][table[name][row]] for name in ("token", "file", "channel"))
    message = (
        f"the word {quoted(word)} at {table['begin_s'][row]:g} s of {quoted(file)}, channel {quoted(channel)}, {what} "
        f"(line {line[first - 1]} too): each record is an occurrence of its own, which one detection cannot find twice"
    )
    notices.add(code, int(line[first]), message, int(found.size))
