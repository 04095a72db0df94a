"""Names of measures and columns as they are typeset."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Label:
    """A name as typeset: ``base`` with ``subscript``, then a qualifying ``note``."""

    base: str
    subscript: str = ""
    note: str = ""

    def __str__(self) -> str:
        joined = f"{self.base}_{self.subscript}" if self.subscript else self.base
        return f"{joined} ({self.note})" if self.note else joined


UNNAMED = Label("")
