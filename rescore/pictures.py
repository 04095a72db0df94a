"""Drawings that show themselves in a notebook and can be kept."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing as SVG. A notebook shows it; ``save`` keeps it."""

    svg: str
    title: str = ""

    def __repr__(self) -> str:
        return f"<Picture {self.title}, {len(self.svg)} characters of SVG: .save('file.svg') keeps it>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the SVG to ``path``, and say where."""
        place = Path(path)
        place.write_text(self.svg, encoding="utf-8")
        return place
