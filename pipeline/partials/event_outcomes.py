"""The partial of a tile of scored clips: ledger, order of ties where asked for, counts, and what systems declared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally
from pipeline.partials.tie_order import TieOrder


@dataclass(frozen=True)
class Declared:
    """What a system declared for an event it processed; NaN where it declared nothing."""

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

    kind: ClassVar[str] = "event_outcomes/1"

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

    def to_columns(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Columns of all parts, each under its name."""
        columns, meta = dict[str, Any](), dict[str, Any]()
        for name, part in (("ledger", self.ledger), ("ties", self.ties), ("tally", self.tally)):
            own, meta[name] = part.to_columns()
            columns |= {f"{name}.{column}": values for column, values in own.items()}
        columns["declared.event"] = tuple(self.declared)
        columns["declared.threshold"] = np.array([entry.threshold for entry in self.declared.values()], np.float64)
        columns["declared.hours"] = np.array([entry.hours for entry in self.declared.values()], np.float64)
        meta["conditions"] = list(self.conditions)
        for place, condition in enumerate(self.conditions.values()):
            own, meta[f"condition{place}"] = condition.to_columns()
            columns |= {f"condition{place}.{column}": values for column, values in own.items()}
        return columns, meta

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], meta: Mapping[str, Any]) -> EventOutcomes:
        """The inverse of ``to_columns``."""

        def own(name: str) -> dict[str, Any]:
            prefix = f"{name}."
            return {key.removeprefix(prefix): value for key, value in columns.items() if key.startswith(prefix)}

        declared = own("declared")
        rows = zip(declared["event"], declared["threshold"].tolist(), declared["hours"].tolist(), strict=True)
        return cls(
            Ledger.from_columns(own("ledger"), meta["ledger"]),
            TieOrder.from_columns(own("ties"), meta["ties"]),
            Tally.from_columns(own("tally"), meta["tally"]),
            {event: Declared(threshold, hours) for event, threshold, hours in rows},
            {
                name: cls.from_columns(own(f"condition{place}"), meta[f"condition{place}"])
                for place, name in enumerate(meta["conditions"])
            },
        )
