"""The organiser's overlays as reports may name them: a withdrawn query of a hidden dataset is counted, not named."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.grid.disclosure import HELD, Disclosure

NAMING = ("withdrawn", "excluded_files")
"""Settings whose values are names, one a line."""
WITHHELD = "(not disclosed)"
_LINE_END = "\\n"  # a signature is one line: its line ends are escaped


def disclosed_overlays(attributes: Mapping[str, Any], levels: Mapping[str, Disclosure]) -> dict[str, Any]:
    """A grid's attributes with its overlays as they may be shown.

    Where a layer holds for a dataset that is not wholly shown, ``n_values`` says how many names it has in place of
    ``values``; of one that is held its reason is left out too.
    """
    if "overlays" not in attributes:
        return dict(attributes)
    layers = [_layer(layer, levels) for layer in json.loads(str(attributes["overlays"]))]
    return {**attributes, "overlays": json.dumps(layers, sort_keys=True)}


def disclosed_signature(signature: str) -> str:
    """A signature that counts the withdrawn queries and excluded recordings in place of naming them."""
    return "|".join(_field(part) for part in signature.split("|"))


def disclosed_value(name: str, value: str) -> str:
    """A setting's value as a signature has it, names counted."""
    if name not in NAMING or value in ("", "none"):
        return value
    return f"{value.count(_LINE_END) + 1} not disclosed"


def named_in(signature: str) -> tuple[str, ...]:
    """The withdrawn queries and excluded recordings that a signature names, the longest first."""
    fields = (part.partition(":") for part in signature.split("|"))
    values = (
        ast.literal_eval(value) if value[:1] in ("'", '"') else value for name, _, value in fields if name in NAMING
    )
    listed = {name for value in values for name in str(value).split("\n")}
    return tuple(sorted(listed - {"", "none"}, key=lambda name: (-len(name), name)))


def without(text: str, names: Iterable[str]) -> str:
    """A message without these names where they stand as words of their own."""
    for name in names:
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", WITHHELD, text)
    return text


def _field(part: str) -> str:
    name, colon, value = part.partition(":")
    return f"{name}{colon}{disclosed_value(name, value)}"


def _layer(layer: Mapping[str, Any], levels: Mapping[str, Disclosure]) -> dict[str, Any]:
    own = [levels.get(name, Disclosure()) for name in layer.get("datasets", levels)]
    if all(level.shows_all for level in own):
        return dict(layer)
    hidden = {"values", "reason"} if any(level.level == HELD for level in own) else {"values"}
    return {
        **{name: value for name, value in layer.items() if name not in hidden},
        "n_values": len(layer.get("values", ())),
    }
