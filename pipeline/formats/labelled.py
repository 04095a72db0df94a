"""Labelled scores: a CSV table of trials with what each is, how it scored and, maybe, what was decided."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats import numbers
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted, refuse
from pipeline.formats.table import Table
from pipeline.formats.textlines import text_lines

NAMES: Mapping[str, str] = {
    "query": "query",
    "document": "document",
    "reference": "document",
    "trial": "document",
    "label": "label",
    "target": "label",
    "score": "score",
    "prediction": "score",
    "decision": "decision",
}
"""Names of columns, and which of the five each is."""
REQUIRED = ("document", "label", "score")
LABELS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "y", "yes", "target", "1.0"), True),
    **dict.fromkeys(("0", "false", "n", "no", "nontarget", "0.0"), False),
}
DECISIONS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "y", "yes", "accept"), True),
    **dict.fromkeys(("0", "false", "n", "no", "reject"), False),
}
ALL = "all"
"""The query of trials that name none."""


@dataclass(frozen=True)
class Labelled:
    """One table of labelled scores, in file order."""

    rows: Table
    """Columns query* ("all" where there is no such column), document*, label, decision (bool), score (float64),
    line."""
    has_queries: bool
    has_decisions: bool
    findings: tuple[Finding, ...] = ()


def read_labelled(stream: BinaryIO, where: str) -> Labelled:
    """A table of labelled scores from a binary stream; ``where`` names it in messages.

    The first line names the columns, in any order: ``document`` (also ``trial``, ``reference``), ``label`` (also
    ``target``: 1 or 0, true or false, y or n, target or nontarget), ``score`` (also ``prediction``) and, where there
    are any, ``query`` and ``decision`` (yes or no, 1 or 0). Others are passed over with a warning. Raises
    ``InputError`` with every problem: columns that are missing or there twice, other labels and decisions, scores that
    are none or NaN, a document given twice for a query, a table without rows.
    """
    problems, notices = Problems(where), Notices(where)
    reading = _LabelledReading(problems, notices)
    rows = csv.reader(text_lines(stream, problems, notices), strict=True)
    try:
        for row in rows:
            reading.take(row, rows.line_num)
    except csv.Error as error:
        problems.add("csv_malformed", rows.line_num, f"the CSV is broken: {error}", "Double every quote inside quotes.")
    if not reading.lines and not problems.count:
        problems.add("no_rows", None, "the table has no trial", "Check that the file is whole.")
    problems.raise_if_any()
    return reading.made()


class _LabelledReading:
    def __init__(self, problems: Problems, notices: Notices) -> None:
        self.problems, self.notices = problems, notices
        self.at: dict[str, int] = {}
        self.width = 0
        self.query, self.document = TextColumn(), TextColumn()
        self.label, self.decision = bytearray(), bytearray()
        self.score, self.lines = array("d"), array("q")
        self._first: dict[tuple[str, str], int] = {}

    def take(self, row: list[str], line: int) -> None:
        if not self.width:
            self._header(row, line)
        elif row and len(row) != self.width:
            what = f"the row has {len(row)} fields where the header has {self.width}"
            self.problems.add("field_count", line, what, "Quote fields that contain a comma.")
        elif row:
            self._append(row, line)

    def _header(self, row: list[str], line: int) -> None:
        self.width = len(row)
        for at, name in enumerate(row):
            own = NAMES.get(name.strip().lower())
            if own is None:
                self.notices.add("unknown_column", line, f"the column {quoted(name)} is passed over")
            elif own in self.at:
                what = f"the columns {quoted(row[self.at[own]])} and {quoted(name)} are both the {own}"
                self.problems.add("duplicate_column", line, what, "Keep one of them.")
            else:
                self.at[own] = at
        missing = [name for name in REQUIRED if name not in self.at]
        if missing:
            what = f"the header has no column {', '.join(missing)} (it has {quoted(','.join(row))})"
            refuse(self.problems, "bad_header", line, what, f"Name the columns {', '.join(REQUIRED)}.")

    def _append(self, row: list[str], line: int) -> None:
        query = row[self.at["query"]] if "query" in self.at else ALL
        document = row[self.at["document"]]
        for name, value in (("query", query), ("document", document)):
            if not value.strip():
                self.problems.add("empty_name", line, f"{name} is empty", "Write its name.")
        first = self._first.setdefault((query, document), line)
        if first != line:
            what = f"document {quoted(document)} of query {quoted(query)} is given twice (first in line {first})"
            self.problems.add("duplicate_trial", line, what, "Keep one of them.")
        self.query.append(query)
        self.document.append(document)
        self.label.append(self._said("label", LABELS, row, line))
        self.decision.append("decision" in self.at and self._said("decision", DECISIONS, row, line))
        self.score.append(numbers.score(row[self.at["score"]], "score", line, self.problems))
        self.lines.append(line)

    def _said(self, name: str, known: Mapping[str, bool], row: list[str], line: int) -> bool:
        value = row[self.at[name]]
        said = known.get(value.strip().lower())
        if said is None:
            what = f"{name} is {quoted(value)} (allowed: {', '.join(known)})"
            self.problems.add(f"bad_{name}", line, what, "Write one of these.")
        return bool(said)

    def made(self) -> Labelled:
        rows = table(
            {
                "query": self.query,
                "document": self.document,
                "label": self.label,
                "decision": self.decision,
                "score": self.score,
                "line": self.lines,
            }
        )
        return Labelled(rows, "query" in self.at, "decision" in self.at, self.notices.findings())
