"""What intervals of a cell's figure are made from, as it is handed from where the cell is counted to its publishing."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.metrics.statistics.resampling import Sample
from pipeline.metrics.statistics.samples import NOT_RESAMPLED
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


def sampled(
    protocol: Protocol, partial: Any, facts: Facts, survey: Mapping[str, Any], rows: Callable[[], tuple[Any, Any]]
) -> Sampled | None:
    """That of a merged partial; ``rows`` is a way to its trials and key.

    None where the family's figures are not drawn again, and where it is too large to be handed on.
    """
    family = protocol.family
    if family.whole is None:
        return None
    seen = family.whole(protocol, partial, facts, survey)
    sample = NOT_RESAMPLED if family.sample is None else family.sample(protocol, seen, protocol.primary, rows)
    made = Sampled(sample, None if family.compare is None else partial)
    return made if len(pickle.dumps(made, pickle.HIGHEST_PROTOCOL)) <= MOST_BYTES else None
