"""All trials of a cell cut into ranges of their scores, each of them whole in one place.

Whatever compares scores across queries (cross-entropies, calibrations) is a map over ranges and an exact sum; sweeps
need none (``radix_sweep``), and figures of queries by themselves come from ``thin.thinned`` ledgers. All have the bits
of a merged ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipeline.metrics.crossentropy import TrialSet
from pipeline.metrics.fixed_point import Floats, Ints
from pipeline.partials.ledger import Ledger
from pipeline.partials.score_table import ScoreTable


@dataclass(frozen=True, eq=False)
class Ordered:
    """Scored trials one by one, in any order, with their places in the output."""

    score: Floats
    place: Ints
    target: NDArray[np.bool_]

    def pieces(self, edges: Floats) -> list[Ordered]:
        """The trials of every range."""
        number = np.searchsorted(edges, self.score, side="right")
        return [self.take(np.flatnonzero(number == at)) for at in range(edges.size + 1)]

    def take(self, rows: Ints) -> Ordered:
        """Some of the trials."""
        return Ordered(self.score[rows], self.place[rows], self.target[rows])


NONE_ORDERED = Ordered(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.bool_))


@dataclass(frozen=True)
class Cut:
    """How ledgers of some queries each are cut: at ``edges``."""

    edges: Floats
    trials: TrialSet
    """The cell's trial set, of which only the censored rows matter."""

    @property
    def n_ranges(self) -> int:
        """One more than edges."""
        return int(self.edges.size) + 1


@dataclass(frozen=True, eq=False)
class Piece:
    """What one ledger has in one range: targets and non-targets, and trials in order."""

    trials: ScoreTable
    ordered: Ordered


@dataclass(frozen=True, eq=False)
class Range:
    """All trials of a cell in one range of scores."""

    index: int
    edges: Floats
    trials: TrialSet
    ordered: Ordered

    def holds(self, score: Floats) -> NDArray[np.bool_]:
        """Which scores belong here."""
        here: NDArray[np.bool_] = np.searchsorted(self.edges, score, side="right") == self.index
        return here


def pieces(ledger: Ledger, cut: Cut, ordered: Ordered = NONE_ORDERED) -> tuple[Piece, ...]:
    """A ledger that names all queries of the cell and has all rows of some, by range."""
    rows = np.flatnonzero((ledger.n_true[0] > 0)[ledger.query])
    counts = np.stack([ledger.n_target[rows], ledger.n_nontarget[rows]])
    tables = ScoreTable.of(ledger.score[rows], counts).pieces(cut.edges)
    return tuple(Piece(*parts) for parts in zip(tables, ordered.pieces(cut.edges), strict=True))


def gathered(index: int, cut: Cut, parts: Sequence[Piece]) -> Range:
    """One range of the cell from its pieces of all ledgers, with its share of the censored trials."""
    submitted = ScoreTable.joined([part.trials for part in parts])
    whole = cut.trials
    here = np.searchsorted(cut.edges, whole.censored_score, side="right") == index
    trials = replace(
        whole,
        score=submitted.score,
        n_target=submitted.counts[0],
        n_nontarget=submitted.counts[1],
        censored_score=whole.censored_score[here],
        censored_target=whole.censored_target[here],
        censored_nontarget=whole.censored_nontarget[here],
    )
    columns = (np.concatenate([getattr(part.ordered, name) for part in parts]) for name in ("score", "place", "target"))
    return Range(index, cut.edges, trials, Ordered(*columns))


SAMPLED = 64
"""Of so many scores, in order, one tells where to cut."""


def samples(ledger: Ledger) -> Floats:
    """Some of a ledger's scores, as many as it has rows for."""
    return np.sort(ledger.score)[SAMPLED // 2 :: SAMPLED]


def edges_of(sampled: Floats, n_ranges: int) -> Floats:
    """Edges between ranges of about as many rows each, from the samples of all ledgers."""
    ranked = np.sort(sampled)
    at = np.arange(1, n_ranges) * ranked.size // n_ranges
    return np.unique(ranked[at]) if ranked.size else np.zeros(0)
