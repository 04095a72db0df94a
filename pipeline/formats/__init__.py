"""Bytes → tables: one module a format, each with one call ``(binary stream, name for messages) → value``.

Readers are imported when they are first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, BinaryIO

from pipeline.errors import InputError

Reader = Callable[[BinaryIO, str], Any]


PLACES: Mapping[str, str] = MappingProxyType(
    {
        "ecf": "kws.ecf",
        "rttm": "kws.rttm",
        "kwlist": "kws.kwlist",
        "kwslist": "kws.kwslist",
        "kwslist_texts": "kws.kwslist",
        "queries": "kws.queries",
        "resources": "resources",
        "stm": "stt.stm",
        "ctm": "stt.ctm",
        "lexicon": "stt.lexicon",
        "glm": "stt.glm",
        "trn": "stt.trn",
        "labelled": "labelled",
        "lre_key": "lre.key",
        "lre_out": "lre.out",
        "med_index": "med.index",
        "med_ref": "med.ref",
        "med_clipmd": "med.clipmd",
        "med_eventdb": "med.eventdb",
        "med_judgement": "med.judgement",
        "med_detection": "med.detection",
        "med_threshold": "med.threshold",
    }
)
"""The module of each format, below this package: a new format is a ``read_<format>`` there, and a line here."""


def _read(name: str, stream: BinaryIO, where: str) -> Any:
    read: Reader = getattr(import_module(f"{__name__}.{PLACES[name]}"), f"read_{name}")
    try:
        return read(stream, where)
    except InputError as error:
        if any(not finding.where for finding in error.findings):
            raise InputError([replace(one, where=one.where or where) for one in error.findings], error.count) from error
        raise


READERS: Mapping[str, Reader] = MappingProxyType({name: partial(_read, name) for name in PLACES})
"""The reader of each format, by its name."""
