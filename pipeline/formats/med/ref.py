"""Reference of TRECVID MED: which trials are targets (MED 2011 plan, section 2.1)."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.formats.findings import quoted
from pipeline.formats.med.csv import MedTable, finished, names_column, read_sheet, text_column

ALLOWED = ("y", "n")


def read_med_ref(stream: BinaryIO, where: str) -> MedTable:
    """The key: columns TrialID* (unique), Targ* (``y`` or ``n``), line, in file order.

    Raises ``InputError`` with every problem: another dialect, repeated TrialIDs, Targ other than exactly y or n.
    """
    sheet = read_sheet(stream, where, ("TrialID", "Targ"))
    trials, targ = names_column(sheet, "TrialID", unique=True), text_column(sheet, "Targ")
    for value in targ.vocabulary:
        if value not in ALLOWED:
            line = sheet.lines[sheet.texts["Targ"].index(value)]
            what = f"Targ is {quoted(value)} (allowed: y for a target, n for another trial)"
            sheet.problems.add("bad_targ", line, what, "Write y or n, lower case, without blanks.")
    return finished(sheet, {"TrialID": trials, "Targ": targ})
