"""Strict JSON as bytes and back, by orjson: tables of figures take a tenth of the time that Python's own takes."""

from __future__ import annotations

import json
from typing import Any

import orjson


def dumps(value: Any, *, sort_keys: bool = False) -> bytes:
    """Compact UTF-8 of dicts, lists and scalars; NaN becomes null. Infinities must have been made text."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else 0)
    except orjson.JSONEncodeError:  # names that are no Unicode
        text = json.dumps(_without_nan(value), sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)
        return text.encode()


def loads(data: bytes) -> Any:
    """The value that ``dumps`` wrote. Raises ``ValueError`` where it is no JSON."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124 - NaN alone does
