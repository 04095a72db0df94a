"""TrialIndex of TRECVID MED: the clip and the event of every trial (MED 2011 plan, appendix C)."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.formats.med.csv import MedTable, finished, names_column, read_sheet


def read_med_index(stream: BinaryIO, where: str) -> MedTable:
    """The trials of a collection: columns TrialID* (unique), ClipID*, EventID*, line, in file order.

    Raises ``InputError`` with every problem: another dialect, missing columns, empty or repeated TrialIDs.
    """
    sheet = read_sheet(stream, where, ("TrialID", "ClipID", "EventID"))
    trials = names_column(sheet, "TrialID", unique=True)
    return finished(
        sheet, {"TrialID": trials, "ClipID": names_column(sheet, "ClipID"), "EventID": names_column(sheet, "EventID")}
    )
