"""Bytes → tables: one module a format, each with one call ``(binary stream, name for messages) → value``.

Readers are imported when they are first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, BinaryIO

Reader = Callable[[BinaryIO, str], Any]


def _read(name: str, stream: BinaryIO, where: str) -> Any:
    read: Reader = getattr(import_module(f"pipeline.formats.{name}"), f"read_{name}")
    return read(stream, where)


READERS: Mapping[str, Reader] = MappingProxyType(
    {
        name: partial(_read, name)
        for name in (
            *("ecf", "rttm", "kwlist", "kwslist", "kwslist_texts", "resources", "queries"),
            *("stm", "ctm", "lexicon", "trn"),
            *("lre_key", "lre_out"),
            *("med_index", "med_ref", "med_clipmd", "med_eventdb", "med_judgement", "med_detection", "med_threshold"),
        )
    }
)
"""The reader of each format, by its name."""
