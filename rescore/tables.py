"""Frames for people: pandas where it is installed, Arrow otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Frame: TypeAlias = Any
"""A ``pandas.DataFrame``, or a ``pyarrow.Table`` where pandas is not installed."""


def frame(columns: Mapping[str, Any]) -> Frame:
    """Columns of equal length as a frame."""
    try:
        import pandas as pd
    except ImportError:
        import pyarrow as pa

        return pa.table(dict(columns))
    return pd.DataFrame(dict(columns))


def of_rows(rows: Iterable[Mapping[str, Any]]) -> Frame:
    """Rows as a frame, whose columns are all names that any row has; None where a row lacks one."""
    listed = list(rows)
    names = dict.fromkeys(name for row in listed for name in row)
    return frame({name: [row.get(name) for row in listed] for name in names})
