"""Durations of query examples, from the organiser: a CSV table ``query,example,dur_s`` (plan 000, eq 47)."""

from __future__ import annotations

import csv
from array import array
from typing import BinaryIO

from pipeline.arrays import summed
from pipeline.errors import Problems
from pipeline.formats import numbers
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.table import Table
from pipeline.formats.textlines import text_lines

HEADER = ("query", "example", "dur_s")
LONGEST_S = 1e10
"""More than three centuries of one example are a slip of the unit."""


def read_queries(stream: BinaryIO, where: str) -> Table:
    """A table of query examples from a binary stream; ``where`` names it in messages.

    Returns the columns query*, example*, dur_s (float64, seconds, above 0), line; one row an example, in file order.
    Raises ``InputError`` with every problem: another header, a wrong number of fields, empty names, an example given
    twice, durations that are no finite number above 0.
    """
    problems = Problems(where)
    reading = _QueriesReading(problems)
    rows = csv.reader(text_lines(stream, problems, Notices(where)), strict=True)
    try:
        for row in rows:
            reading.take(row, rows.line_num)
    except csv.Error as error:
        problems.add("csv_malformed", rows.line_num, f"the CSV is broken: {error}", "Double every quote inside quotes.")
    if not reading.has_header:
        problems.add("bad_header", None, f"the file is empty (allowed: {','.join(HEADER)} first)", "Write the header.")
    problems.raise_if_any()
    return reading.table()


def total_dur_s(examples: Table) -> float:
    """T_Q, the summed duration of every example of every query, seconds, correctly rounded (plan 000, eq 47)."""
    return summed(examples["dur_s"])


class _QueriesReading:
    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.has_header = False
        self.queries, self.examples = TextColumn(), TextColumn()
        self.dur_s, self.lines = array("d"), array("q")
        self._seen: dict[tuple[str, str], int] = {}

    def take(self, row: list[str], line: int) -> None:
        if not self.has_header:
            self.has_header = True
            if tuple(row) != HEADER:
                what = f"the header is {quoted(','.join(row))} (allowed: {','.join(HEADER)})"
                self.problems.add("bad_header", line, what, "Write these three column names, in this order.")
        elif row and len(row) != len(HEADER):
            what = f"the row has {len(row)} fields (allowed: 3: {', '.join(HEADER)})"
            self.problems.add("field_count", line, what, "Quote fields that contain a comma.")
        elif row:
            self._append(row[0], row[1], row[2], line)

    def _append(self, query: str, example: str, duration: str, line: int) -> None:
        for name, value in (("query", query), ("example", example)):
            if not value.strip():
                self.problems.add("empty_name", line, f"{name} is empty", "Write its name.")
        first = self._seen.setdefault((query, example), line)
        if first != line:
            what = f"example {quoted(example)} of query {quoted(query)} is given twice (first in line {first})"
            self.problems.add("duplicate_example", line, what, "Keep one of them.")
        dur_s = numbers.decimal(duration, "dur_s", line, self.problems)
        if dur_s <= 0 or dur_s > LONGEST_S:
            what = f"dur_s is {quoted(duration)} (allowed: more than 0 and at most {LONGEST_S:g} seconds)"
            self.problems.add("bad_duration", line, what, "Write the duration of the example.")
        self.queries.append(query)
        self.examples.append(example)
        self.dur_s.append(dur_s)
        self.lines.append(line)

    def table(self) -> Table:
        return table({"query": self.queries, "example": self.examples, "dur_s": self.dur_s, "line": self.lines})
