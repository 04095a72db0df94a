"""The partial of a tile of scored documents: its ledger, the order of its trials, and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally
from pipeline.partials.tie_order import TieOrder


@dataclass(frozen=True)
class DocumentOutcomes:
    """Parts that add up together.

    ``order``: the scored trials of queries with targets, with their places in the output as keys. ``missing``: their
    targets without a score, with their places among the query's unscored documents as keys (the score is 0).
    """

    ledger: Ledger = field(default_factory=Ledger.zero)
    order: TieOrder = field(default_factory=TieOrder)
    missing: TieOrder = field(default_factory=TieOrder)
    tally: Tally = field(default_factory=Tally)

    def __add__(self, other: DocumentOutcomes) -> DocumentOutcomes:
        return DocumentOutcomes.joined([self, other])

    @classmethod
    def joined(cls, parts: Sequence[DocumentOutcomes]) -> DocumentOutcomes:
        """The sum of one or more."""
        tallies = [part.tally for part in parts]
        return cls(
            Ledger.joined([part.ledger for part in parts]),
            TieOrder.joined([part.order for part in parts]),
            TieOrder.joined([part.missing for part in parts]),
            sum(tallies[1:], start=tallies[0]),
        )
