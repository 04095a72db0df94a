"""The CSV dialect of TRECVID MED tables, with strict checks (F4DE 3.5.0 CSVHelper; MED 2011 plan, appendix C).

Fields are parted by commas and may stand in double quotes, a quote inside doubled. One line is one record. Accepted
beyond the official tool: a byte-order mark and empty lines at the end. Refused: other separators, quotes after a
blank, curly quotes, line breaks inside a field, empty lines between records, rows of another length.
"""

from __future__ import annotations

import codecs
import csv
import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats.budgets import Spent
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted, refuse
from pipeline.formats.streams import chunks
from pipeline.formats.table import Table
from pipeline.formats.textlines import LINE_BYTES_AT_MOST

_FIELD = r'(?:"(?:[^"]|"")*+"|[^",]*+)'
_LINE = re.compile(f"{_FIELD}(?:,{_FIELD})*+")
_CURLY = re.compile("[\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb]")
_SURROGATE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class MedTable:
    """One table as read: columns by their names in the file, warnings, and what messages call the file."""

    table: Table
    findings: tuple[Finding, ...] = ()
    where: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, without ``line``."""
        return tuple(name for name in self.table.columns if name != "line")


@dataclass
class Sheet:
    """The text of a file's columns, by name, while its reader checks them."""

    problems: Problems
    notices: Notices
    header: tuple[str, ...] = ()
    texts: dict[str, list[str]] = field(default_factory=dict)
    lines: array[int] = field(default_factory=lambda: array("q"))

    def __contains__(self, name: str) -> bool:
        return name in self.texts


def read_sheet(
    stream: BinaryIO,
    where: str,
    required: Sequence[str],
    optional: Sequence[str] | None = (),
    aliases: Mapping[str, str] | None = None,
) -> Sheet:
    """The wanted columns of a MED table as text, in file order; ``where`` names the file in messages.

    ``required`` columns must be there; of others those in ``optional`` are kept (``None``: all). ``aliases`` maps
    misspelt column names to the right ones, with a warning. Problems are noted in the sheet, not raised, so that the
    caller adds its own; only what makes reading on senseless raises ``InputError`` at once.
    """
    sheet = Sheet(Problems(where), Notices(where))
    wanted: list[int] = []
    for first, lines in _groups(stream, sheet):
        if sheet.header:
            _take_rows(sheet, lines, first, wanted)
        else:
            wanted = _take_header(sheet, lines[0], first, required, optional, aliases or {})
            _take_rows(sheet, lines[1:], first + 1, wanted)
    if not sheet.header:
        refuse(sheet.problems, "bad_header", None, "the file is empty", f"Write the columns {', '.join(required)}.")
    if not sheet.lines and not sheet.problems.count:
        sheet.problems.add("no_rows", None, "the file has a header and no rows", "Check that it was written whole.")
    return sheet


def finished(sheet: Sheet, columns: Mapping[str, TextColumn | array[float]]) -> MedTable:
    """The table of checked columns. Raises ``InputError`` with everything noted in the sheet."""
    sheet.problems.raise_if_any()
    return MedTable(table({**columns, "line": sheet.lines}), sheet.notices.findings(), sheet.problems.file)


def names_column(sheet: Sheet, name: str, *, unique: bool = False) -> TextColumn:
    """A column of identifiers; empty ones, and with ``unique`` repeated ones, are noted as problems."""
    column = TextColumn()
    values = sheet.texts[name]
    column.extend(values)
    if "" in column.vocabulary or any(not value.strip() for value in column.vocabulary):
        line = next(line for value, line in zip(values, sheet.lines, strict=True) if not value.strip())
        sheet.problems.add("empty_name", line, f"{name} is empty", "Write the identifier.")
    if unique and len(column.vocabulary) < len(values):
        _note_repeated(sheet, name, values)
    return column


def text_column(sheet: Sheet, name: str) -> TextColumn:
    """A column of free text."""
    column = TextColumn()
    column.extend(sheet.texts[name])
    return column


