"""Columns of equal length with their source lines: what every reader returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import StoreError

Array = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """Equal-length 1-D columns. Text columns hold int32 codes into ``vocabularies[name]``.

    The order of a vocabulary is the order of first appearance; layers above sort it where it must be canonical.
    """

    columns: Mapping[str, Array]
    vocabularies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = {name: column.shape for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1 or any(len(shape) != 1 for shape in lengths.values()):
            raise StoreError(f"a table's columns must be 1-D and of equal length (seen: {lengths})")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def text(self, name: str) -> list[str]:
        """A text column decoded, one string a row."""
        names = self.vocabularies[name]
        return [names[code] for code in self.columns[name].tolist()]

    def take(self, rows: Array) -> Table:
        """The rows selected by an index or boolean array; vocabularies are kept whole."""
        return Table({name: column[rows] for name, column in self.columns.items()}, self.vocabularies)


def canonical_codes(names: tuple[str, ...], codes: Array) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The used names in sorted order, and the codes into them: independent of row order and of unused names."""
    used = np.unique(codes)
    order = sorted(used.tolist(), key=lambda code: names[code])
    lookup = np.full(len(names) + 1, -1, np.int32)
    lookup[order] = np.arange(len(order), dtype=np.int32)
    return tuple(names[code] for code in order), lookup[codes]


def recode(names: tuple[str, ...], onto: tuple[str, ...]) -> NDArray[np.int32]:
    """For each of ``names`` its position in ``onto``, -1 where absent. Index with a code column to translate it."""
    position = {name: index for index, name in enumerate(onto)}
    return np.array([position.get(name, -1) for name in names] + [-1], np.int32)
