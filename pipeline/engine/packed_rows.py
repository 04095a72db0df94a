"""Rows of a table held by column, as long as nobody asks for one: dicts of numbers take five times the room."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from sys import intern
from typing import Any, overload

Column = Sequence[Any]


class PackedRows(Sequence[Mapping[str, Any]]):
    """Rows that name the same values in the same order. Each is made when it is asked for, equal to what was packed."""

    __slots__ = ("_columns", "_n_rows")

    def __init__(self, columns: Mapping[str, Column], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows

    @property
    def columns(self) -> Mapping[str, Column]:
        """By name the values of all rows: an array where all are floats or all are integers, else a tuple."""
        return self._columns

    def __len__(self) -> int:
        return self._n_rows

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        if isinstance(at, slice):
            return [self[one] for one in range(self._n_rows)[at]]
        return {name: column[at] for name, column in self._columns.items()}

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        names = tuple(self._columns)
        return (dict(zip(names, row, strict=True)) for row in zip(*self._columns.values(), strict=True))

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # rows are dicts


def packed(rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Rows in little room; as they are where they do not all name the same values in the same order."""
    if len(set(map(tuple, rows))) != 1 or not rows[0]:
        return tuple(rows)
    columns = zip(*(row.values() for row in rows), strict=True)
    return PackedRows(dict(zip(rows[0], map(packed_column, columns), strict=True)), len(rows))


def packed_column(column: Column) -> Column:
    """Values in little room: an array of floats or integers, or a tuple, in which equal texts are one."""
    kinds = set(map(type, column))
    if kinds == {float}:
        return array("d", column)
    if kinds == {int} and max(map(abs, column)) < 2**63:
        return array("q", column)
    return tuple(intern(one) if type(one) is str else one for one in column)