def _note_repeated(sheet: Sheet, name: str, values: list[str]) -> None:
    first: dict[str, int] = {}
    for value, line in zip(values, sheet.lines, strict=True):
        before = first.setdefault(value, line)
        if before != line:
            what = f"{name} {quoted(value)} is given twice (first in line {before})"
            sheet.problems.add("duplicate_id", line, what, "Keep one of the rows.")


def _take_header(
    sheet: Sheet,
    line: str,
    number: int,
    required: Sequence[str],
    optional: Sequence[str] | None,
    aliases: Mapping[str, str],
) -> list[int]:
    """Note the column names; returns the positions of the columns to keep."""
    problems = sheet.problems
    curly = _CURLY.search(line)
    if curly:
        refuse(problems, "curly_quotes", number, f"the header {_named(curly[0])}", 'Write straight quotes (").')
    if not _LINE.fullmatch(line):
        what = f"the header {quoted(line)} is not CSV (allowed: fields between commas, quoted whole or not at all)"
        mend = "Separate the fields by commas." if re.search(r'"[;\t]"', line) else "No blank before a quote."
        refuse(problems, "csv_malformed", number, what, mend)
    names = [aliases.get(name, name) for name in next(csv.reader([line], strict=True))]
    for written, name in aliases.items():
        if name in names and written in line:
            sheet.notices.add("misspelt_column", number, f"the column {written} is taken for {name}")
    sheet.header = tuple(names)
    for name in sorted({name for name in names if names.count(name) > 1}):
        problems.add("duplicate_column", number, f"two columns are named {quoted(name)}", "Keep one of them.")
    missing = [name for name in required if name not in names]
    if missing:
        what = f"the header has no column {', '.join(missing)} (it has {quoted(','.join(names))})"
        refuse(problems, "bad_header", number, what, _mend_header(names, missing))
    kept = names if optional is None else [*required, *(name for name in optional if name in names)]
    positions = [names.index(name) for name in dict.fromkeys(kept)]
    sheet.texts = {names[position]: [] for position in positions}
    return positions


def _mend_header(names: list[str], missing: list[str]) -> str:
    lower = {name.strip().lower(): name for name in names}
    alike = [f"{lower[name.lower()]!r} as {name!r}" for name in missing if name.lower() in lower]
    if alike:
        return f"Spell {', '.join(alike)}."
    if len(names) == 1 and re.search(r"[;\t]", names[0]):
        return "Separate the fields by commas."
    return "The first line names the columns, upper and lower case as in the plan."


def _named(character: str) -> str:
    name = unicodedata.name(character, "unknown")
    return f"has the character {character} (U+{ord(character):04X} {name})"


def _take_rows(sheet: Sheet, lines: list[str], first: int, wanted: list[int]) -> None:
    """Append the rows of one group of lines; refused lines are noted and left out."""
    numbers = range(first, first + len(lines))
    width = len(sheet.header)
    if not all(map(_LINE.fullmatch, lines)):
        good = [(line, number) for line, number in zip(lines, numbers, strict=True) if _is_record(sheet, line, number)]
        lines, numbers = [line for line, _ in good], [number for _, number in good]  # type: ignore[assignment]
    rows = list(csv.reader(lines, strict=True))
    if any(len(row) != width for row in rows):
        for row, number in zip(rows, numbers, strict=True):
            if len(row) != width:
                what = f"the row has {len(row)} fields where the header has {width}"
                sheet.problems.add("field_count", number, what, "Quote fields that contain a comma.")
        kept = [(row, number) for row, number in zip(rows, numbers, strict=True) if len(row) == width]
        rows, numbers = [row for row, _ in kept], [number for _, number in kept]  # type: ignore[assignment]
    names = list(sheet.texts)
    for name, position in zip(names, wanted, strict=True):
        values = [row[position] for row in rows]
        _check_characters(sheet, name, values, numbers)
        sheet.texts[name] += values
    sheet.lines.extend(numbers)


