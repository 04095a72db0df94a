"""References and timelines as plain named columns, so that a layer above can keep them as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from pipeline.errors import StoreError
from pipeline.formats.table import Array
from pipeline.trials.schema import Excerpts, Occurrences, Timeline

Columns = Mapping[str, Array | tuple[str, ...]]
Value = Occurrences | Excerpts | Timeline

_KINDS: dict[str, type[Value]] = {"occurrences": Occurrences, "excerpts": Excerpts, "timeline": Timeline}
_NAMES = {built: kind for kind, built in _KINDS.items()}
_EXCERPTS = "excerpts."


def to_columns(value: Value) -> dict[str, Array | tuple[str, ...]]:
    """Every field under its name, as an array or a tuple of text, and ``kind``: (``occurrences``,) and the like.

    A timeline's excerpts stand under ``excerpts.<field>``, its header's seconds in an array of one.
    """
    columns: dict[str, Array | tuple[str, ...]] = {"kind": (_NAMES[type(value)],)}
    for field in fields(value):
        content = getattr(value, field.name)
        if isinstance(content, Excerpts):
            columns |= {f"{_EXCERPTS}{name}": column for name, column in to_columns(content).items()}
        else:
            columns[field.name] = np.array([content]) if isinstance(content, float) else content
    return columns


def from_columns(columns: Columns) -> Value:
    """The value that ``to_columns`` took apart. Raises ``StoreError`` where columns are missing or foreign."""
    kind = columns.get("kind", ())
    named = str(kind[0]) if len(kind) == 1 else ""
    if named not in _KINDS:
        raise _damage(f"the kind is {named!r}, allowed: {', '.join(_KINDS)}")
    contents: dict[str, Any] = {name: column for name, column in columns.items() if name != "kind"}
    if named == "timeline":
        nested = {name: contents.pop(name) for name in tuple(contents) if name.startswith(_EXCERPTS)}
        contents["excerpts"] = excerpts({name.removeprefix(_EXCERPTS): column for name, column in nested.items()})
        contents["header_s"] = float(contents.get("header_s", np.array([np.nan]))[0])
    odd = {field.name for field in fields(_KINDS[named])} ^ set(contents)
    if odd:
        raise _damage(f"columns of {named} are missing or foreign: {', '.join(sorted(odd))}")
    return _KINDS[named](**contents)


def occurrences(columns: Columns) -> Occurrences:
    """Reference occurrences from their columns. Raises ``StoreError`` where they are something else."""
    value = from_columns(columns)
    if not isinstance(value, Occurrences):
        raise _damage(f"{_NAMES[type(value)]} where occurrences were expected")
    return value


def excerpts(columns: Columns) -> Excerpts:
    """Excerpts from their columns. Raises ``StoreError`` where they are something else."""
    value = from_columns(columns)
    if not isinstance(value, Excerpts):
        raise _damage(f"{_NAMES[type(value)]} where excerpts were expected")
    return value


def timeline(columns: Columns) -> Timeline:
    """A timeline from its columns. Raises ``StoreError`` where they are something else."""
    value = from_columns(columns)
    if not isinstance(value, Timeline):
        raise _damage(f"{_NAMES[type(value)]} where a timeline was expected")
    return value


def _damage(what: str) -> StoreError:
    return StoreError(f"a stored reference is damaged: {what}. Remove it, it is derived again.")
