"""Cells of keyword search whose trials are too many for one place: what one part says, and its trials by score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.metrics.kws.by_score import Table, by_score
from pipeline.metrics.kws.thin import thinned
from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally
from pipeline.protocols.kws.ranks import WHOLE, ranked
from pipeline.protocols.kws.warnings import decision_ties
from pipeline.terms import Facts
from pipeline.trials.blocks import MARK


@dataclass(frozen=True, eq=False)
class ThinDetections:
    """What a part says of its queries by themselves."""

    ledger: Ledger
    ranked: Ledger | None
    """Under ranks of texts, where these are not the numbers'."""
    tally: Tally
    queries: tuple[str, ...]
    """Queries with trials, on the list or not."""
    n_ties: int

    def __add__(self, other: ThinDetections) -> ThinDetections:
        orders = [side.ranked for side in (self, other) if side.ranked is not None]
        return ThinDetections(
            self.ledger + other.ledger,
            sum(orders[1:], start=orders[0]) if orders else None,
            self.tally + other.tally,
            tuple(sorted({*self.queries, *other.queries})),
            self.n_ties + other.n_ties,
        )


def separable(settings: Any, facts: Facts, survey: Mapping[str, Any]) -> bool:
    """Whether a query's trials are in one part and no figure needs others: no conditions, pools or repeated blocks."""
    repeated = any(MARK in name for name in survey.get("oov_count", {}))
    return not (settings.pooled or facts.selections or repeated)


@dataclass(frozen=True)
class Occurring:
    """Occurrences of listed queries, and all queries with trials."""

    n_true: int = 0
    queries: tuple[str, ...] = ()

    def __add__(self, other: Occurring) -> Occurring:
        return Occurring(self.n_true + other.n_true, tuple(sorted({*self.queries, *other.queries})))


def occurring(part: Outcomes, queries: tuple[str, ...]) -> Occurring:
    """Task: what occurs in a part."""
    return Occurring(int(part.ledger.select(queries).n_true.sum()), part.ledger.queries)


def thin_detections(
    part: Outcomes, queries: tuple[str, ...], threshold: float
) -> tuple[Iterator[Table], ThinDetections]:
    """Task: a part's trials by score, and the part without what only concerns all queries together.

    ``queries`` are sorted; of these it has its own only.
    """
    own = tuple(sorted(set(part.ledger.queries) & set(queries)))
    ledger, order = part.ledger.select(own), ranked(part.ledger, WHOLE, own)
    thin = ThinDetections(
        thinned(ledger, () if math.isnan(threshold) else (threshold,)),
        None if order is None else thinned(order),
        part.tally,
        part.ledger.queries,
        decision_ties(ledger),
    )
    return by_score(ledger, queries), thin
