"""The partial of a tile of detections: its ledger, and counts of rows that took no part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Ledgers and a tally that add up together. Ledgers of many tiles are put together once, when it is asked for."""

    ledgers: tuple[Ledger, ...] = ()
    tally: Tally = field(default_factory=Tally)

    @classmethod
    def of(cls, ledger: Ledger, tally: Tally) -> Outcomes:
        """Those of one ledger."""
        return cls((ledger,), tally)

    @property
    def ledger(self) -> Ledger:
        """The sum of the ledgers."""
        if len(self.ledgers) != 1:
            whole = Ledger.joined(self.ledgers) if self.ledgers else Ledger.zero()
            object.__setattr__(self, "ledgers", (whole,))  # the same value; what it was made of is let go
        return self.ledgers[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Outcomes):
            return NotImplemented
        return self.ledger == other.ledger and self.tally == other.tally

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Outcomes) -> Outcomes:
        return Outcomes((*self.ledgers, *other.ledgers), self.tally + other.tally)

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """The sum of one or more."""
        tallies = [part.tally for part in parts]
        return cls(tuple(ledger for part in parts for ledger in part.ledgers), sum(tallies[1:], start=tallies[0]))