def _is_record(sheet: Sheet, line: str, number: int) -> bool:
    if _LINE.fullmatch(line):
        return True
    what = "the row is not CSV (allowed: fields between commas, each quoted whole or not at all, quotes doubled)"
    sheet.problems.add("csv_malformed", number, what, 'Write "a ""b""", and no blank between a comma and a quote.')
    return False


def _check_characters(sheet: Sheet, name: str, values: list[str], numbers: Sequence[int]) -> None:
    """Identifiers and numbers must be UTF-8 and free of curly quotes; both come from word processors."""
    joined = "\n".join(values)
    if joined.isascii():
        return
    for value, number in zip(values, numbers, strict=True):
        curly = _CURLY.search(value)
        if _SURROGATE.search(value):
            what = f"{name} has a byte that is not UTF-8"
            sheet.problems.add("not_utf8", number, what, "Save the file as UTF-8.")
        elif curly and name.endswith(("ID", "Score", "Threshold", "TPT", "Rank", "Targ")):
            mend = 'Write straight quotes (").'
            sheet.problems.add("curly_quotes", number, f"{name} {_named(curly[0])}", mend)


def _groups(stream: BinaryIO, sheet: Sheet) -> Iterator[tuple[int, list[str]]]:
    """Stretches of records with the line number of the first; empty lines are left out, and noted between records."""
    number, expected = 1, 1
    for lines in _line_lists(stream, sheet, number):
        for start, run in _runs(lines):
            if number + start != expected:
                sheet.problems.add("blank_line", expected, "the line is empty, and records follow", "Remove it.")
            yield number + start, run
            expected = number + start + len(run)
        number += len(lines)


def _line_lists(stream: BinaryIO, sheet: Sheet, number: int) -> Iterator[list[str]]:
    rest, spent = b"", Spent(sheet.problems.file)
    for piece in _split(stream, sheet):
        whole, newline, rest = (rest + piece).rpartition(b"\n")
        if len(rest) > LINE_BYTES_AT_MOST:
            what = f"the line is longer than {LINE_BYTES_AT_MOST} bytes"
            at = number + whole.count(b"\n") + len(newline)
            refuse(sheet.problems, "line_too_long", at, what, "Check that this is a text file of records.")
        if newline:
            lines = _decoded(whole, number, sheet)
            spent.lines(len(lines), len(piece))
            yield lines
            number += len(lines)
    if rest:
        yield _decoded(rest, number, sheet)


def _runs(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Stretches of lines that are not blank, each with its position."""
    if all(map(str.strip, lines)):
        yield 0, lines
        return
    start = 0
    for index, line in enumerate([*lines, ""]):
        if not line.strip():
            if start < index:
                yield start, lines[start:index]
            start = index + 1


def _split(stream: BinaryIO, sheet: Sheet) -> Iterator[bytes]:
    """The stream in chunks without its byte-order mark."""
    pieces = chunks(stream)
    head = next(pieces, b"")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        refuse(sheet.problems, "not_utf8", 1, "the file is UTF-16 (allowed: UTF-8)", "Save the file as UTF-8.")
    if head.startswith(codecs.BOM_UTF8):
        sheet.notices.add("bom", 1, "the file begins with a byte-order mark, which DEVA refuses")
        head = head[len(codecs.BOM_UTF8) :]
    yield head
    yield from pieces


def _decoded(data: bytes, number: int, sheet: Sheet) -> list[str]:
    """Lines without their ends. Bytes that are no UTF-8 survive; they are refused only in columns that are used."""
    text = data.decode(errors="surrogateescape")
    lines = text.split("\n")
    if "\r" in text:
        lines = [line.removesuffix("\r") for line in lines]
        for at, line in enumerate(lines, number):
            if "\r" in line:
                what = "a carriage return stands inside the line (allowed: lines that end in LF or CR LF)"
                refuse(sheet.problems, "cr_line_ends", at, what, "Save the file with Unix or Windows line ends.")
    return lines
