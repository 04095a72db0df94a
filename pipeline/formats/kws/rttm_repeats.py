"""Words that a transcript has twice in one place: each is an occurrence to find, and one detection finds one."""

from __future__ import annotations

import numpy as np

from pipeline.formats.findings import Notices, quoted
from pipeline.formats.table import Array, Table


def note_repeats(records: Table, notices: Notices) -> None:
    """Warn of LEXEME records that say what another one says, and of a speaker's words that overlap themselves.

    ``records`` has the columns of an ``Rttm``. Words are compared without case; a record given twice is one of the same
    recording, channel, begin, duration and word, whoever speaks.
    """
    kinds = records.vocabularies["kind"]
    table = records.take(np.flatnonzero(records["kind"] == (kinds.index("LEXEME") if "LEXEME" in kinds else -1)))
    word = _folded(table)
    place = (table["channel"], table["file"])
    order = np.lexsort((table["line"], table["dur_s"], table["begin_s"], word, *place))
    same = _equal(order, word, *place, table["begin_s"], table["dur_s"])
    _note(table, order, same, "duplicate_record", "is given twice", notices)
    again = np.zeros(len(table), np.bool_)
    again[order[same]] = True
    own = (word, table["speaker"], *place)
    order = np.lexsort((table["line"], table["begin_s"], *own))
    order = order[~again[order]]
    with np.errstate(over="ignore", invalid="ignore"):  # times near the end of doubles overlap nothing that counts
        begin_s, end_s = table["begin_s"][order], np.round(table["begin_s"] + table["dur_s"], 4)[order]
    rows = _equal(order, *own)
    _note(table, order, rows[begin_s[rows] < end_s[rows - 1]], "overlapping_record", "overlaps itself", notices)


def _folded(table: Table) -> Array:
    """For each row a number that its word has in any case."""
    codes: dict[str, int] = {}
    of = [codes.setdefault(token.casefold(), len(codes)) for token in table.vocabularies["token"]]
    return np.array([*of, -1], np.int64)[table["token"]]


def _equal(order: Array, *columns: Array) -> Array:
    """Positions in ``order`` whose row has the values of the row before it."""
    same = np.ones(max(order.size - 1, 0), np.bool_)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    return np.flatnonzero(same) + 1


def _note(table: Table, order: Array, found: Array, code: str, what: str, notices: Notices) -> None:
    """One notice: its first line, and how many."""
    if not found.size:
        return
    line = table["line"][order]
    first = found[np.argmin(line[found])]
    row = order[first]
    word, file, channel = (table.vocabularies[name][table[name][row]] for name in ("token", "file", "channel"))
    message = (
        f"the word {quoted(word)} at {table['begin_s'][row]:g} s of {quoted(file)}, channel {quoted(channel)}, {what} "
        f"(line {line[first - 1]} too): each record is an occurrence of its own, which one detection cannot find twice"
    )
    notices.add(code, int(line[first]), message, int(found.size))
