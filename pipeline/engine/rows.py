"""Tables of results, which are rows, as columns of numbers."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from pipeline.arrays import Floats
from pipeline.engine.packed_rows import PackedRows
from pipeline.engine.result import unplain


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Floats | None]:
    """Everything that any row has, in the order in which they name it: numbers, (rows,), or None where it is text.

    NaN is where a row has no such value, or an undefined one.
    """
    if isinstance(rows, PackedRows):
        return {name: _numbers(column) for name, column in rows.columns.items()}
    if len(set(map(tuple, rows))) == 1:  # the same names in the same order, as nearly always
        return dict(zip(rows[0], map(_numbers, zip(*(row.values() for row in rows), strict=True)), strict=True))
    names = dict.fromkeys(chain.from_iterable(rows))
    return {name: _numbers([row.get(name) for row in rows]) for name in names}


def _numbers(column: Sequence[Any]) -> Floats | None:
    if not isinstance(column, array) and str in set(map(type, column)):
        column = [unplain(value) for value in column]
        if any(isinstance(value, str) for value in column):
            return None
    return np.array(column, np.float64)
