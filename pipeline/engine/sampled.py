"""Samples for intervals of a cell's figure, handed on from where the cell is counted to its publishing."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.metrics.measure import Rows, Scored
from pipeline.metrics.statistics.resampling import NOT_RESAMPLED, Sample
from pipeline.protocols.base import Protocol
from pipeline.terms import Facts

MOST_BYTES = 1 << 20
"""What is larger is not handed on, but counted again by whoever publishes: all cells of a run are held at once."""


@dataclass(frozen=True)
class Sampled:
    """A cell's primary figure as a function of how often each unit counts."""

    sample: Sample | str
    """A reason where there is no such function."""
    partial: Any = None
    """The cell's merged partial where its family compares systems by it; else None."""


def sample_of(protocol: Protocol, scored: Scored[Any], measure: str, rows: Rows) -> Sample | str:
    """A measure of a cell as a function of how often each unit counts, or the reason why there is none."""
    own = next((one for one in protocol.measures if one.name == measure), None)
    return NOT_RESAMPLED if own is None else own.sample(scored, rows)


def sampled(protocol: Protocol, partial: Any, facts: Facts, survey: Mapping[str, Any], rows: Rows) -> Sampled | None:
    """That of a merged partial; ``rows`` is a way to its trials and key.

    None where the family's figures are not drawn again, and where it is too large to be handed on.
    """
    family = protocol.family.can
    if family.whole is None:
        return None
    seen = family.whole(protocol, partial, facts, survey)
    made = Sampled(sample_of(protocol, seen, protocol.primary, rows), None if family.compare is None else partial)
    return made if len(pickle.dumps(made, pickle.HIGHEST_PROTOCOL)) <= MOST_BYTES else None
