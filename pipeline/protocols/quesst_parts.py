"""QUESST cells whose trials are too many for one place: what one part of them says, and how parts become ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.metrics.complete import complete, lowest_score
from pipeline.metrics.documents import ordered
from pipeline.metrics.fixed_point import Floats
from pipeline.metrics.ranges import Cut, Piece, pieces, samples
from pipeline.metrics.thin import thinned
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
    tally: Tally
    queries: tuple[str, ...]
    """Queries with trials, on the list or not."""
    samples: Floats

    def __add__(self, other: ThinDocuments) -> ThinDocuments:
        return ThinDocuments(
            self.ledger + other.ledger,
            self.submitted + other.submitted,
            self.missing + other.missing,
            self.tally + other.tally,
            tuple(sorted({*self.queries, *other.queries})),
            np.concatenate([self.samples, other.samples]),
        )


def least_score(part: DocumentOutcomes, queries: Sequence[str]) -> Least:
    """Task: the lowest score of a part's queries with targets."""
    return Least(lowest_score(part.ledger.select(queries)))


def thin_documents(part: DocumentOutcomes, completing: Completing) -> ThinDocuments:
    """Task: a part without what only concerns all queries together."""
    submitted = part.ledger.select(completing.queries)
    ledger = completing.of(submitted)
    limits = () if math.isnan(completing.threshold) else (completing.threshold,)
    return ThinDocuments(
        thinned(ledger, limits),
        thinned(submitted, limits),
        part.missing,
        part.tally,
        part.ledger.queries,
        samples(ledger),
    )


def on_documents(part: DocumentOutcomes, completing: Completing, task: Callable[..., Any], *state: Any) -> Any:
    """Task: a task on the complete ledger of a part."""
    return task(completing.of(part.ledger.select(completing.queries)), *state)


def cut_documents(part: DocumentOutcomes, completing: Completing, cut: Cut) -> tuple[Piece, ...]:
    """Task: a part's trials by range."""
    ledger = completing.of(part.ledger.select(completing.queries))
    return pieces(ledger, cut, ordered(part.order, completing.queries))
