"""The partial of a tile of scored clips: ledger, order of ties where asked for, counts, and what systems declared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally
from pipeline.partials.tie_order import TieOrder


@dataclass(frozen=True)
class Declared:
    """Threshold and hours that a system declared for an event it processed; NaN where it declared none."""

    threshold: float
    hours: float
    """Wall-clock hours of executing the event's agent."""

    def same(self, other: Declared) -> bool:
        """Equality in which NaN equals NaN."""
        pairs = ((self.threshold, other.threshold), (self.hours, other.hours))
        return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in pairs)


@dataclass(frozen=True)
class EventOutcomes:
    """Parts that add up together. ``declared`` is by event and holds exactly the events that were processed.

    ``conditions`` holds the same of parts of the trials, without what was declared.
    """

    ledger: Ledger = field(default_factory=Ledger.zero)
    ties: TieOrder = field(default_factory=TieOrder)
    tally: Tally = field(default_factory=Tally)
    declared: Mapping[str, Declared] = field(default_factory=dict)
    conditions: Mapping[str, EventOutcomes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "declared", dict(sorted(self.declared.items())))
        object.__setattr__(self, "conditions", dict(sorted(self.conditions.items())))

    def __add__(self, other: EventOutcomes) -> EventOutcomes:
        for event in self.declared.keys() & other.declared.keys():
            if not self.declared[event].same(other.declared[event]):
                raise ValueError(f"event {event} was declared in two ways: these are parts of two submissions")
        names = {*self.conditions, *other.conditions}
        nothing = EventOutcomes()
        return EventOutcomes(
            self.ledger + other.ledger,
            self.ties + other.ties,
            self.tally + other.tally,
            {**self.declared, **other.declared},
            {n: self.conditions.get(n, nothing) + other.conditions.get(n, nothing) for n in names},
        )
