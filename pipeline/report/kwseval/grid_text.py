"""Tables with grouped headings as text and as CSV, in the form that F4DE's tools print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

PAD = 4


@dataclass(frozen=True)
class GroupedTable:
    """Cells of text under two lines of headings."""

    columns: tuple[tuple[str, str], ...]
    """Group and name of each column; neighbours of one group share its heading."""
    rows: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[str, ...], ...] = ()
    """For each row its label, of several parts; none: rows have no labels."""


def as_csv(table: GroupedTable, label: str = "") -> str:
    """One line of headings (``group|name``) and the rows, every cell quoted and empty ones bare.

    ``label`` heads the column of row labels, whose parts are joined by bars.
    """
    heads = [f"{group}|{name}" for group, name in table.columns]
    lines = [_csv_line([label, *heads] if table.labels else heads)]
    for index, row in enumerate(table.rows):
        lines.append(_csv_line(["|".join(table.labels[index]), *row] if table.labels else row))
    return "".join(lines)


def _csv_line(cells: Iterable[str]) -> str:
    return ",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' if cell else "" for cell in cells) + "\n"


def as_text(table: GroupedTable) -> str:
    """Columns as wide as their contents and two blanks on either side; cells flush right, headings centred."""
    widths = _widths(table)
    labels, margin = _labels(table)
    groups = [(name, list(found)) for name, found in groupby(range(len(widths)), lambda at: table.columns[at][0])]
    spans = [sum(widths[at] for at in own) + len(own) - 1 for _, own in groups]
    lines = [_line(margin, (_centred(name, span) for (name, _), span in zip(groups, spans, strict=True)))]
    if any(name for _, name in table.columns):
        cells = (_centred(name, width) for (_, name), width in zip(table.columns, widths, strict=True))
        lines.append(_line(margin, cells))
    lines.append("-" * len(margin) + ("+" if margin else "|") + "+".join("-" * width for width in widths) + "+")
    for label, row in zip(labels, table.rows, strict=True):
        lines.append(_line(label, (f"{cell} ".rjust(width) for cell, width in zip(row, widths, strict=True))))
    return "\n".join(lines) + "\n"


def _line(margin: str, cells: Iterable[str]) -> str:
    return f"{margin}|{'|'.join(cells)}|"


def _centred(text: str, width: int) -> str:
    left = (width - len(text)) // 2
    return (" " * left + text).ljust(width)


def _widths(table: GroupedTable) -> list[int]:
    """Widths of the columns; a group heading that needs more is shared out, the last column taking the remainder."""
    cells = zip(*table.rows, strict=True) if table.rows else [()] * len(table.columns)
    widths = [
        max(map(len, (name, *column)), default=0) + PAD for (_, name), column in zip(table.columns, cells, strict=True)
    ]
    for group, found in groupby(range(len(widths)), lambda at: table.columns[at][0]):
        own = list(found)
        lacking = max(len(group) + PAD - sum(widths[at] for at in own) - len(own) + 1, 0)
        for at in own:
            widths[at] += lacking // len(own)
        widths[own[-1]] += lacking % len(own)
    return widths


def _labels(table: GroupedTable) -> tuple[list[str], str]:
    """The labels as text, a part repeated from the row above left blank, and a blank of the same width."""
    if not table.labels:
        return [""] * len(table.rows), ""
    widths = [max(map(len, part)) + 2 for part in zip(*table.labels, strict=True)]
    lines, above = [], ("",) * len(widths)
    for label in table.labels:
        lines.append(_label(label, above, widths))
        above = label
    return lines, " " * sum(widths)


def _label(label: Sequence[str], above: Sequence[str], widths: Sequence[int]) -> str:
    shown = [
        "" if at < len(label) - 1 and label[: at + 1] == above[: at + 1] else part for at, part in enumerate(label)
    ]
    return "".join(part.ljust(width) for part, width in zip(shown, widths, strict=True))
