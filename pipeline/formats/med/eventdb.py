"""EventDB of TRECVID MED: names of the events (MED 2011 plan, appendix C)."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.formats.med.csv import MedTable, finished, names_column, read_sheet, text_column


def read_med_eventdb(stream: BinaryIO, where: str) -> MedTable:
    """One row a event: columns EventID* (unique), every other column of the file as text*, line, in file order.

    Raises ``InputError`` with every problem: another dialect, empty or repeated EventIDs.
    """
    sheet = read_sheet(stream, where, ("EventID",), None)
    columns = {name: text_column(sheet, name) for name in sheet.texts}
    return finished(sheet, {**columns, "EventID": names_column(sheet, "EventID", unique=True)})
