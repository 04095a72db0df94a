"""A row of the tables: what is read, how, and every line that is told of it, whole and in order."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from pipeline.errors import InputError
from pipeline.formats import READERS
from pipeline.formats.budgets import Spent
from pipeline.formats.kws.kwslist import read_handing_on
from pipeline.formats.lre.names import submission_faults
from pipeline.formats.packed import unpacked


class Row(NamedTuple):
    """One file and what is told of it."""

    reader: str
    data: bytes
    told: tuple[str, ...]
    where: str
    given: Mapping[str, Any]
    """Environment variables; values of the program by their dotted names; ``without``, a library that is missing."""


def row(reader: str, data: bytes, *told: str, where: str = "f", given: Mapping[str, Any] | None = None) -> Row:
    """A file called ``where`` that ``reader`` is given, and the lines that come of it."""
    return Row(reader, data, told, where, given or {})


def each(
    words: Mapping[str, Mapping[str, str]], data: bytes, *told: str, given: Mapping[str, Any] | None = None
) -> Iterator[Row]:
    """A row for each reader: ``words`` are by reader what stands in its file, and in what is told, for some words."""
    for reader, own in words.items():
        file, lines = data, list(told)
        for word, text in own.items():
            file = file.replace(word.encode(), text.encode())
            lines = [line.replace(word, text) for line in lines]
        yield row(reader, file, *lines, given=given)


def _packed(data: bytes, where: str) -> Any:
    return READERS["med_index"](unpacked(io.BufferedReader(io.BytesIO(data)), where), where)  # type: ignore[type-var]


READ: Mapping[str, Callable[[bytes, str], Any]] = {
    **{name: lambda data, where, read=read: read(io.BytesIO(data), where) for name, read in READERS.items()},
    "packed": _packed,
    "in pieces": lambda data, where: read_handing_on(io.BytesIO(data), where, lambda _: None, 1),
    "names": lambda data, _: list(submission_faults(data.decode().split())),
    "bytes": lambda data, where: Spent(where).stream(len(data)),
    "slow bytes": lambda data, where: Spent(where, began_s=-10_000.0).stream(len(data)),
}
"""What a row's reader does with a file, by its name."""


def played(one: Row) -> tuple[bool, list[str]]:
    """Whether the file is refused, and the lines that a person sees: those of the refusal, or the warnings."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in one.given.items():
            if name == "without":
                patch.setitem(sys.modules, value, None)
            elif "." in name:
                patch.setattr(name, value)
            else:
                patch.setenv(name, value)
        try:
            made = READ[one.reader](one.data, one.where)
        except InputError as error:
            return True, str(error).split("\n")
    return one.reader == "names", [str(finding) for finding in getattr(made, "findings", made)]
