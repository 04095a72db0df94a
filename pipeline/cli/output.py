"""Output of commands: results on stdout, diagnostics on stderr, credentials nowhere."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pipeline.config.urls import masked
from pipeline.errors import Finding, InputError, escaped


def note(message: str) -> None:
    """Print a diagnostic on stderr."""
    print(f"rescore: {shown(message).rstrip()}", file=sys.stderr)


def note_findings(error: InputError) -> None:
    """Print every problem of a refused input on stderr, one a line."""
    print(shown(str(error)), file=sys.stderr)


def print_json(document: Mapping[str, Any]) -> None:
    """Print one strict JSON document on stdout."""
    print(json.dumps(document, allow_nan=False))


def finding_document(finding: Finding) -> dict[str, str]:
    """One problem or warning as JSON has it, without credentials."""
    return {name: masked(text) for name, text in asdict(finding).items()}


def error_document(error: InputError) -> dict[str, Any]:
    """The document of refused input: ``errors`` with code, message and where, and the count of all."""
    return {"errors": [finding_document(finding) for finding in error.findings], "n_errors": error.count}


def columns(rows: Iterable[Sequence[str]], *, indent: str = "  ", right: frozenset[int] = frozenset()) -> str:
    """Rows of cells as aligned text; the columns in ``right`` are flush right."""
    table = [[shown(cell).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def shown(text: str) -> str:
    """Text for a terminal: no credentials, and nothing that steers it, since names come from participants' files."""
    return escaped(masked(text), but="\n")


def number(value: Any) -> str:
    """A value for people: counts whole, other numbers to six digits, ``-`` where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, float) and not (value.is_integer() and abs(value) < 1e15):
        return f"{value:.6g}"
    return str(int(value))
