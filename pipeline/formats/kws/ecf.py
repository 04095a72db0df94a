"""Experiment control files: which parts of which recordings are evaluated (plan 004, appendix A.1)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats import numbers
from pipeline.formats.attributes import note_missing, note_unknown
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.kws.ecf_oddities import note_odd_excerpts
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
    reading = _Reading(problems, notices)
    excerpt = element("excerpt", opened=reading.excerpt)
    parse(stream, problems, element("document", element("ecf", excerpt, opened=reading.root)))
    if not reading.lines and not problems.count:
        problems.add("no_excerpt", None, "the ECF has no <excerpt>", "List the parts of recordings that are evaluated.")
    problems.raise_if_any()
    excerpts = reading.table()
    note_odd_excerpts(excerpts, notices)
    return Ecf(reading.attributes, excerpts, notices.findings())


class _Reading:
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
