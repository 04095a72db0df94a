"""The partial of a tile of scored clips: ledger, order of ties where asked for, counts, and what systems declared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
        return EventOutcomes.joined([self, other])

    @classmethod
    def joined(cls, parts: Sequence[EventOutcomes]) -> EventOutcomes:
        """The sum of one or more. Raises ``ValueError`` where they declare one event in two ways."""
        declared = dict[str, Declared]()
        for event, said in (item for part in parts for item in part.declared.items()):
            if not declared.setdefault(event, said).same(said):
                raise ValueError(f"event {event} was declared in two ways: these are parts of two submissions")
        names = {name for part in parts for name in part.conditions}
        tallies = [part.tally for part in parts]
        return cls(
            Ledger.joined([part.ledger for part in parts]),
            TieOrder.joined([part.ties for part in parts]),
            sum(tallies[1:], start=tallies[0]),
            declared,
            {name: cls.joined([p.conditions[name] for p in parts if name in p.conditions]) for name in names},
        )
