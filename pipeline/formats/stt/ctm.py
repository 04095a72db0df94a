"""CTM: time-marked words of a recogniser (OpenKWS13 plan, appendix D). A system's RTTM is read as one, too."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats import numbers
from pipeline.formats.columns import BytesColumn, table
from pipeline.formats.findings import Notices
from pipeline.formats.kws.rttm import KINDS, N_FIELDS, PASSED_OVER, SPEAKER_INFO
from pipeline.formats.stt.stm import NO_TIME
from pipeline.formats.table import Table
from pipeline.formats.textlines import Lines, line_groups

ALT_BEGIN, ALT, ALT_END = "<ALT_BEGIN>", "<ALT>", "<ALT_END>"
MARKS = {"<ALT_BEGIN>": ALT_BEGIN, "<ALT_BEG>": ALT_BEGIN, "<ALT>": ALT, "<ALT_END>": ALT_END}
"""Words that open, divide and close an alternation; F4DE writes ``<ALT_BEG>`` where sclite has ``<ALT_BEGIN>``."""
_NO_CONFIDENCE = frozenset({"NA", "<NA>", "*", "-"})
_LAST = frozenset("Aa>*-")
_FIELDS_AT_MOST = 8
_MARK, _END, _NONE = b"\0", b" \0 ", b"NA"


@dataclass(frozen=True)
class Ctm:
    """One output: its words in file order."""

    words: Table
    """Columns file*, channel*, word*, begin_s, dur_s (float64, seconds; NaN for the marks of alternations without
    times), confidence (float64, NaN where there is none), line."""
    findings: tuple[Finding, ...] = ()


def read_ctm(stream: BinaryIO, where: str) -> Ctm:
    """A CTM from a binary stream; ``where`` names it in messages.

    Fields stand between ASCII white space: file, channel, begin, duration, word and optionally a confidence. Blank
    lines and lines that start with ``;`` or ``**`` are passed over. A file whose first record is one of RTTM is read
    as RTTM: its records ``LEXEME … lex`` become words. Confidences that are ``NA`` or ``<NA>`` are none; those outside
    [0, 1] are kept and counted in a warning. Raises ``InputError`` with every problem: too few fields, numbers that
    are none, text that is not UTF-8.
    """
    problems, notices = Problems(where), Notices(where)
    reading = _CtmReading(problems, notices)
    as_rttm: Callable[[Lines], Iterator[tuple[int, list[bytes]]]] | None = None
    for group in line_groups(stream, problems, notices):
        if not reading.begun:
            kind = next((fields[0] for _, fields in _records(group)), b"").decode().upper()
            as_rttm = rttm_fields(problems, notices) if kind in RTTM_TYPES else None
            reading.begun = bool(kind)
        if as_rttm is not None:
            reading.take(list(as_rttm(group)))
        elif not reading.take_even(group):
            reading.take(list(_records(group)))
    problems.raise_if_any()
    return Ctm(reading.table(), notices.findings())


def _records(lines: Lines) -> Iterator[tuple[int, list[bytes]]]:
    for number, line in lines:
        fields = line.split()
        if fields and not fields[0].startswith((b";", b"**")):
            yield number, fields


class _CtmReading:
    def __init__(self, problems: Problems, notices: Notices) -> None:
        self.problems, self.notices = problems, notices
        self.begun = False
        self.texts = {name: BytesColumn() for name in ("file", "channel", "word")}
        self.begin_s, self.dur_s, self.confidence = array("d"), array("d"), array("d")
        self.lines = array("q")

    def take_even(self, group: Lines) -> bool:
        """Read a group of lines that all have as many fields as the first, at a third of the cost; False otherwise."""
        n = len(group[0][1].split()) if group else 0
        if not 5 <= n <= 6:
            return False
        fields = _END.join([line for _, line in group]).split()
        ends = fields[n :: n + 1]
        even = len(fields) == len(group) * (n + 1) - 1 and ends.count(_MARK) == len(ends) == fields.count(_MARK)
        columns = [fields[at :: n + 1] for at in range(n)]
        if not even or any(file.startswith((b";", b"**")) for file in set(columns[0])):
            return False
        self._extend(columns, [number for number, _ in group])
        return True

    def take(self, records: list[tuple[int, list[bytes]]]) -> None:
        """Read the records of a group of lines."""
        kept = [record for record in records if self._has_fields(*record)]
        if kept:
            filled = [[*fields, _NONE][:6] for _, fields in kept]
            self._extend(list(zip(*filled, strict=True)), [number for number, _ in kept])

    def _extend(self, columns: Sequence[Sequence[bytes]], lines: list[int]) -> None:
        for name, column in zip(self.texts, (columns[0], columns[1], columns[4]), strict=True):
            self.texts[name].extend_bytes(column)
        begin, dur = (b"\n".join(column).decode().split("\n") for column in columns[2:4])
        self.begin_s.extend(self._times(begin, "begin", lines))
        dur_s = self._times(dur, "duration", lines)
        self.dur_s.extend(dur_s)
        if min(dur_s) < 0:
            below = [line for line, value in zip(lines, dur_s, strict=True) if value < 0]
            self.notices.add("negative_duration", below[0], "the word ends before it begins", len(below))
        given = columns[5] if len(columns) > 5 else [_NONE] * len(lines)
        self.confidence.extend(self._confidences(b"\n".join(given).decode().split("\n"), lines))
        self.lines.extend(lines)

    def _has_fields(self, number: int, fields: list[bytes]) -> bool:
        if 5 <= len(fields) <= _FIELDS_AT_MOST:
            return True
        what = f"the row has {len(fields)} fields (allowed: file, channel, begin, duration, word, then a confidence)"
        self.problems.add("field_count", number, what, "Write one word a line, without blanks inside fields.")
        return False

    def _times(self, values: list[str], what: str, lines: list[int]) -> array[float]:
        """Seconds. ``*`` is NaN (marks of alternations), ``&&12.5`` reads 12.5 and ``12.5*`` too."""
        joined = "".join(values)
        if "*" not in joined and "&" not in joined and "A" not in joined:
            return numbers.decimals(values, what, lines, self.problems)
        read = array("d")
        for text, line in zip(values, lines, strict=True):
            plain = text.removeprefix("&&")
            number = text.upper() not in NO_TIME
            read.append(numbers.decimal(plain.rstrip("*"), what, line, self.problems) if number else math.nan)
        return read

    def _confidences(self, texts: list[str], lines: list[int]) -> array[float]:
        missing = {text for text in set(texts) if text[-1:] in _LAST and text.upper() in _NO_CONFIDENCE}
        given = [at for at, text in enumerate(texts) if text not in missing] if missing else range(len(texts))
        places = [lines[at] for at in given] if missing else lines
        stated = [texts[at] for at in given] if missing else texts
        values = numbers.decimals(stated, "confidence", places, self.problems)
        if values and not (min(values) >= 0.0 and max(values) <= 1.0):
            outside = [line for line, value in zip(places, values, strict=True) if not 0.0 <= value <= 1.0]
            message = "a confidence lies outside [0, 1]; it is clipped where entropies are computed"
            self.notices.add("confidence_out_of_range", outside[0], message, len(outside))
        if not missing:
            return values
        confidences = array("d", [math.nan]) * len(texts)
        for at, value in zip(given, values, strict=True):
            confidences[at] = value
        return confidences

    def table(self) -> Table:
        """The words so far, with the marks of alternations in one spelling; times must be missing only there."""
        word = self.texts["word"]
        marks = {code: MARKS[name.upper()] for name, code in word.vocabulary.items() if name.upper() in MARKS}
        codes = {code: word.vocabulary[mark] for code, mark in marks.items()}
        timed = {"begin": self.begin_s, "duration": self.dur_s}
        for name, values in timed.items():
            for at in (at for at, value in enumerate(values) if math.isnan(value)) if _has_nan(values) else ():
                if word.codes[at] not in codes:
                    what = f"the {name} of a word is missing (allowed: a decimal number)"
                    self.problems.add("no_time", self.lines[at], what, "Write its seconds; only <ALT…> rows have none.")
        self.problems.raise_if_any()
        if codes:
            word.codes = array("i", [codes.get(code, code) for code in word.codes])
        numeric = {"begin_s": self.begin_s, "dur_s": self.dur_s, "confidence": self.confidence}
        return table({**self.texts, **numeric, "line": self.lines})


def _has_nan(values: array[float]) -> bool:
    return math.isnan(sum(values))


RTTM_TYPES = frozenset((*KINDS, SPEAKER_INFO)) | PASSED_OVER
_WORD = ("LEXEME", "lex")

Records = Iterator[tuple[int, list[bytes]]]


def rttm_fields(problems: Problems, notices: Notices) -> Callable[[Lines], Records]:
    """A reader of groups of RTTM lines that yields each word as the fields of a CTM row, its confidence last.

    ``;;`` begins a comment. Rows have 9 fields or the plan's 10. Other subtypes than ``lex`` are counted and dropped,
    as ``rttm2ctm`` does.
    """

    def read(lines: Lines) -> Records:
        for number, line in lines:
            fields = line.partition(b";;")[0].split()
            if not fields:
                continue
            if len(fields) not in (N_FIELDS, N_FIELDS + 1):
                what = f"the record has {len(fields)} fields (allowed: 9, or 10 with the signal look-ahead time)"
                problems.add("field_count", number, what, "Write <NA> for what does not apply.")
                continue
            kind, file, channel, begin, dur, word, subtype, _, confidence = fields[:N_FIELDS]
            if kind.decode().upper() != _WORD[0]:
                continue
            if subtype.decode().lower() != _WORD[1]:
                message = "a LEXEME of another subtype than lex is not scored as speech-to-text output"
                notices.add("subtype_not_scored", number, message)
                continue
            yield number, [file, channel, begin, dur, word, confidence]

    return read
