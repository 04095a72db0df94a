"""Ways from one format to another: each a file here with a tuple ``CONVERSIONS``. Nothing else needs to know it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from pipeline.errors import UsageError


@dataclass(frozen=True)
class Given:
    """What is converted: a file, or the files of a folder, and what its format does not say."""

    name: str
    """For messages: the path as it was given."""
    files: Mapping[str, bytes]
    """Contents by name in the folder; those of a single file under the empty name."""
    file: str = ""
    channel: str = ""
    speaker: str = ""

    def where(self, part: str = "") -> str:
        """The name in messages of a file of the folder, or of the file."""
        return f"{self.name}/{part}" if part else self.name


@dataclass(frozen=True)
class Made:
    """What comes of it: contents by name in a folder, or under the empty name; and what was lost on the way."""

    files: Mapping[str, bytes]
    notes: tuple[str, ...] = ()

    @classmethod
    def text(cls, text: str, *notes: str) -> Made:
        """A single file."""
        return cls({"": text.encode()}, notes)


@dataclass(frozen=True)
class Conversion:
    """One way from ``source`` to ``target``; ``convert`` raises ``InputError`` where it would make things up."""

    source: str
    target: str
    rule: str
    """What is done, in one line."""
    convert: Callable[[Given], Made]


@cache
def conversions() -> Mapping[tuple[str, str], Conversion]:
    """Every conversion by (source, target), found in the modules of this package."""
    modules = (import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__))
    found = [way for module in modules for way in getattr(module, "CONVERSIONS", ())]
    return {(way.source, way.target): way for way in sorted(found, key=lambda way: (way.source, way.target))}


def find(source: str, target: str) -> Conversion:
    """The conversion between two formats. Raises ``UsageError`` naming what there is."""
    known = conversions()
    if (source, target) not in known:
        ways = ", ".join(f"{one} to {other}" for one, other in known)
        raise UsageError(f"there is no way from {source} to {target} without making things up (allowed: {ways}).")
    return known[source, target]
