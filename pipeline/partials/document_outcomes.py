"""The partial of a tile of scored documents: its ledger, the order of its trials, and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally
from pipeline.partials.tie_order import TieOrder

_PARTS: Mapping[str, Any] = {"ledger": Ledger, "order": TieOrder, "missing": TieOrder, "tally": Tally}


@dataclass(frozen=True)
class DocumentOutcomes:
    """Parts that add up together.

    ``order``: the scored trials of queries with targets, with their places in the output as keys. ``missing``: their
    targets without a score, with their places among the query's unscored documents as keys (the score is 0).
    """

    kind: ClassVar[str] = "document_outcomes/1"

    ledger: Ledger = field(default_factory=Ledger.zero)
    order: TieOrder = field(default_factory=TieOrder)
    missing: TieOrder = field(default_factory=TieOrder)
    tally: Tally = field(default_factory=Tally)

    def __add__(self, other: DocumentOutcomes) -> DocumentOutcomes:
        return DocumentOutcomes(
            self.ledger + other.ledger,
            self.order + other.order,
            self.missing + other.missing,
            self.tally + other.tally,
        )

    def to_columns(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Columns of all parts, each under its name."""
        columns, meta = dict[str, Any](), dict[str, Any]()
        for name in _PARTS:
            own, meta[name] = getattr(self, name).to_columns()
            columns |= {f"{name}.{column}": values for column, values in own.items()}
        return columns, meta

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], meta: Mapping[str, Any]) -> DocumentOutcomes:
        """The inverse of ``to_columns``."""
        parts = {}
        for name, part in _PARTS.items():
            prefix = f"{name}."
            own = {key.removeprefix(prefix): value for key, value in columns.items() if key.startswith(prefix)}
            parts[name] = part.from_columns(own, meta[name])
        return cls(**parts)
