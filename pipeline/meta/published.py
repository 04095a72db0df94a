"""Figures that others published, as rows of the long table: any CSV whose columns are named."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import BinaryIO, NoReturn

from pipeline import protocols
from pipeline.errors import Problems
from pipeline.formats.findings import refuse
from pipeline.meta.rows import COLUMNS, NUMBERS, PUBLISHED, Row
from pipeline.meta.study import PublishedTable

MOST_BYTES = 64_000_000
SYNONYMS = {
    "task": "protocol",
    "subset": "condition",
    "level": "status",
    "features": "system",
    "threshold": "mtwv_threshold",
    "min_cnxe": "min_cnxe_pav_input_order",  # what the organisers' tool prints under that name
}
"""What columns of published tables are that have other names, where a study says nothing."""
_LONG = {"measure", "value"}


def read_published(stream: BinaryIO, where: str, table: PublishedTable) -> tuple[Row, ...]:
    """The rows of a published table. One in the long form has columns ``measure`` and ``value``; else every column
    that names a measure makes a row where it is filled.

    Columns that mean nothing here are put into ``note``. Raises ``InputError`` with every problem by line.
    """
    problems = Problems(where)
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        problems.add("too_large", None, f"the table has more than {MOST_BYTES} bytes", "Split it.")
        problems.raise_if_any()
    reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig", "replace"), newline=""))
    try:
        names = list(reader.fieldnames or ())
    except csv.Error as error:
        _refuse_csv(reader, error, problems)
    onto = {name: _meaning(name, table) for name in names}
    long = set(onto.values()) >= _LONG
    measures = [name for name in names if not long and (name in table.measures or _is_measure(name, onto, table))]
    if not long and not measures:
        allowed = "columns `measure` and `value`, or one that names a measure"
        mend = "Name the column, or say in the study what it is called."
        what = f"no column holds a figure (seen: {', '.join(names[:12])}; allowed: {allowed})"
        problems.add("no_measure", 1, what, mend)
    rows: list[Row] = []
    try:
        for line in reader:
            rows += _rows(line, onto, measures, table, reader.line_num, problems, long=long)
    except csv.Error as error:
        _refuse_csv(reader, error, problems)
    problems.raise_if_any()
    return tuple(rows)


def _refuse_csv(reader: csv.DictReader[str], error: csv.Error, problems: Problems) -> NoReturn:
    refuse(problems, "bad_csv", reader.reader.line_num, f"the line is no CSV ({error})", "Quote or correct it.")


def _meaning(name: str, table: PublishedTable) -> str:
    """The column of the long table that a column of the file is; "" for one that has none."""
    own = {given: column for column, given in table.columns.items()}
    column = own.get(name) or SYNONYMS.get(name, name)
    return column if column in COLUMNS else ""


def _is_measure(name: str, onto: Mapping[str, str], table: PublishedTable) -> bool:
    return not table.measures and not onto[name] and SYNONYMS.get(name, name) in _known_measures()


def _known_measures() -> dict[str, tuple[str, str]]:
    """Unit and better direction of every measure of every protocol."""
    return {name: (measure.unit, measure.better) for name, measure in protocols.measures().items()}


def _rows(
    line: Mapping[str | None, str | list[str] | None],
    onto: Mapping[str, str],
    measures: Iterable[str],
    table: PublishedTable,
    number: int,
    problems: Problems,
    *,
    long: bool,
) -> list[Row]:
    texts = {name: value.strip() for name, value in line.items() if name is not None and isinstance(value, str)}
    if None in line or len(texts) < len(onto):
        what = f"the line has another number of fields than the header ({len(onto)})"
        problems.add("wrong_columns", number, what, "Quote fields that contain a comma.")
        return []
    known: dict[str, str] = dict(table.constants)
    known |= {column: texts[name] for name, column in onto.items() if column and texts[name]}
    used = {name for name, column in onto.items() if column} | set(measures)
    rest = "; ".join(f"{name}: {text}" for name, text in texts.items() if name not in used and text)
    known["note"] = "; ".join(filter(None, (known.get("note", ""), rest)))
    figures = [("measure", known.get("measure", ""), known.pop("value", ""))] if long else []
    figures += [(name, SYNONYMS.get(name, name), texts[name]) for name in measures if texts[name]]
    made = []
    for column, measure, text in figures:
        numbers = {name: _number(known[name], name, number, problems) for name in NUMBERS if name in known}
        value = _number(text, column if column != "measure" else "value", number, problems)
        given: dict[str, str] = {name: known[name] for name in known if name not in NUMBERS}
        unit, better = _known_measures().get(measure, ("1", "higher" if "twv" in measure else "none"))
        row = Row(**{"evaluation": PUBLISHED, **given, "kind": PUBLISHED, "measure": measure})  # type: ignore[arg-type]
        numbers["value"] = value
        row = replace(row, **numbers, reason="" if not math.isnan(value) else "not_published")  # type: ignore[arg-type]
        made.append(replace(row, unit=row.unit or unit, better=row.better or better))
    return made


def _number(text: str, column: str, line: int, problems: Problems) -> float:
    if not text:
        return math.nan
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value) and text.lower() != "nan":
        problems.add("bad_number", line, f"`{column}` is {text[:40]!r} (allowed: a number, or nothing)", "Correct it.")
    return value
