"""Detections of TRECVID MED: a score, from MED 2014 on a rank, for each trial (MED 2011 plan, section 2.2.2)."""

from __future__ import annotations

from array import array
from typing import BinaryIO

from pipeline.formats import numbers
from pipeline.formats.columns import TextColumn
from pipeline.formats.findings import quoted
from pipeline.formats.med.csv import MedTable, Sheet, finished, names_column, read_sheet, text_column


def read_med_detection(stream: BinaryIO, where: str) -> MedTable:
    """One row a trial: columns TrialID* (unique), of Score (float64), Rank (float64) and Decision* (y, n) those given.

    Raises ``InputError`` with every problem: another dialect, neither Score nor Rank, repeated TrialIDs, scores that
    are no finite numbers, ranks that are no whole numbers of 1 or more. What a year demands beyond that is checked
    where its protocol is known.
    """
    sheet = read_sheet(stream, where, ("TrialID",), ("Score", "Rank", "Decision"))
    columns: dict[str, TextColumn | array[float]] = {"TrialID": names_column(sheet, "TrialID", unique=True)}
    if "Score" not in sheet and "Rank" not in sheet:
        what = f"the header has neither Score nor Rank (it has {quoted(','.join(sheet.header))})"
        sheet.problems.add("bad_header", 1, what, "Name the column of scores Score, upper and lower case as here.")
    if "Score" in sheet:
        columns["Score"] = numbers.decimals(sheet.texts["Score"], "Score", sheet.lines, sheet.problems)
    if "Rank" in sheet:
        columns["Rank"] = _ranks(sheet)
    if "Decision" in sheet:
        columns["Decision"] = _decisions(sheet)
    return finished(sheet, columns)


def _ranks(sheet: Sheet) -> array[float]:
    ranks = numbers.decimals(sheet.texts["Rank"], "Rank", sheet.lines, sheet.problems)
    for rank, text, line in zip(ranks, sheet.texts["Rank"], sheet.lines, strict=True):
        if rank < 1 or rank % 1 > 0:  # neither holds for a NaN, which is a problem already
            what = f"Rank is {quoted(text)} (allowed: whole numbers of 1 or more)"
            sheet.problems.add("bad_rank", line, what, "The best trial of an event has rank 1.")
    return ranks


def _decisions(sheet: Sheet) -> TextColumn:
    column = text_column(sheet, "Decision")
    for value in column.vocabulary:
        if value not in ("y", "n"):
            line = sheet.lines[sheet.texts["Decision"].index(value)]
            sheet.problems.add("bad_decision", line, f"Decision is {quoted(value)} (allowed: y, n)", "Write y or n.")
    return column
