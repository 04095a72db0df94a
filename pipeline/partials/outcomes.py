"""The partial of a tile of detections: its ledger, and counts of rows that took no part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally


@dataclass(frozen=True)
class Outcomes:
    """A ledger and a tally that add up together."""

    kind: ClassVar[str] = "outcomes/2"

    ledger: Ledger = field(default_factory=Ledger.zero)
    tally: Tally = field(default_factory=Tally)

    @property
    def n_rows(self) -> int:
        """Distinct scores of all queries."""
        return len(self.ledger)

    def __add__(self, other: Outcomes) -> Outcomes:
        return Outcomes(self.ledger + other.ledger, self.tally + other.tally)

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """The sum of one or more."""
        tallies = [part.tally for part in parts]
        return cls(Ledger.joined([part.ledger for part in parts]), sum(tallies[1:], start=tallies[0]))

    def to_columns(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Columns of both parts, each under its name."""
        columns, meta = dict[str, Any](), dict[str, Any]()
        for name, part in (("ledger", self.ledger), ("tally", self.tally)):
            own, meta[name] = part.to_columns()
            columns |= {f"{name}.{column}": values for column, values in own.items()}
        return columns, meta

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], meta: Mapping[str, Any]) -> Outcomes:
        """The inverse of ``to_columns``."""

        def own(name: str) -> dict[str, Any]:
            prefix = f"{name}."
            return {key.removeprefix(prefix): value for key, value in columns.items() if key.startswith(prefix)}

        ledger = Ledger.from_columns(own("ledger"), meta["ledger"])
        return cls(ledger, Tally.from_columns(own("tally"), meta["tally"]))
