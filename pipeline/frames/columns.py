"""Frames of any kind as columns: pandas, Polars, Arrow, xarray, structured arrays, mappings of arrays.

None of these libraries is imported: all of them name their columns and give each one to NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from pipeline.errors import Finding, InputError, UsageError
from pipeline.formats.findings import quoted

Columns = dict[str, np.ndarray[Any, Any]]
"""1-D arrays of one length by name. A constant column says something of the whole."""
_WHOLE = 1e15
"""Below, every whole number is written without a point."""


def is_frame(value: object) -> bool:
    """Whether ``value`` has columns."""
    return isinstance(value, Mapping) or hasattr(value, "__arrow_c_stream__") or _named(value) is not None


def columns_of(value: Any, where: str) -> Columns:
    """The columns of a frame; ``where`` names it in messages.

    Of an xarray dataset, variables and coordinates along one dimension count, as do those along two as a column for
    each name of the second; stored trials (``open_trials``) give the query, recording and channel of each row by name.
    Single values stand for constant columns. Raises ``InputError`` for columns of several lengths, ``UsageError`` for
    what has no columns.
    """
    if hasattr(value, "data_vars"):
        named = _of_dataset(value)
    else:
        names = list(value) if isinstance(value, Mapping) else _named(value)
        if names is None:
            names, value = _through_arrow(value, where)
        named = {str(name): _array(value[name]) for name in names}
    lengths = {name: column.size for name, column in named.items() if column.ndim == 1}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        what = f"the columns have several lengths ({told}). Give every row every column."
        raise InputError([Finding("column_lengths", what, where)])
    deep = [name for name, column in named.items() if column.ndim > 1]
    if deep:
        what = f"the columns {', '.join(map(quoted, deep))} have more than one dimension. Give a column for each."
        raise InputError([Finding("column_dimensions", what, where)])
    n_rows = next(iter(lengths.values()), 1 if named else 0)
    return {name: column if column.ndim else np.repeat(column, n_rows) for name, column in named.items()}


def texts(column: np.ndarray[Any, Any]) -> list[str]:
    """A column as text: nothing is "", a whole number has no point, others as Python writes them."""
    if column.dtype.kind in "iub":
        return list(map(str, column.tolist()))
    if column.dtype.kind == "f":
        return _each(lambda value: "" if math.isnan(value) else _number(value), column)
    values = column.tolist()
    return values if set(map(type, values)) <= {str} else [_text(value) for value in values]


def numbers(column: np.ndarray[Any, Any]) -> list[str]:
    """A column of numbers as their shortest decimals that read as the same doubles; nothing is ``nan``."""
    if column.dtype.kind == "f":
        return _each(repr, column)
    if column.dtype.kind in "iu":
        return list(map(str, column.tolist()))
    return [_text(value) or "nan" for value in column.tolist()]


def _each(told: Callable[[float], str], column: np.ndarray[Any, Any]) -> list[str]:
    """Doubles as text; one that all rows have is written once."""
    doubles = column.astype(np.float64)
    bits = doubles.view(np.int64)  # -0.0 is another one than 0.0
    if bits.size and (bits == bits[0]).all():
        return [told(float(doubles[0]))] * bits.size
    return list(map(told, doubles.tolist()))


def _number(value: float) -> str:
    whole = value.is_integer() and abs(value) < _WHOLE and (value or math.copysign(1.0, value) > 0)
    return str(int(value)) if whole else repr(value)


def _text(value: object) -> str:
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):  # noqa: PLR0124  # NaN
        return ""
    if isinstance(value, bytes):
        return value.decode()
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _named(value: Any) -> list[Any] | None:
    """The names of a frame's columns; None where it has none."""
    for attribute in ("column_names", "columns"):
        found = getattr(value, attribute, None)
        if found is not None and not callable(found) and not isinstance(found, str):
            return list(found)
    names = getattr(getattr(value, "dtype", None), "names", None)
    if names is not None:
        return list(names)
    return list(value.variables) if hasattr(value, "data_vars") else None


def _array(column: Any) -> np.ndarray[Any, Any]:
    if isinstance(column, (list, tuple, range)):
        return _of_values(column)
    if hasattr(column, "combine_chunks"):  # Arrow: dictionaries have no array of their values
        return _of_values(column.to_pylist()) if _is_text(column.type) else np.asarray(column)
    return np.asarray(column)


def _is_text(kind: Any) -> bool:
    return any(word in str(kind) for word in ("string", "utf8", "dictionary", "bool"))


def _of_values(values: Iterable[Any]) -> np.ndarray[Any, Any]:
    """Values of a list: an array of their own type where they have one, else of objects."""
    listed = list(values)
    kinds = {type(value) for value in listed}
    made: np.ndarray[Any, Any] = np.empty(len(listed), object)
    if kinds and all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return np.array(listed, np.bool_)
    if kinds and all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in kinds):
        return np.array(listed)
    made[:] = listed
    return made


def _through_arrow(value: Any, where: str) -> tuple[list[str], Any]:
    """What only hands out an Arrow stream, as an Arrow table."""
    if not hasattr(value, "__arrow_c_stream__"):
        kinds = "a path, URL, bytes, an open file, a frame or a mapping of arrays"
        raise UsageError(f"{where} is a {type(value).__name__} (allowed: {kinds}).")
    try:
        import pyarrow as pa
    except ImportError:
        raise UsageError(f"{where}: to read an Arrow stream needs rescore[parquet]. Install it.") from None
    made = pa.table(value)
    return list(made.column_names), made


def _of_dataset(dataset: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Variables of an xarray dataset along the dimension of its rows."""
    rows = "trial" if "trial" in dataset.sizes else next(iter(dataset.sizes), "")
    found: dict[str, np.ndarray[Any, Any]] = {name: np.asarray(of) for name, of in dataset.attrs.items() if _plain(of)}
    for name, variable in dataset.variables.items():
        if variable.dims == (rows,) or not variable.dims:
            found[str(name)] = variable.to_numpy()
        elif len(variable.dims) == 2 and variable.dims[0] == rows and variable.dims[1] in dataset.variables:
            classes = dataset.variables[variable.dims[1]].to_numpy().tolist()
            found |= {str(one): variable.to_numpy()[:, at] for at, one in enumerate(classes)}
    for name, codes in list(found.items()):
        if f"{name}_name" in dataset.variables and codes.dtype.kind in "iu":
            found[name] = dataset.variables[f"{name}_name"].to_numpy()[codes]
    if "outcome" in found:  # labels beside the trials
        found = {name: column for name, column in found.items() if name not in ("outcome", "target")}
    if "first_row" in dataset.variables and dataset.variables["first_row"].dims:
        found |= _ragged(dataset, rows)
    return found


def _plain(value: object) -> bool:
    return isinstance(value, (str, int, float, np.generic))


def _ragged(dataset: Any, rows: str) -> dict[str, np.ndarray[Any, Any]]:
    """The group of every row of stored trials, by the name of its dimension."""
    first, n_rows = dataset.variables["first_row"], dataset.variables["n_rows"].to_numpy()
    [group] = first.dims
    code = np.zeros(dataset.sizes[rows], np.int64)
    for at, (begin, n) in enumerate(zip(first.to_numpy().tolist(), n_rows.tolist(), strict=True)):
        code[begin : begin + n] = at
    return {str(group): dataset.variables[group].to_numpy()[code]}
