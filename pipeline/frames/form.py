"""The form of a format: which columns its frames have, and how they become its text and are made of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pipeline.errors import Finding, InputError, Problems
from pipeline.formats.findings import quoted
from pipeline.frames import columns
from pipeline.frames.columns import Columns

Lines = Sequence[int | None]


@dataclass(frozen=True)
class FormColumn:
    """One column of a format's frames."""

    name: str
    kind: Literal["text", "number", "decision"]
    meaning: str
    default: str | None = None
    """What stands where the column is not given; None: it is required."""
    whole: bool = False
    """Whether it says something of the whole: one value for all rows."""

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is None


@dataclass(frozen=True)
class Written:
    """The text of a frame, and which row each of its lines is of (from 0; None for lines that are of no row)."""

    text: bytes
    row_of: Callable[[int], int | None]
    findings: tuple[Finding, ...] = ()


Texts = Mapping[str, list[str]]
Write = Callable[[Texts, str], Written]
"""Columns as text and the name for messages → the file. Columns that were not given have their default in every row."""
Frame = Callable[[Any], Columns]
"""What the format's reader gives → the columns of the same."""


@dataclass(frozen=True)
class Form:
    """A format as frames."""

    columns: tuple[FormColumn, ...]
    write: Write
    frame: Frame
    others: bool = False
    """Whether columns of any other name belong to it, too, as text."""

    def written(self, value: Any, where: str) -> Written:
        """The text of a frame; ``where`` names it in messages. Raises ``InputError`` for missing columns."""
        given = columns.columns_of(value, where)
        missing = [one.name for one in self.columns if one.required and one.name not in given]
        if missing:
            allowed = ", ".join(one.name if one.required else f"[{one.name}]" for one in self.columns)
            what = f"the frame has no column {', '.join(missing)} (it has {', '.join(given) or 'none'}; allowed: "
            raise InputError([Finding("missing_column", f"{what}{allowed}). Name them so.", where)])
        n_rows = next((column.size for column in given.values()), 0)
        texts = {one.name: _texts(one, given.get(one.name), n_rows, where) for one in self.columns}
        if self.others:
            texts |= {name: columns.texts(column) for name, column in given.items() if name not in texts}
        made = self.write(texts, where)
        stored = hasattr(value, "data_vars")  # a dataset says much beside its rows
        unknown = [] if self.others or stored else sorted(set(given) - {one.name for one in self.columns} - PASSED_OVER)
        if not unknown:
            return made
        message = f"the columns {', '.join(map(quoted, unknown))} are passed over (known: "
        message += f"{', '.join(one.name for one in self.columns)})."
        return Written(made.text, made.row_of, (*made.findings, Finding("unknown_column", message, where)))


PASSED_OVER = frozenset(
    {
        *("line", "time", "bucket_offset", "outcome", "target", "spatial_ref", "title", "uri", "sha256", "n_bytes"),
        *("trial", "query_name", "index", "level_0", "timeline_end", "score_order"),
    }
)
"""Columns of stored trials, and of frames made of them, that no file has."""
_DECISIONS = {"True": "YES", "False": "NO", "1": "YES", "0": "NO"}


def _texts(one: FormColumn, column: np.ndarray[Any, Any] | None, n_rows: int, where: str) -> list[str]:
    if column is None:
        return [one.default or ""] * n_rows
    if one.kind == "number" and not one.whole:
        return columns.numbers(column)
    made = columns.texts(column)
    if one.kind == "decision":
        made = [_DECISIONS.get(value, value) for value in made]
    if one.whole and len(set(made)) > 1:
        row = next(row for row, value in enumerate(made) if value != made[0])
        what = f"{one.name} is {quoted(made[row])} where the first row has {quoted(made[0])} (allowed: one value)"
        problems = Problems(f"{where}, row {row}")
        problems.add("several_values", None, what, f"Give one frame for each {one.name}.")
        problems.raise_if_any()
    if one.default:
        made = [value or one.default for value in made]
    return made


def lines(rows: Iterable[str], head: str = "") -> Written:
    """A file of one line a row after the lines of ``head``."""
    skipped = head.count("\n") + 1

    def row_of(line: int) -> int | None:
        return line - skipped if line >= skipped else None

    return Written((head + "".join(rows)).encode(errors="surrogateescape"), row_of)


def fields(texts: Texts, names: Sequence[str], where: str) -> None:
    """Refuse values that are no single field of a line: with white space inside, empty, or read as a comment."""
    problems = Problems("")
    for name in names:
        values = texts[name]
        for row, value in enumerate(values):
            if value.split() != [value] or ";;" in value or value.startswith((";", "**")):
                problems.file = f"{where}, row {row}"
                what = f"{name} is {quoted(value)} (allowed: one word, which begins no comment)"
                problems.add("not_one_field", None, what, "Take the blanks out of the name.")
    problems.raise_if_any()


def constant(values: Sequence[str]) -> str:
    """The value of a column that says something of the whole; "" without rows."""
    return values[0] if values else ""


def text_column(table: Any, name: str) -> np.ndarray[Any, Any]:
    """A text column of a table as an array of objects."""
    made = np.empty(len(table), object)
    made[:] = table.text(name)
    return made
