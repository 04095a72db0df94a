"""The long table: one row for each figure of each system, whoever made it, and its form as arrays, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.errors import UsageError

if TYPE_CHECKING:
    import xarray as xr

SCORED, PUBLISHED = "scored", "published"
"""Kinds of rows: scored here, or taken over from a publication."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. Numbers are NaN and texts empty where nothing is known."""

    evaluation: str
    """Name in the study; of a variant ``EVALUATION=VARIANT``."""
    year: str = ""
    kind: str = SCORED
    run: str = ""
    protocol: str = ""
    edition: str = ""
    mode: str = ""
    query_set: str = ""
    dataset: str = ""
    condition: str = ""
    team: str = ""
    """The name that the team goes by in the study; ``team_as_given`` is what it had there."""
    team_as_given: str = ""
    system: str = ""
    system_as_given: str = ""
    primary: str = ""
    measure: str = ""
    unit: str = ""
    better: str = ""
    value: float = math.nan
    reason: str = ""
    status: str = ""
    low: float = math.nan
    """Interval of the figure, where one was asked for."""
    high: float = math.nan
    interval: str = ""
    """How the interval was made, or why there is none."""
    n: float = math.nan
    """Units that the interval was drawn from."""
    rank: float = math.nan
    point: str = ""
    """The operating point that the figure depends on, as text; figures with unequal points do not compare."""
    beta: float = math.nan
    p_target: float = math.nan
    tolerance_s: float = math.nan
    key: str = ""
    """Digest of the key, of the query list and of the audio list, in 12 hexadecimal digits each."""
    queries: str = ""
    audio: str = ""
    signature: str = ""
    source: str = ""
    note: str = ""


COLUMNS = tuple(field.name for field in fields(Row))
NUMBERS = tuple(field.name for field in fields(Row) if field.type == "float")
_MEANING = {
    "value": "figure; NaN where `reason` says why",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "point": "operating point of the figure",
    "kind": "scored here, or published elsewhere",
}


def as_dataset(rows: Sequence[Row]) -> xr.Dataset:
    """The table as arrays over ``row``, every one with what it is."""
    import xarray as xr

    data = {}
    for name in COLUMNS:
        values = [getattr(row, name) for row in rows]
        array = np.array(values, np.float64 if name in NUMBERS else np.dtypes.StringDType())
        data[name] = ("row", array, {"long_name": _MEANING.get(name, name.replace("_", " "))})
    return xr.Dataset(data, attrs={"title": "figures across evaluations, one row each"})


def as_csv(rows: Iterable[Row]) -> bytes:
    """The table as CSV with a header; NaN is an empty field. Texts that a spreadsheet would run get a quote before."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_field(getattr(row, name)) for name in COLUMNS])
    return text.getvalue().encode("utf-8", "replace")


def _field(value: float | str) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return f"'{value}" if value[:1] in tuple("=+-@\t\r") else value


def as_parquet(rows: Sequence[Row]) -> bytes:
    """The table as Parquet. Raises ``UsageError`` where pyarrow is not installed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow. Install rescore[parquet], or take the CSV.") from error
    columns: Mapping[str, Any] = {
        name: pa.array([getattr(row, name) for row in rows], pa.float64() if name in NUMBERS else pa.string())
        for name in COLUMNS
    }
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink, compression="zstd")
    return sink.getvalue()
