"""results.json: the document of every cell (DESIGN section 8) in one strict JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import xarray as xr

from pipeline.engine.result import Result, document_bytes


def results_json(grid: Mapping[str, xr.Dataset], results: Iterable[Result]) -> Iterator[bytes]:
    """The file in pieces, one a cell, so that no more than one document is held beside the results.

    An object: the run's attributes by name, then ``results``, one document a line. Strict JSON: undefined figures
    are null, infinities the strings "inf" and "-inf".
    """
    attributes = {str(name): _native(value) for name, value in sorted(grid[""].attrs.items())}
    yield _json({**attributes, "results": []}).removesuffix("]}").encode()
    separator = "\n"
    for result in results:
        yield separator.encode() + document_bytes(result)
        separator = ",\n"
    yield b"\n]}\n"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _native(value: Any) -> Any:
    """An attribute as JSON may carry it: numpy scalars and arrays as Python values."""
    return value.tolist() if hasattr(value, "tolist") else value
