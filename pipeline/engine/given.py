"""Inputs as they are given: paths and URLs, bytes and open files, frames. All go through the reader of their role."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, BinaryIO, cast

from pipeline.engine.inputs import format_of, read_stream, read_uri
from pipeline.errors import Finding, InputError
from pipeline.frames import form_of
from pipeline.protocols.base import Protocol
from pipeline.terms import Source

RowOf = Callable[[int], int | None]


@dataclass(frozen=True)
class Read:
    """An input that was read: its table, its source, and the row of each line where it was a frame."""

    table: Any
    source: Source
    row_of: RowOf | None = None
    findings: tuple[Finding, ...] = ()
    """What is odd of the frame itself."""


def read_given(protocol: Protocol, role: str, value: Any) -> Read:
    """An input of a protocol, of any kind, by the format of its role; as ``read_as``."""
    return read_as(format_of(protocol, role), role, value)


def read_as(kind: str, role: str, value: Any) -> Read:
    """An input of any kind, by the reader of the format ``kind``.

    Messages name a path as it is, an open file by its name, everything else by its role. The source of a frame is the
    file that it would be. Raises ``InputError`` with the problems, of a frame by rows,
    ``UsageError`` for what is no input.
    """
    if isinstance(value, str | os.PathLike):
        return Read(*read_uri(kind, role, os.fspath(value)))
    if isinstance(value, bytes | bytearray | memoryview):
        return Read(*read_stream(kind, role, io.BytesIO(value), role))
    if hasattr(value, "read"):
        return Read(*read_stream(kind, role, _binary(value), _name_of(value, role)))
    form = form_of(kind)
    written = form.written(value, role)
    try:
        table, source = read_stream(kind, role, io.BytesIO(written.text), role)
    except InputError as error:
        raise InputError(by_rows(error.findings, {role: written.row_of}), error.count) from error
    return Read(table, source, written.row_of, written.findings)


def _binary(stream: Any) -> BinaryIO:
    """An open file to read bytes from, without end or beginning where it cannot seek."""
    if isinstance(stream, io.TextIOBase):
        return io.BytesIO(stream.read().encode())
    return cast(BinaryIO, stream) if hasattr(stream, "readinto") else io.BytesIO(stream.read())


def _name_of(stream: Any, role: str) -> str:
    name = getattr(stream, "name", None)
    return str(name) if isinstance(name, str | PurePath) else role


_LINE = re.compile(r"\bline ([0-9]+)\b")


def _named(found: re.Match[str], row_of: RowOf) -> str:
    row = row_of(int(found[1]))
    return found[0] if row is None else f"row {row}"


def by_rows(findings: Iterable[Finding], rows: dict[str, RowOf]) -> tuple[Finding, ...]:
    """Findings whose place ``role:line`` is that of a frame: ``role, row n`` in its place, rows from 0."""

    def told(finding: Finding) -> Finding:
        role, colon, line = finding.where.partition(":")
        if role not in rows or not colon or not line.isdecimal():
            return finding
        row = rows[role](int(line))
        message = _LINE.sub(lambda found: _named(found, rows[role]), finding.message)
        return replace(finding, where=role if row is None else f"{role}, row {row}", message=message)

    return tuple(map(told, findings))
