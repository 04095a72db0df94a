"""The result of scoring one output: figures first, everything they rest on as frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.engine.result import Result as Scored
from pipeline.engine.result import document
from pipeline.protocols.base import Protocol


@dataclass(frozen=True, repr=False)
class Result:
    """What scoring says of one output. ``result["atwv"]`` is a figure; ``scored`` has all as the engine does."""

    scored: Scored
    protocol: Protocol
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """The inputs by role, as they were given."""
    name: str = ""
    """What pictures call the system."""

    def __getitem__(self, measure: str) -> float:
        """A figure by its name; NaN where it is undefined. ``KeyError`` names those there are."""
        figures = self.scored.figures
        if measure not in figures:
            raise KeyError(f"{measure!r} (allowed: {', '.join(figures)})")
        return figures[measure].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.scored.figures)

    @property
    def signature(self) -> str:
        """Protocol, settings, inputs by digest, version: equal ones mean equal figures."""
        return self.scored.signature

    def to_dict(self, *, curve: bool = False) -> dict[str, Any]:
        """The JSON document that ``rescore score --json`` prints."""
        return document(self.scored, curve=curve)
