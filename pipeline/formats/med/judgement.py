"""JudgementMD of TRECVID MED: how assessors judged clips for events (MED 2011 scoring primer)."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.formats.med.csv import MedTable, finished, names_column, read_sheet, text_column


def read_med_judgement(stream: BinaryIO, where: str) -> MedTable:
    """One row a judgement: columns ClipID*, EventID* (may be NULL or empty), every other column as text*, line.

    Raises ``InputError`` with every problem: another dialect, missing columns, empty ClipIDs.
    """
    sheet = read_sheet(stream, where, ("ClipID", "EventID"), None)
    columns = {name: text_column(sheet, name) for name in sheet.texts}
    return finished(sheet, {**columns, "ClipID": names_column(sheet, "ClipID")})
