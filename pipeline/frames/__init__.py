"""Columns in memory ↔ the text of each format, so that frames go through the one reader of their format.

A frame is written as the file that it would be and read as that file is: the same checks, refusals and bits, and the
digest of the source is that of the file. Forms are imported when they are first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from pipeline.errors import UsageError
from pipeline.frames.form import Form

PLACES: Mapping[str, str] = MappingProxyType(
    {
        "ecf": "kws",
        "rttm": "kws",
        "kwlist": "kws",
        "kwslist": "outputs",
        "queries": "kws",
        "resources": "resources",
        "stm": "stt",
        "ctm": "stt",
        "lexicon": "stt",
        "trn": "stt",
        "labelled": "labelled",
        "lre_key": "lre",
        "lre_out": "lre",
        "med_index": "med",
        "med_ref": "med",
        "med_clipmd": "med",
        "med_eventdb": "med",
        "med_judgement": "med",
        "med_detection": "med",
        "med_threshold": "med",
    }
)
"""The module of each format's form, below this package; its ``FORMS`` has it by the format's name."""


def form_of(name: str) -> Form:
    """The form of a format. Raises ``UsageError`` for a format that has none."""
    place = PLACES.get(name.removesuffix("_texts"))
    if place is None:
        raise UsageError(f"there is no frame of the format {name!r} (allowed: {', '.join(PLACES)}). Give a file.")
    forms: Mapping[str, Form] = import_module(f"{__name__}.{place}").FORMS
    return forms[name.removesuffix("_texts")]


def described(name: str) -> list[dict[str, Any]]:
    """The columns of a format's frames: name, kind, whether it is required, what it says; none without frames."""
    if name.removesuffix("_texts") not in PLACES:
        return []
    return [
        {"name": one.name, "kind": one.kind, "required": one.required, "meaning": one.meaning}
        for one in form_of(name).columns
    ]
