"""Columns of equal length with their source lines: what every reader returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import StoreError

Array = NDArray[Any]
Rows = slice | Array
"""Rows of a table: an index, boolean array or slice."""
_NAMES_KEPT = 1 << 16
"""Names of a translation that is kept."""
_RUN_LENGTH = 16
"""Equal codes in a row from which it is worth to look at each run once."""


class Compact(Mapping[str, Array]):
    """Columns of which some are made each time they are asked for, out of what takes less memory."""

    def __init__(self, columns: Mapping[str, Array], made: Mapping[str, Callable[[Rows], Array]]) -> None:
        """``columns`` as they are, and what makes the others at some rows; all of one length."""
        self._columns, self._made = columns, made

    def __getitem__(self, name: str) -> Array:
        return self.at(name, slice(None))

    def __iter__(self) -> Iterator[str]:
        return iter((*self._columns, *self._made))

    def __len__(self) -> int:
        return len(self._columns) + len(self._made)

    def at(self, name: str, rows: Rows) -> Array:
        """A column at some rows."""
        return self._made[name](rows) if name in self._made else self._columns[name][rows]

    def having(self, name: str, column: Array) -> Compact:
        """These with one column as it is given."""
        made = {other: make for other, make in self._made.items() if other != name}
        return Compact({**self._columns, name: column}, made)


@dataclass(frozen=True)
class Table:
    """Equal-length 1-D columns. Text columns hold int32 codes into ``vocabularies[name]``.

    The order of a vocabulary is the order of first appearance; layers above sort it where it must be canonical.
    """

    columns: Mapping[str, Array]
    vocabularies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.columns, Compact):
            return
        lengths = {name: column.shape for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1 or any(len(shape) != 1 for shape in lengths.values()):
            raise StoreError(f"a table's columns must be 1-D and of equal length (seen: {lengths})")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def at(self, name: str, rows: Rows) -> Array:
        """A column at some rows, without the rest of it being made."""
        return self.columns.at(name, rows) if isinstance(self.columns, Compact) else self.columns[name][rows]

    def having(self, name: str, column: Array) -> Table:
        """These with one column as it is given; what takes less memory than its columns stays so."""
        if isinstance(self.columns, Compact):
            return Table(self.columns.having(name, column), self.vocabularies)
        return Table({**self.columns, name: column}, self.vocabularies)

    def text(self, name: str) -> list[str]:
        """A text column decoded, one string a row."""
        names = self.vocabularies[name]
        return [names[code] for code in self.columns[name].tolist()]

    def take(self, rows: Array) -> Table:
        """The rows selected by an index or boolean array; vocabularies are kept whole."""
        return Table({name: column[rows] for name, column in self.columns.items()}, self.vocabularies)


def canonical_codes(names: tuple[str, ...], codes: Array) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The used names in sorted order, and the codes into them: independent of row order and of unused names."""
    order = sorted(used_codes(names, codes), key=lambda code: names[code])
    lookup = np.full(len(names) + 1, -1, np.int32)
    lookup[order] = np.arange(len(order), dtype=np.int32)
    return tuple(names[code] for code in order), lookup[wide(codes)]


def wide(codes: Array) -> NDArray[np.int64]:
    """Codes to index with: NumPy looks up by numbers of its own size several times as fast as by narrow ones."""
    return codes.astype(np.int64)


def used_codes(names: tuple[str, ...], codes: Array) -> list[int]:
    """The codes into ``names`` that occur, ascending: without sorting rows, of which there may be many."""
    seen = np.zeros(len(names), np.bool_)
    begins = codes[1:] != codes[:-1]
    if _RUN_LENGTH * np.count_nonzero(begins) < codes.size:
        seen[codes[:1]] = True
        codes = codes[1:][begins]
    seen[wide(codes)] = True
    found: list[int] = np.flatnonzero(seen).tolist()
    return found


class Same:
    """A value as a key by which object it is, where to look at all of it would take longer than what is kept."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value


def recode(names: tuple[str, ...], onto: tuple[str, ...]) -> NDArray[np.int32]:
    """For each of ``names`` its position in ``onto``, -1 where absent. Index with a code column to translate it.

    The last few are kept, as every tile of a cell asks for the same ones, but not where an output made up names without
    end; they are read-only.
    """
    return _same(Same(names), Same(onto)) if len(names) + len(onto) <= _NAMES_KEPT else _recoded(names, onto)


def _recoded(names: tuple[str, ...], onto: tuple[str, ...]) -> NDArray[np.int32]:
    position = {name: index for index, name in enumerate(onto)}
    codes = np.array([position.get(name, -1) for name in names] + [-1], np.int32)
    codes.setflags(write=False)
    return codes


_kept = lru_cache(maxsize=32)(_recoded)


@lru_cache(maxsize=32)
def _same(names: Same, onto: Same) -> NDArray[np.int32]:
    return _kept(names.value, onto.value)
