"""Strata of queries, events or speakers: a CSV with the columns ``unit`` and ``stratum``."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from pipeline.config.document import Path
from pipeline.config.place import Place
from pipeline.errors import InputError
from pipeline.store.blobs import open_input

MOST_BYTES = 16_000_000
COLUMNS = ("unit", "stratum")


def read_strata(place: Place, path: Path, url: str) -> Mapping[str, str]:
    """The stratum of each unit; what is wrong with the file is noted at the field that names it."""
    try:
        with open_input(place.resolve(path, url)) as stream:
            data = stream.read(MOST_BYTES + 1)
    except InputError as error:
        place.note(path, "no_such_file", f"cannot be read: {error}")
        return {}
    try:
        rows = list(csv.DictReader(io.StringIO(data[:MOST_BYTES].decode("utf-8-sig", "replace"), newline="")))
    except csv.Error as error:
        rows = []
        place.note(path, "bad_csv", f"is no CSV ({error})")
    if len(data) > MOST_BYTES or not rows or not set(COLUMNS) <= rows[0].keys():
        place.note(path, "bad_csv", f"must be a CSV of at most {MOST_BYTES} bytes with columns {', '.join(COLUMNS)}")
        return {}
    return {str(row["unit"]): str(row["stratum"]) for row in rows}
