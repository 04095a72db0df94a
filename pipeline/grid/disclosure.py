"""The disclosure of a dataset in reports: everything, no row that would reveal the key, some measures, or nothing yet.

The levels are those of the OpenKWS13 plan (004 appendix B.1.1): development data with all reports, evaluation data
held until released and then with the references hidden, a surprise language with a selection of reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

EVERYTHING, NO_KEY, SELECTION, HELD = "everything", "no_key", "selection", "held"
LEVELS = (EVERYTHING, NO_KEY, HELD)
"""The levels that are a word; a selection is a list of measures."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The level of one dataset; ``measures`` are those of a selection."""

    level: str = EVERYTHING
    measures: tuple[str, ...] = ()

    @property
    def shows_all(self) -> bool:
        """Whether nothing is left out."""
        return self.level == EVERYTHING

    def shows(self, measure: str) -> bool:
        """Whether a measure's figures may be shown."""
        return self.level in (EVERYTHING, NO_KEY) or measure in self.measures

    def __str__(self) -> str:
        return f"{SELECTION}:{','.join(self.measures)}" if self.level == SELECTION else self.level


def parse(text: str) -> Disclosure:
    """The inverse of ``str``; what is not understood shows nothing."""
    level, _, measures = text.partition(":")
    if level == SELECTION:
        return Disclosure(SELECTION, tuple(measures.split(",")))
    return Disclosure(level if level in LEVELS else HELD)


def levels_of(grid: Mapping[str, xr.Dataset]) -> dict[str, Disclosure]:
    """The level of every dataset of a grid by its name; ``everything`` where the grid says nothing."""
    root = grid[""]
    names = [str(name) for name in root["dataset"].values.tolist()]
    if "disclosure" not in root:
        return {name: Disclosure() for name in names}
    return {name: parse(str(text)) for name, text in zip(names, root["disclosure"].values.tolist(), strict=True)}
