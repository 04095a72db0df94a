"""QUESST cells whose trials are too many for one place: what one part of them says, and its trials by score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from pipeline.metrics.kws.by_score import Table, by_score
from pipeline.metrics.kws.thin import thinned
from pipeline.metrics.quesst.complete import complete, lowest_score
from pipeline.metrics.quesst.documents import nontargets, ordered
from pipeline.partials.document_outcomes import DocumentOutcomes
from pipeline.partials.ledger import Ledger
from pipeline.partials.tally import Tally
from pipeline.partials.tie_order import TieOrder


@dataclass(frozen=True)
class Completing:
    """How the trials of some queries become complete, whatever the other queries are."""

    queries: tuple[str, ...]
    n_documents: int
    censor: str | float
    llr_min: float
    """The lowest score of all queries with targets; NaN where it is not asked for or there is none."""
    threshold: float

    @property
    def about(self) -> Mapping[str, Any]:
        """What completed trials depend on."""
        least = None if math.isnan(self.llr_min) else self.llr_min
        return {"queries": self.queries, "n_documents": self.n_documents, "censor": self.censor, "llr_min": least}

    def of(self, submitted: Ledger) -> Ledger:
        """The complete ledger. What ``censor=error`` refuses is only seen when all queries are there."""
        if self.censor == "error":
            return submitted
        return complete(submitted, self.n_documents, self.censor, self.llr_min)


@dataclass(frozen=True)
class Least:
    """A lowest score; NaN of none."""

    score: float

    def __add__(self, other: Least) -> Least:
        return Least(float(np.fmin(self.score, other.score)))


@dataclass(frozen=True, eq=False)
class ThinDocuments:
    """What a part says of its queries by themselves, as ``DocumentOutcomes`` says it of all trials."""

    ledger: Ledger
    submitted: Ledger
    missing: TieOrder
    targets: TieOrder
    """Targets with a score."""
    tally: Tally
    queries: tuple[str, ...]
    """Queries with trials, on the list or not."""

    def __add__(self, other: ThinDocuments) -> ThinDocuments:
        return ThinDocuments(
            self.ledger + other.ledger,
            self.submitted + other.submitted,
            self.missing + other.missing,
            self.targets + other.targets,
            self.tally + other.tally,
            tuple(sorted({*self.queries, *other.queries})),
        )


def least_score(part: DocumentOutcomes, queries: Sequence[str]) -> Least:
    """Task: the lowest score of a part's queries with targets."""
    return Least(lowest_score(part.ledger.select(queries)))


def thin_documents(part: DocumentOutcomes, completing: Completing) -> tuple[Iterator[Table], ThinDocuments]:
    """Task: a part's trials by score and in order, and the part without what only concerns all queries together.

    Of the listed queries it has its own only.
    """
    own = tuple(sorted(set(part.ledger.queries) & set(completing.queries)))
    submitted = part.ledger.select(own)
    ledger = completing.of(submitted)
    limits = () if math.isnan(completing.threshold) else (completing.threshold,)
    order = ordered(part.order, completing.queries)
    at = np.flatnonzero(order.target)
    columns = {name: getattr(order, name)[at] for name in ("query", "score", "key", "target")}
    thin = ThinDocuments(
        thinned(ledger, limits),
        thinned(submitted, limits),
        part.missing,
        replace(order, **columns),
        part.tally,
        part.ledger.queries,
    )
    return chain(by_score(ledger, sorted(set(completing.queries))), nontargets(order)), thin
