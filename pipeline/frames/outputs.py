"""Frames of system outputs of keyword search: detections, and their blocks where queries have none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat

import numpy as np

from pipeline.arrays import Codes, Ints
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.frames.columns import Columns
from pipeline.frames.form import Form, FormColumn, Texts, Written, constant, text_column
from pipeline.frames.kws import BEGIN, DURATION
from pipeline.frames.xml import attribute, quoted

COLUMNS = (
    FormColumn("query", "text", "id of the query"),
    FormColumn("file", "text", "recording; empty, with everything after it, for a query without detections"),
    FormColumn("channel", "text", "channel", default="1"),
    BEGIN,
    DURATION,
    FormColumn("score", "number", "score, higher is likelier"),
    FormColumn("decision", "decision", "YES or NO, or a truth value"),
    FormColumn("search_time", "number", "search time of the query, s", default="nan"),
    FormColumn("oov_count", "text", "out-of-vocabulary words of the query", default=""),
    FormColumn("min_score", "number", "lowest score there may be", default="", whole=True),
    FormColumn("max_score", "number", "highest score there may be", default="", whole=True),
    FormColumn("system_id", "text", "name of the system", default="", whole=True),
)
_ROW = '<kw file="%s" channel="%s" tbeg="%s" dur="%s" score="%s" decision="%s"/>\n'
_NAMES = ("file", "channel", "begin", "duration", "score", "decision")


def _write(texts: Texts, where: str) -> Written:
    """Rows by query in the order of their first, each on a line of its own between the lines of its block."""
    del where
    code: dict[str, int] = {}
    codes = np.array([code.setdefault(query, len(code)) for query in texts["query"]], np.int64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(code))).tolist()
    rows = _rows(texts, order)
    whole = "".join(attribute(name, constant(texts[name])) for name in ("min_score", "max_score"))
    system = quoted(constant(texts["system_id"]))
    parts = [f'<kwslist kwlist_filename="" language="" system_id="{system}"{whole}>\n']
    line_of = np.empty(order.size, np.int64)
    n_lines, begin = 1, 0
    for query, end in zip(code, ends, strict=True):
        own = order[begin:end]
        parts.append(_block(query, texts, int(own[0])))
        held = [row for row in rows[begin:end] if row]
        line_of[own] = n_lines + 1 + np.cumsum([bool(row) for row in rows[begin:end]])
        parts += [*held, "</detected_kwlist>\n"]
        n_lines += len(held) + 2
        begin = end
    parts.append("</kwslist>\n")
    row_at = dict(zip(line_of.tolist(), range(order.size), strict=True)) if order.size < _MAPPED else None
    text = "".join(parts).encode(errors="surrogateescape")
    return Written(text, row_at.get if row_at is not None else lambda line: _row_at(line_of, line))


_MAPPED = 1 << 16
"""Rows up to which their lines are looked up in a table."""


def _row_at(line_of: Ints, line: int) -> int | None:
    found = np.flatnonzero(line_of == line)
    return int(found[0]) if found.size else None


def _block(query: str, texts: Texts, row: int) -> str:
    time, count = texts["search_time"][row], texts["oov_count"][row] or "NA"
    declared = "" if time == "nan" else time
    return f'<detected_kwlist kwid="{quoted(query)}" search_time="{declared}" oov_count="{quoted(count)}">\n'


def _rows(texts: Texts, order: Ints) -> list[str]:
    """The rows in an order, "" for one that is there for its query alone."""
    in_order = bool((np.diff(order) == 1).all())
    at = [] if in_order else order.tolist()
    columns = [texts[name] if in_order else [texts[name][row] for row in at] for name in _NAMES]
    columns[:2] = [_quoted(column) for column in columns[:2]]
    columns[5] = _quoted(columns[5])
    return ["" if not row[0] and row[4] == "nan" and not row[5] else _ROW % row for row in zip(*columns, strict=True)]


def _quoted(values: Sequence[str]) -> list[str]:
    known = {value: quoted(value) for value in set(values)}
    return [known[value] for value in values]


def _frame(output: SystemOutput) -> Columns:
    """Every detection, then a row for each block without any. Detections of two blocks of a query are of its first."""
    rows, blocks = output.detections, output.blocks
    lone = np.flatnonzero(~np.isin(blocks["query"], rows["query"]))
    _, first = np.unique(blocks["query"], return_index=True)
    block = np.concatenate([_first_block(blocks["query"], first)[rows["query"]], lone])
    names = np.array(blocks.vocabularies["query"], object)
    nothing, nowhere = np.full(lone.size, "", object), np.full(lone.size, np.nan)
    made: Columns = {"query": names[blocks["query"][block]] if len(blocks) else np.empty(0, object)}
    for name in ("file", "channel"):
        made[name] = np.concatenate([text_column(rows, name), nothing])
    for name, own in (("begin", "begin_s"), ("duration", "dur_s"), ("score", "score")):
        made[name] = np.concatenate([rows[own], nowhere])
    said = list(chain(np.where(rows["decision"], "YES", "NO").tolist(), repeat("", lone.size)))
    made["decision"] = np.array(said, object)
    made |= {"search_time": blocks["search_time_s"][block], "oov_count": blocks["oov_count"][block]}
    declared: Iterator[tuple[str, str]] = (
        (name, output.attributes[name]) for name in ("min_score", "max_score", "system_id") if name in output.attributes
    )
    return made | {name: np.full(block.size, value, object) for name, value in declared}


def _first_block(query: Codes, first: Ints) -> Ints:
    """For each code of a query its first block."""
    of = np.zeros(int(query.max(initial=-1)) + 1, np.int64)
    of[query[first]] = first
    return of


FORMS: Mapping[str, Form] = {"kwslist": Form(COLUMNS, _write, _frame)}
