"""Organisers' files as they were read, kept by content: what did not change is not parsed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from importlib import import_module
from typing import Any

from pipeline.engine import editions
from pipeline.engine.inputs import format_of, read_planned
from pipeline.engine.labels import relabel
from pipeline.engine.mending import unless_damaged
from pipeline.engine.work import Work, total
from pipeline.errors import DamageError, Finding, InputError
from pipeline.formats.table import Table
from pipeline.protocols.base import Protocol
from pipeline.store.blobs import Store
from pipeline.store.columns import Column, decode_columns, encode_columns
from pipeline.terms import Source

KIND = "table/1"
KEPT = {
    "ecf": ("kws.ecf", "Ecf"),
    "rttm": ("kws.rttm", "Rttm"),
    "kwlist": ("kws.kwlist", "KeywordList"),
    "stm": ("stt.stm", "Stm"),
    "lre_key": ("lre.key", "LreKey"),
    "med_ref": ("med.csv", "MedTable"),
    "med_index": ("med.csv", "MedTable"),
    "med_clipmd": ("med.csv", "MedTable"),
    "med_eventdb": ("med.csv", "MedTable"),
    "med_judgement": ("med.csv", "MedTable"),
}
"""Module and value of each format that is kept; others are read from their files each time they are needed."""
_FORMS: Mapping[str, Callable[[Any], Any]] = {
    "findings": lambda value: tuple(Finding(**entry) for entry in value),
    "details": tuple,
}
"""What JSON does not give back as it was, by the name of the field."""


def path_of(protocol: Protocol, role: str, source: Source) -> str | None:
    """Where the table of a file belongs; None for a format whose tables are not kept."""
    name = format_of(protocol, role)
    if name not in KEPT:
        return None
    laid = editions.named("reading", KIND, protocol, format=name, role=role, sha256=source.sha256)
    return f"tables/{laid[:2]}/{laid}"


def read(store: Store, protocol: Protocol, inputs: Mapping[str, Source]) -> tuple[dict[str, Any], Work]:
    """Every input's table by role, parsed where the store lacks it; the problems of all refused files together.

    Raises ``InputError`` whose findings name the files by their URLs.
    """
    tables, works, problems, count = {}, list[Work](), list[Finding](), 0
    for role, source in inputs.items():
        try:
            tables[role], work = _table(store, protocol, role, source)
            works.append(work)
        except InputError as error:
            problems += error.findings
            count += error.count
    if problems:
        raise InputError(relabel(problems, {role: source.uri for role, source in inputs.items()}), count)
    return tables, total(works)


def _table(store: Store, protocol: Protocol, role: str, source: Source) -> tuple[Any, Work]:
    path, lost = path_of(protocol, role, source), Work()
    if path is not None and store.exists(path):
        found = unless_damaged(lambda: decode(store.get(path), format_of(protocol, role)), path)
        if found is not None:
            return found, Work.of_reused(path)
        lost = Work.of_damaged(path)
    table = read_planned(protocol, role, source)
    if path is None:
        return table, Work()
    store.put(path, encode(table))
    return table, lost + Work.of_made(path, source.n_bytes)


def encode(value: Any) -> bytes:
    """A reader's value as sealed bytes: tables as columns, all else as JSON."""
    columns, about, tables = dict[str, Column](), dict[str, Any](), list[str]()
    for entry in fields(value):
        content = getattr(value, entry.name)
        if isinstance(content, Table):
            tables.append(entry.name)
            columns |= {f"{entry.name}.column.{name}": column for name, column in content.columns.items()}
            columns |= {f"{entry.name}.names.{name}": names for name, names in content.vocabularies.items()}
        else:
            listed = entry.name == "findings"
            about[entry.name] = [asdict(finding) for finding in content] if listed else content
    columns["about"] = (json.dumps({"tables": tables, "rest": about}, sort_keys=True),)
    return encode_columns(KIND, columns)


def decode(data: bytes, name: str) -> Any:
    """The value of the format ``name`` that ``encode`` wrote. Raises ``DamageError`` where it is something else."""
    columns, _ = decode_columns(data, KIND)
    try:
        about = json.loads(columns["about"][0])
        tables = {field: _table_of(columns, field) for field in about["tables"]}
        rest = {field: _FORMS.get(field, lambda value: value)(value) for field, value in about["rest"].items()}
        module, kind = KEPT[name]
        return getattr(import_module(f"pipeline.formats.{module}"), kind)(**tables, **rest)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DamageError(f"a stored table is no {name} ({error}). Remove it and run again.") from error


def _table_of(columns: Mapping[str, Any], field: str) -> Table:
    def part(kind: str) -> dict[str, Any]:
        prefix = f"{field}.{kind}."
        return {name.removeprefix(prefix): column for name, column in columns.items() if name.startswith(prefix)}

    return Table(part("column"), part("names"))
