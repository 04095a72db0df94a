"""Experiment control files: which parts of which recordings are evaluated (plan 004, appendix A.1)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats import numbers
from pipeline.formats.attributes import note_missing, note_unknown
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.table import Table
from pipeline.formats.xmlstream import attributes_of, element, parse

SOURCE_TYPES = ("bnews", "cts", "splitcts", "confmtg")
REQUIRED = ("audio_filename", "channel", "tbeg", "dur")
OPTIONAL = ("source_type", "language")


@dataclass(frozen=True)
class Ecf:
    """One ECF: the root's attributes as written and its excerpts in file order."""

    attributes: Mapping[str, str]
    excerpts: Table
    """Columns file*, channel*, begin_s, dur_s (float64, seconds), source_type*, language* ("" where absent), line."""
    findings: tuple[Finding, ...] = ()

    @property
    def source_signal_duration_s(self) -> float:
        """The duration of recorded speech that the header declares, seconds; NaN where it declares none."""
        return float(self.attributes.get("source_signal_duration", math.nan))


def read_ecf(stream: BinaryIO, where: str) -> Ecf:
    """An ECF from a binary stream; ``where`` names it in messages.

    Names are kept as spelled. Raises ``InputError`` with every problem: XML faults, missing attributes, times that are
    no finite numbers, negative times, no excerpt at all.
    """
    problems, notices = Problems(where), Notices(where)
    reading = _EcfReading(problems, notices)
    excerpt = element("excerpt", opened=reading.excerpt)
    parse(stream, problems, element("document", element("ecf", excerpt, opened=reading.root)))
    if not reading.lines and not problems.count:
        problems.add("no_excerpt", None, "the ECF has no <excerpt>", "List the parts of recordings that are evaluated.")
    problems.raise_if_any()
    excerpts = reading.table()
    note_odd_excerpts(excerpts, notices)
    return Ecf(reading.attributes, excerpts, notices.findings())


class _EcfReading:
    def __init__(self, problems: Problems, notices: Notices) -> None:
        self.problems, self.notices = problems, notices
        self.attributes: dict[str, str] = {}
        self.texts = {name: TextColumn() for name in ("audio_filename", "channel", *OPTIONAL)}
        self.begin_s, self.dur_s = array("d"), array("d")
        self.lines = array("q")

    def root(self, flat: list[str], line: int) -> None:
        self.attributes = attributes_of(flat)
        declared = self.attributes.get("source_signal_duration")
        if declared is not None:
            self._seconds(declared, "source_signal_duration", line)

    def excerpt(self, flat: list[str], line: int) -> None:
        attributes = attributes_of(flat)
        note_unknown(attributes, (*REQUIRED, *OPTIONAL), "excerpt", line, self.notices)
        self.lines.append(line)
        if note_missing(attributes, REQUIRED, "excerpt", line, self.problems):
            return
        self.begin_s.append(self._seconds(attributes["tbeg"], "tbeg", line))
        self.dur_s.append(self._seconds(attributes["dur"], "dur", line))
        self._note_source_type(attributes.get("source_type", ""), line)
        self._note_undecoded(attributes["audio_filename"], line)
        for name, column in self.texts.items():
            column.append(attributes.get(name, ""))

    def table(self) -> Table:
        texts = self.texts
        return table(
            {
                "file": texts["audio_filename"],
                "channel": texts["channel"],
                "begin_s": self.begin_s,
                "dur_s": self.dur_s,
                "source_type": texts["source_type"],
                "language": texts["language"],
                "line": self.lines,
            }
        )

    def _seconds(self, text: str, what: str, line: int) -> float:
        value = numbers.decimal(text, what, line, self.problems)
        if value < 0:
            mend = "Times are counted from the start of the recording."
            self.problems.add("negative_time", line, f"{what} is {quoted(text)} (allowed: 0 or more seconds)", mend)
        return value

    def _note_undecoded(self, name: str, line: int) -> None:
        if any(character in name for character in '&<>"'):
            message = (
                f"{quoted(name)} is written with XML references and read as XML says; the official tools do not decode "
                "them, and find nothing of that name in the transcript"
            )
            self.notices.add("undecoded_entity", line, message)

    def _note_source_type(self, source_type: str, line: int) -> None:
        if source_type not in SOURCE_TYPES:
            message = f"source_type is {quoted(source_type)} (known: {', '.join(SOURCE_TYPES)}); it is kept as written"
            self.notices.add("unknown_source_type", line, message)


def note_odd_excerpts(excerpts: Table, notices: Notices) -> None:
    """Warn of excerpts that repeat or overlap another one of their channel, and of recordings of several source types.

    ``excerpts`` has the columns of an ``Ecf``; recordings are told apart as they are spelled.
    """
    columns = [excerpts.text(name) for name in ("file", "channel", "source_type")]
    times = [excerpts[name].tolist() for name in ("begin_s", "dur_s", "line")]
    rows = list(zip(*columns, *times, strict=True))
    _note_shared(sorted(rows, key=lambda row: (row[:2], row[3:])), notices)
    _note_mixed(rows, notices)


Row = tuple[str, str, str, float, float, int]


def _note_shared(rows: Sequence[Row], notices: Notices) -> None:
    """Rows in order of recording, channel and time."""
    last: Row | None = None
    for before, row in pairwise(rows):
        if last is None or last[:2] != before[:2] or _end_s(before) > _end_s(last):
            last = before
        if row[:2] == before[:2] and row[3:5] == before[3:5]:
            message = (
                f"{_spanned(row)} is listed in line {before[-1]} too: KWSEval counts its time once, STDEval every time"
            )
            notices.add("repeated_excerpt", row[-1], message)
        elif row[:2] == last[:2] and row[3] < _end_s(last):
            message = (
                f"{_spanned(row)} overlaps that of {last[3]:g} to {_end_s(last):g} s in line {last[-1]}: KWSEval ends "
                "the earlier where the later begins, STDEval counts both; what lies in both is the first one's in the "
                "ECF, but with -g its words are the last one's"
            )
            notices.add("overlapping_excerpts", row[-1], message)


def _note_mixed(rows: Sequence[Row], notices: Notices) -> None:
    first: dict[str, Row] = {}
    told = set()
    for row in rows:
        earlier = first.setdefault(row[0], row)
        if row[2] != earlier[2] and row[0] not in told:
            told.add(row[0])
            message = (
                f"recording {quoted(row[0])} has excerpts of source type {quoted(earlier[2])} (line {earlier[-1]}) and "
                f"{quoted(row[2])}: of equal spans KWSEval counts the last one's type; with -g a channel has the type "
                "of its first excerpt, in STDEval of its last"
            )
            notices.add("mixed_source_types", row[-1], message)


def _end_s(row: Row) -> float:
    return round(row[3] + row[4], 4)


def _spanned(row: Row) -> str:
    return f"the excerpt of {quoted(row[0])}, channel {quoted(row[1])}, {row[3]:g} to {_end_s(row):g} s"
