"""Thresholds and processing times of TRECVID MED: one row for each event processed (MED 2011 plan, section 2.2.2)."""

from __future__ import annotations

import math
from array import array
from typing import BinaryIO

from pipeline.errors import Problems
from pipeline.formats import numbers
from pipeline.formats.columns import TextColumn
from pipeline.formats.findings import quoted
from pipeline.formats.med.csv import MedTable, Sheet, finished, names_column, read_sheet

THRESHOLDS = ("DetectionThreshold", "RankThreshold")
TIMES = ("DetectionTPT", "EAGTPT", "EMDTPT", "EBGMDTPT", "SEARCHMDTPT")
"""Total processing times, hours of wall-clock time: event execution, event agent generation, and the later years'."""
ALIASES = {"DectectionThrehold": "DetectionThreshold"}
"""The plan's own example of a header misspells the column."""


def read_med_threshold(stream: BinaryIO, where: str) -> MedTable:
    """One row an event: columns EventID* (unique), of thresholds and times (float64, hours) those given, line.

    A time that is no number is NaN with a warning, as the official tool reads none of them. Raises ``InputError``
    with every problem: another dialect, repeated EventIDs, thresholds that are no finite numbers.
    """
    sheet = read_sheet(stream, where, ("EventID",), (*THRESHOLDS, *TIMES), ALIASES)
    columns: dict[str, TextColumn | array[float]] = {"EventID": names_column(sheet, "EventID", unique=True)}
    for name in THRESHOLDS:
        if name in sheet:
            columns[name] = numbers.decimals(sheet.texts[name], name, sheet.lines, sheet.problems)
    for name in TIMES:
        if name in sheet:
            columns[name] = _times(sheet, name)
    return finished(sheet, columns)


def _times(sheet: Sheet, name: str) -> array[float]:
    hours = array("d")
    for text, line in zip(sheet.texts[name], sheet.lines, strict=True):
        unread = Problems(sheet.problems.file)
        value = numbers.decimal(text, name, line, unread)
        if math.isnan(value):
            sheet.notices.add("bad_time", line, f"{name} is {quoted(text)}, no number of hours; it is left out")
        hours.append(value)
    return hours
