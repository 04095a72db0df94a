"""ClipMD of TRECVID MED: file, codec, MD5 and DURATION of every clip (MED 2011 plan, appendix C)."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.formats.med.csv import MedTable, finished, names_column, read_sheet, text_column


def read_med_clipmd(stream: BinaryIO, where: str) -> MedTable:
    """One row a clip: columns ClipID* (unique), every other column of the file as text*, line, in file order.

    Raises ``InputError`` with every problem: another dialect, empty or repeated ClipIDs.
    """
    sheet = read_sheet(stream, where, ("ClipID",), None)
    columns = {name: text_column(sheet, name) for name in sheet.texts}
    return finished(sheet, {**columns, "ClipID": names_column(sheet, "ClipID", unique=True)})
