"""Parquet tables as the text of their format."""

from __future__ import annotations

import io
from typing import BinaryIO

from pipeline.errors import Finding, InputError, UsageError
from pipeline.frames import form_of


def as_text(kind: str, stream: BinaryIO, where: str) -> bytes:
    """The file that a Parquet table of a format would be. Raises ``InputError`` for one that is damaged, ``UsageError``
    where Parquet cannot be read here.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise UsageError(f"{where}: to read Parquet needs rescore[parquet]. Install it, or give CSV.") from None
    try:
        table = parquet.read_table(io.BytesIO(stream.read()))
    except pa.ArrowInvalid as error:
        message = f"the Parquet table is damaged or cut off ({error}). Write it again."
        raise InputError([Finding("bad_parquet", message, where)]) from error
    return form_of(kind).written(table, where).text
