"""Excerpts of an ECF that the organisers' tools read by its order, or count otherwise than one would think."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pipeline.formats.findings import Notices, quoted
from pipeline.formats.table import Table


def note_odd_excerpts(excerpts: Table, notices: Notices) -> None:
    """Warn of excerpts that repeat or overlap another one of their channel, and of recordings of several source types.

    ``excerpts`` has the columns of an ``Ecf``; recordings are told apart as they are spelled.
    """
    columns = [excerpts.text(name) for name in ("file", "channel", "source_type")]
    times = [excerpts[name].tolist() for name in ("begin_s", "dur_s", "line")]
    rows = list(zip(*columns, *times, strict=True))
    _note_shared(sorted(rows, key=lambda row: (row[:2], row[3:])), notices)
    _note_mixed(rows, notices)


Row = tuple[str, str, str, float, float, int]


def _note_shared(rows: Sequence[Row], notices: Notices) -> None:
    """Rows in order of recording, channel and time."""
    last: Row | None = None
    for before, row in pairwise(rows):
        if last is None or last[:2] != before[:2] or _end_s(before) > _end_s(last):
            last = before
        if row[:2] == before[:2] and row[3:5] == before[3:5]:
            message = (
                f"{_spanned(row)} is listed in line {before[-1]} too: KWSEval counts its time once, STDEval every time"
            )
            notices.add("repeated_excerpt", row[-1], message)
        elif row[:2] == last[:2] and row[3] < _end_s(last):
            message = (
                f"{_spanned(row)} overlaps that of {last[3]:g} to {_end_s(last):g} s in line {last[-1]}: KWSEval ends "
                "the earlier where the later begins, STDEval counts both; what lies in both is the first one's in the "
                "ECF, but with -g its words are the last one's"
            )
            notices.add("overlapping_excerpts", row[-1], message)


def _note_mixed(rows: Sequence[Row], notices: Notices) -> None:
    first: dict[str, Row] = {}
    told = set()
    for row in rows:
        earlier = first.setdefault(row[0], row)
        if row[2] != earlier[2] and row[0] not in told:
            told.add(row[0])
            message = (
                f"recording {quoted(row[0])} has excerpts of source type {quoted(earlier[2])} (line {earlier[-1]}) and "
                f"{quoted(row[2])}: of equal spans KWSEval counts the last one's type; with -g a channel has the type "
                "of its first excerpt, in STDEval of its last"
            )
            notices.add("mixed_source_types", row[-1], message)


def _end_s(row: Row) -> float:
    return round(row[3] + row[4], 4)


def _spanned(row: Row) -> str:
    return f"the excerpt of {quoted(row[0])}, channel {quoted(row[1])}, {row[3]:g} to {_end_s(row):g} s"
